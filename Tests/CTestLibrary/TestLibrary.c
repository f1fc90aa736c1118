#include "CTestLibrary.h"

#include <string.h>

typedef struct sqlite3 sqlite3;

#define ENTRY(ret, name, params, args) {#name, NULL},
static trellis_sqlite_function functions[] = {
  TRELLIS_SQLITE_ALL_FUNCTIONS(ENTRY) TRELLIS_SQLITE_KEY_FUNCTIONS(ENTRY) {NULL, NULL}};
static trellis_sqlite_library library = {sizeof(library), TRELLIS_SQLITE_LIBRARY_VERSION, "The test's SQLite", functions};

static int openings;
static int (*real_open)(const char *, sqlite3 **, int, const char *);
static int count_open(const char *path, sqlite3 **db, int flags, const char *vfs) {
  openings++;
  return real_open(path, db, flags, vfs);
}
int test_library_openings(void) { return openings; }

static int old_version(void) { return 3037002; }
static int take_key(sqlite3 *db, const char *schema, const void *key, int length) {
  (void)db, (void)schema, (void)key, (void)length;
  return 0;
}

#if defined(_WIN32)
#include <windows.h>
static void *open_system(void) {
  void *file = (void *)LoadLibraryA("winsqlite3.dll");
  return file ? file : (void *)LoadLibraryA("sqlite3.dll");
}
static void *find(void *file, const char *name) { return (void *)GetProcAddress((HMODULE)file, name); }
#else
#include <dlfcn.h>
static void *open_system(void) {
  void *file = dlopen("libsqlite3.so.0", RTLD_NOW);
  return file ? file : dlopen("/usr/lib/libsqlite3.dylib", RTLD_NOW);
}
static void *find(void *file, const char *name) { return dlsym(file, name); }
#endif

static void *address_of(void *file, const char *name, enum test_library_fault fault) {
  int (*own)(const char *, sqlite3 **, int, const char *) = count_open;
  int (*version)(void) = old_version;
  int (*key)(sqlite3 *, const char *, const void *, int) = take_key;
  void *address = find(file, name);
  // The pointers are copied as bytes because C has no cast between data and function pointers.
  if (strcmp(name, "sqlite3_open_v2") == 0) {
    memcpy(&real_open, &address, sizeof address);
    memcpy(&address, &own, sizeof address);
  } else if (fault == test_library_is_old && strcmp(name, "sqlite3_libversion_number") == 0) {
    memcpy(&address, &version, sizeof address);
  } else if (strcmp(name, "sqlite3_key_v2") == 0 || strcmp(name, "sqlite3_rekey_v2") == 0) {
    address = NULL;
    if (fault == test_library_pretends_to_encrypt) memcpy(&address, &key, sizeof address);
  }
  return address;
}

const trellis_sqlite_library *test_library(enum test_library_fault fault, const char *lacking) {
  void *file = open_system();
  if (!file) return NULL;
  for (trellis_sqlite_function *function = functions; function->name; function++) {
    void *address = lacking && strcmp(function->name, lacking) == 0 ? NULL : address_of(file, function->name, fault);
    memcpy(&function->address, &address, sizeof address);
  }
  if (fault == test_library_is_newer) library.version = TRELLIS_SQLITE_LIBRARY_VERSION + 1;
  return &library;
}
