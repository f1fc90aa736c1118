#include "CSQLite.h"

#include "CLibrary.h"

#include <stdio.h>
#include <string.h>

struct trellis_sqlite_functions trellis_sqlite_table;

#if defined(_WIN32)
static const char *const files[] = {"winsqlite3.dll", "sqlite3.dll", NULL};
#elif defined(__APPLE__)
static const char *const files[] = {"/usr/lib/libsqlite3.dylib", NULL};
#else
static const char *const files[] = {"libsqlite3.so.0", "libsqlite3.so", NULL};
#endif

#define X(ret, name, params, args) {#name, &trellis_sqlite_table.name, 0},
#define OPTIONAL(ret, name, params, args) {#name, &trellis_sqlite_table.name, 1},
static const struct trellis_symbol symbols[] = {
  TRELLIS_SQLITE_ALL_FUNCTIONS(X) TRELLIS_SQLITE_KEY_FUNCTIONS(OPTIONAL) {NULL, NULL, 0}};
#undef OPTIONAL
#undef X

// STRICT tables need 3.37; IS TRUE on rows of RETURNING and fixes of STRICT need 3.38.
enum { minimum_version = 3038000 };

/// Refuses a library that is too old or cannot be used by threads. Switches off the statistics of memory, as SQLite recommends:
/// they take a lock of the whole process for each allocation. A program that has used SQLite before keeps its statistics, because
/// SQLite then refuses the change.
static const char *prepare(void) {
  static char message[200];
  const char *version = trellis_sqlite_table.sqlite3_libversion();
  if (trellis_sqlite_table.sqlite3_libversion_number() < minimum_version) {
    snprintf(message, sizeof message, "SQLite %s is too old: Trellis needs 3.38 or later.", version);
    return message;
  }
  if (!trellis_sqlite_table.sqlite3_threadsafe()) {
    snprintf(message, sizeof message, "This SQLite %s was built without support for threads.", version);
    return message;
  }
  (void)trellis_sqlite_table.sqlite3_config(TRELLIS_SQLITE_CONFIG_MEMSTATUS, 0);
  return NULL;
}

static struct trellis_library library = {
  .name = "SQLite",
  .subject = "The SQLite library",
  .found = "The SQLite library found is too old",
  .variable = "TRELLIS_SQLITE_LIBRARY",
  .files = files,
  .symbols = symbols,
  .check = prepare,
};

const char *trellis_sqlite_load(void) { return trellis_library_load(&library); }

static void *find_function(const void *list, const char *name) {
  const trellis_sqlite_library *given = list;
  void *address = NULL;
  for (const trellis_sqlite_function *function = given->functions; function && function->name; function++)
    // The pointer is copied as bytes because C has no cast between data and function pointers.
    if (strcmp(function->name, name) == 0) memcpy(&address, &function->address, sizeof address);
  return address;
}

const char *trellis_sqlite_choose(const char *path, const void *functions, int *is_other) {
  struct trellis_library_source source = {.path = path};
  if (!path && functions) {
    const trellis_sqlite_library *given = functions;
    if (given->size < sizeof *given || given->version != TRELLIS_SQLITE_LIBRARY_VERSION || !given->name)
      return "The functions of SQLite that the program gives are in a form that this version of Trellis does not know.";
    source.name = given->name, source.list = functions, source.find = find_function;
  }
  return trellis_library_choose(&library, &source, is_other);
}

int trellis_sqlite_has_keys(void) {
  return (trellis_sqlite_table.sqlite3_key_v2 || trellis_sqlite_table.sqlite3_key) &&
         (trellis_sqlite_table.sqlite3_rekey_v2 || trellis_sqlite_table.sqlite3_rekey);
}

int trellis_sqlite_key(sqlite3 *db, const void *key, int length) {
  if (trellis_sqlite_table.sqlite3_key_v2) return trellis_sqlite_table.sqlite3_key_v2(db, "main", key, length);
  return trellis_sqlite_table.sqlite3_key ? trellis_sqlite_table.sqlite3_key(db, key, length) : TRELLIS_SQLITE_ERROR;
}

int trellis_sqlite_rekey(sqlite3 *db, const void *key, int length) {
  if (trellis_sqlite_table.sqlite3_rekey_v2) return trellis_sqlite_table.sqlite3_rekey_v2(db, "main", key, length);
  return trellis_sqlite_table.sqlite3_rekey ? trellis_sqlite_table.sqlite3_rekey(db, key, length) : TRELLIS_SQLITE_ERROR;
}
