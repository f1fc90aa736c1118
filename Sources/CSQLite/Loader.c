#include "CSQLite.h"

#include "CLibrary.h"

struct trellis_sqlite_functions trellis_sqlite_table;

#if defined(_WIN32)
static const char *const files[] = {"winsqlite3.dll", "sqlite3.dll", NULL};
#elif defined(__APPLE__)
static const char *const files[] = {"/usr/lib/libsqlite3.dylib", NULL};
#else
static const char *const files[] = {"libsqlite3.so.0", "libsqlite3.so", NULL};
#endif

#define X(ret, name, params, args) {#name, &trellis_sqlite_table.name},
static const struct trellis_symbol symbols[] = {
  TRELLIS_SQLITE_FUNCTIONS(X) {"sqlite3_db_config", &trellis_sqlite_table.sqlite3_db_config},
  {"sqlite3_config", &trellis_sqlite_table.sqlite3_config},
  {NULL, NULL}};
#undef X

/// Switches off the statistics of memory, as SQLite recommends: they take a lock of the whole process for each allocation.
/// A program that has used SQLite before keeps its statistics, because SQLite then refuses the change.
static const char *switch_off_statistics(void) {
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
  .check = switch_off_statistics,
};

const char *trellis_sqlite_load(void) { return trellis_library_load(&library); }
