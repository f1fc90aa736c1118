// The functions of SQLite that Trellis calls, and how a program gives those of its own build. It compiles one C file with its
// build's header (or declarations) and this one:
//
//     #include <sqlite3.h>
//     #include <TrellisSQLiteFunctions.h>
//
//     const trellis_sqlite_library *my_sqlite(void) {
//       static const trellis_sqlite_function functions[] = {
//         TRELLIS_SQLITE_ALL_FUNCTIONS(TRELLIS_SQLITE_ENTRY) TRELLIS_SQLITE_KEY_FUNCTIONS(TRELLIS_SQLITE_ENTRY) {NULL, NULL}};
//       static const trellis_sqlite_library library = {
//         sizeof(trellis_sqlite_library), TRELLIS_SQLITE_LIBRARY_VERSION, "My SQLite", functions};
//       return &library;
//     }
//
// and calls `try SQLiteLibrary.functions(my_sqlite()).use()` before it opens a store. A build without encryption leaves out the
// functions of keys.
#ifndef TRELLIS_SQLITE_FUNCTIONS_H
#define TRELLIS_SQLITE_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

/// A function by its name. The address is called with the parameters that SQLite's documentation says.
typedef struct {
  const char *name;
  void (*address)(void);
} trellis_sqlite_function;

/// A build of SQLite. What a later version of Trellis adds to this structure comes at its end.
typedef struct {
  /// The size of this structure in bytes, as the program was compiled with it.
  uint32_t size;
  /// TRELLIS_SQLITE_LIBRARY_VERSION, as the program was compiled with it.
  uint32_t version;
  /// What messages call the library.
  const char *name;
  /// The functions, in any order. A null name ends the list. The list lives as long as the program.
  const trellis_sqlite_function *functions;
} trellis_sqlite_library;

#define TRELLIS_SQLITE_LIBRARY_VERSION 1

/// An entry of the list, of a function that is declared.
#define TRELLIS_SQLITE_ENTRY(ret, name, params, args) {#name, (void (*)(void))name},

/// All functions that a library must have. Each is given to X with its result, name, parameters and arguments.
#define TRELLIS_SQLITE_ALL_FUNCTIONS(X) TRELLIS_SQLITE_FUNCTIONS(X) TRELLIS_SQLITE_VARIADIC_FUNCTIONS(X)

/// The functions of a library that encrypts its files. Older ones have only those without a database's name.
#define TRELLIS_SQLITE_KEY_FUNCTIONS(X) \
  X(int, sqlite3_key_v2, (sqlite3 *db, const char *schema, const void *key, int length), (db, schema, key, length)) \
  X(int, sqlite3_rekey_v2, (sqlite3 *db, const char *schema, const void *key, int length), (db, schema, key, length)) \
  X(int, sqlite3_key, (sqlite3 *db, const void *key, int length), (db, key, length)) \
  X(int, sqlite3_rekey, (sqlite3 *db, const void *key, int length), (db, key, length))

/// Variable arguments need a call of their own form.
#define TRELLIS_SQLITE_VARIADIC_FUNCTIONS(X) \
  X(int, sqlite3_db_config, (sqlite3 *db, int option, ...), ) \
  X(int, sqlite3_config, (int option, ...), )

