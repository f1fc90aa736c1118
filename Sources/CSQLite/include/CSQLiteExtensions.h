// What Trellis adds to a connection, in C because SQLite calls it for every row.
#ifndef TRELLIS_CSQLITE_EXTENSIONS_H
#define TRELLIS_CSQLITE_EXTENSIONS_H

/// Adds to a connection:
/// - `trellis_contains(text, part)`, `trellis_prefix`, `trellis_suffix`: 1 or 0, byte for byte; 0 where one is no text;
/// - the collation `trellis_decimal`: decimal texts by number;
/// - the table function `trellis_values(list)`: the values of a bound list, in its order.
/// Returns a result code.
int trellis_sqlite_extend(sqlite3 *db);

/// Where the commits to a file in WAL mode are counted, in memory that all its users share; null when that is not to be had.
/// The connection must have read the file before. Valid as long as the connection is open.
const void *trellis_sqlite_commit_counter(sqlite3 *db);
/// The counter as it is now.
uint32_t trellis_sqlite_read_counter(const void *counter);

/// How long a connection waits for a lock that another one holds. Another thread may end the wait.
typedef struct {
  int32_t milliseconds;
  int32_t is_over;
} trellis_waiting;

/// Lets a connection wait; `waiting` outlives the connection. Returns a result code.
int trellis_sqlite_wait(sqlite3 *db, trellis_waiting *waiting);
/// Ends what a connection does and each later wait of it, from any thread, while the connection is open.
void trellis_sqlite_end(sqlite3 *db, trellis_waiting *waiting);
/// Whether what a connection does was ended.
int trellis_sqlite_is_ended(const trellis_waiting *waiting);

/// Counts the connections that the calling thread has borrowed, of whatever store: adds to the number and returns it.
int32_t trellis_thread_leases(int32_t change);

/// SQLite copies the bytes before the call returns.
static inline trellis_destructor trellis_sqlite_transient(void) { return (trellis_destructor)(intptr_t)-1; }

/// One value of a list.
typedef struct {
  int32_t type;
  int32_t length;
  int64_t integer;
  double real;
  const void *bytes;
} trellis_cell;

/// Values bound as one parameter: keys, or cells when keys is null.
typedef struct {
  int64_t count;
  const int64_t *keys;
  trellis_cell *cells;
} trellis_list;

/// A list of cells that are null until set; null when memory is short.
trellis_list *trellis_list_create(int64_t count);
void trellis_list_set_integer(trellis_list *list, int64_t place, int64_t value);
void trellis_list_set_real(trellis_list *list, int64_t place, double value);
/// Copies the bytes. `type` tells text from blob. Returns 0 when memory is short.
int trellis_list_set_bytes(trellis_list *list, int64_t place, int32_t type, const void *bytes, int32_t length);
/// Binds a created list; the statement frees it, also when binding fails.
int trellis_sqlite_bind_list(sqlite3_stmt *stmt, int i, trellis_list *list);
/// Binds a list that stays the caller's and must outlive the binding.
int trellis_sqlite_bind_borrowed_list(sqlite3_stmt *stmt, int i, const trellis_list *list);

/// Whether a part occurs in a text, in linear time.
int trellis_is_inside(const unsigned char *text, size_t text_count, const unsigned char *part, size_t part_count);

/// A collation by itself, for tests.
int trellis_decimal_compare(const void *left, int left_length, const void *right, int right_length);

#endif
