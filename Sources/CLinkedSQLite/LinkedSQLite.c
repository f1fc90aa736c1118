#include "CLinkedSQLite.h"

// SQLite's own declarations are not needed, so no development header is.
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_value sqlite3_value;
typedef struct sqlite3_context sqlite3_context;
typedef void (*trellis_destructor)(void *);

#define DECLARE(ret, name, params, args) extern ret name params;
TRELLIS_SQLITE_ALL_FUNCTIONS(DECLARE)
#undef DECLARE

const trellis_sqlite_library *trellis_linked_sqlite(void) {
  static const trellis_sqlite_function functions[] = {TRELLIS_SQLITE_ALL_FUNCTIONS(TRELLIS_SQLITE_ENTRY){NULL, NULL}};
  static const trellis_sqlite_library library = {
      sizeof(trellis_sqlite_library), TRELLIS_SQLITE_LIBRARY_VERSION, "The linked SQLite library", functions};
  return &library;
}