#define TRELLIS_SQLITE_FUNCTIONS(X) \
  X(int, sqlite3_libversion_number, (void), ()) \
  X(const char *, sqlite3_libversion, (void), ()) \
  X(int, sqlite3_threadsafe, (void), ()) \
  X(const char *, sqlite3_errstr, (int code), (code)) \
  X(void *, sqlite3_vfs_find, (const char *name), (name)) \
  X(int, sqlite3_vfs_register, (void *vfs, int is_default), (vfs, is_default)) \
  X(int, sqlite3_open_v2, (const char *path, sqlite3 **db, int flags, const char *vfs), (path, db, flags, vfs)) \
  X(int, sqlite3_close_v2, (sqlite3 *db), (db)) \
  X(int, sqlite3_busy_handler, (sqlite3 *db, int (*handler)(void *, int), void *data), (db, handler, data)) \
  X(void, sqlite3_interrupt, (sqlite3 *db), (db)) \
  X(int, sqlite3_sleep, (int milliseconds), (milliseconds)) \
  X(int, sqlite3_exec, \
    (sqlite3 *db, const char *sql, int (*callback)(void *, int, char **, char **), void *data, char **message), \
    (db, sql, callback, data, message)) \
  X(const char *, sqlite3_errmsg, (sqlite3 *db), (db)) \
  X(int, sqlite3_extended_errcode, (sqlite3 *db), (db)) \
  X(int, sqlite3_system_errno, (sqlite3 *db), (db)) \
  X(int, sqlite3_file_control, \
    (sqlite3 *db, const char *schema, int operation, void *argument), (db, schema, operation, argument)) \
  X(int, sqlite3_db_readonly, (sqlite3 *db, const char *schema), (db, schema)) \
  X(int, sqlite3_get_autocommit, (sqlite3 *db), (db)) \
  X(int, sqlite3_changes, (sqlite3 *db), (db)) \
  X(void, sqlite3_progress_handler, \
    (sqlite3 *db, int steps, int (*handler)(void *), void *data), (db, steps, handler, data)) \
  X(int, sqlite3_prepare_v3, \
    (sqlite3 *db, const char *sql, int length, unsigned flags, sqlite3_stmt **stmt, const char **tail), \
    (db, sql, length, flags, stmt, tail)) \
  X(int, sqlite3_step, (sqlite3_stmt *stmt), (stmt)) \
  X(int, sqlite3_reset, (sqlite3_stmt *stmt), (stmt)) \
  X(int, sqlite3_finalize, (sqlite3_stmt *stmt), (stmt)) \
  X(int, sqlite3_bind_null, (sqlite3_stmt *stmt, int i), (stmt, i)) \
  X(int, sqlite3_bind_int64, (sqlite3_stmt *stmt, int i, int64_t value), (stmt, i, value)) \
  X(int, sqlite3_bind_double, (sqlite3_stmt *stmt, int i, double value), (stmt, i, value)) \
  X(int, sqlite3_bind_text, \
    (sqlite3_stmt *stmt, int i, const char *value, int length, trellis_destructor d), (stmt, i, value, length, d)) \
  X(int, sqlite3_bind_blob, \
    (sqlite3_stmt *stmt, int i, const void *value, int length, trellis_destructor d), (stmt, i, value, length, d)) \
  X(int, sqlite3_bind_zeroblob, (sqlite3_stmt *stmt, int i, int length), (stmt, i, length)) \
  X(int, sqlite3_bind_pointer, \
    (sqlite3_stmt *stmt, int i, void *pointer, const char *type, trellis_destructor d), (stmt, i, pointer, type, d)) \
  X(int, sqlite3_column_type, (sqlite3_stmt *stmt, int i), (stmt, i)) \
  X(int64_t, sqlite3_column_int64, (sqlite3_stmt *stmt, int i), (stmt, i)) \
  X(double, sqlite3_column_double, (sqlite3_stmt *stmt, int i), (stmt, i)) \
  X(const unsigned char *, sqlite3_column_text, (sqlite3_stmt *stmt, int i), (stmt, i)) \
  X(const void *, sqlite3_column_blob, (sqlite3_stmt *stmt, int i), (stmt, i)) \
  X(int, sqlite3_column_bytes, (sqlite3_stmt *stmt, int i), (stmt, i)) \
  X(sqlite3_value *, sqlite3_column_value, (sqlite3_stmt *stmt, int i), (stmt, i)) \
  X(int, sqlite3_create_function_v2, \
    (sqlite3 *db, const char *name, int count, int flags, void *data, \
     void (*function)(sqlite3_context *, int, sqlite3_value **), \
     void (*step)(sqlite3_context *, int, sqlite3_value **), void (*final)(sqlite3_context *), trellis_destructor d), \
    (db, name, count, flags, data, function, step, final, d)) \
  X(int, sqlite3_create_collation_v2, \
    (sqlite3 *db, const char *name, int encoding, void *data, \
     int (*compare)(void *, int, const void *, int, const void *), trellis_destructor d), \
    (db, name, encoding, data, compare, d)) \
  X(int, sqlite3_collation_needed, \
    (sqlite3 *db, void *data, void (*needed)(void *, sqlite3 *, int, const char *)), (db, data, needed)) \
  X(int, sqlite3_create_module_v2, \
    (sqlite3 *db, const char *name, const void *module, void *data, trellis_destructor d), (db, name, module, data, d)) \
  X(int, sqlite3_declare_vtab, (sqlite3 *db, const char *sql), (db, sql)) \
  X(int, sqlite3_value_type, (sqlite3_value *value), (value)) \
  X(int64_t, sqlite3_value_int64, (sqlite3_value *value), (value)) \
  X(double, sqlite3_value_double, (sqlite3_value *value), (value)) \
  X(const unsigned char *, sqlite3_value_text, (sqlite3_value *value), (value)) \
  X(const void *, sqlite3_value_blob, (sqlite3_value *value), (value)) \
  X(int, sqlite3_value_bytes, (sqlite3_value *value), (value)) \
  X(void *, sqlite3_value_pointer, (sqlite3_value *value, const char *type), (value, type)) \
  X(void *, sqlite3_aggregate_context, (sqlite3_context *context, int size), (context, size)) \
  X(void *, sqlite3_user_data, (sqlite3_context *context), (context)) \
  X(void *, sqlite3_get_auxdata, (sqlite3_context *context, int i), (context, i)) \
  X(void, sqlite3_set_auxdata, (sqlite3_context *context, int i, void *data, trellis_destructor d), \
    (context, i, data, d)) \
  X(void, sqlite3_result_null, (sqlite3_context *context), (context)) \
  X(void, sqlite3_result_value, (sqlite3_context *context, sqlite3_value *value), (context, value)) \
  X(void, sqlite3_result_int64, (sqlite3_context *context, int64_t value), (context, value)) \
  X(void, sqlite3_result_double, (sqlite3_context *context, double value), (context, value)) \
  X(void, sqlite3_result_text, \
    (sqlite3_context *context, const char *value, int length, trellis_destructor d), (context, value, length, d)) \
  X(void, sqlite3_result_blob, \
    (sqlite3_context *context, const void *value, int length, trellis_destructor d), (context, value, length, d)) \
  X(void, sqlite3_result_error_nomem, (sqlite3_context *context), (context))

#endif
