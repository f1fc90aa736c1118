// SQLite as Trellis uses it: the library is loaded when the first store is opened, so that no header and no development
// package is needed to build, and a missing library is a sentence instead of a program that does not start. A program may
// choose another library before.
#ifndef TRELLIS_CSQLITE_H
#define TRELLIS_CSQLITE_H

#include <stddef.h>
#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_value sqlite3_value;
typedef struct sqlite3_context sqlite3_context;
typedef void (*trellis_destructor)(void *);

#include "CSQLiteConstants.h"
#include "TrellisSQLiteFunctions.h"

// The table of the loaded functions. Only the wrappers read it, after trellis_sqlite_load has filled it. Those of keys are null
// in a library without encryption.
#define X(ret, name, params, args) ret(*name) params;
struct trellis_sqlite_functions { TRELLIS_SQLITE_ALL_FUNCTIONS(X) TRELLIS_SQLITE_KEY_FUNCTIONS(X) };
#undef X
#if !defined(_WIN32)
__attribute__((visibility("hidden")))
#endif
extern struct trellis_sqlite_functions trellis_sqlite_table;

// The prefix keeps the names apart from a system SQLite module that a program may import beside this one.
#define X(ret, name, params, args) \
  static inline ret trellis_##name params { return trellis_sqlite_table.name args; }
TRELLIS_SQLITE_FUNCTIONS(X)
#undef X

/// Sets a switch of a connection; `on` is 0 or 1.
static inline int trellis_sqlite3_db_config(sqlite3 *db, int option, int on) {
  return trellis_sqlite_table.sqlite3_db_config(db, option, on, (int *)0);
}

/// Loads the library once for the process: the system's, unless another one was chosen.
/// Returns null, or why it cannot be used, as a sentence.
const char *trellis_sqlite_load(void);

/// Chooses the library in a file, the functions of a program if `path` is null, or the system's if both are, and loads it.
/// Returns null, or why it cannot be used, as a sentence. `is_other` becomes 1 if another library was loaded before.
const char *trellis_sqlite_choose(const char *path, const void *functions, int *is_other);

/// Whether the loaded library can encrypt files.
int trellis_sqlite_has_keys(void);
/// Sets the key of a connection before it reads or writes. Returns a result code.
int trellis_sqlite_key(sqlite3 *db, const void *key, int length);
/// Encrypts the file of a connection with another key. Returns a result code.
int trellis_sqlite_rekey(sqlite3 *db, const void *key, int length);

#include "CSQLiteExtensions.h"

#endif
