// Finds the library and fills the table, once for the process.
#include "CPQ.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trellis_pq_functions trellis_pq_table;

static char message[1024];
static int is_loaded = 0;

#if defined(_WIN32)
#include <windows.h>
static const char *const names[] = {"libpq.dll", NULL};
static void *open_library(const char *name) { return (void *)LoadLibraryA(name); }
static void *find_symbol(void *library, const char *name) { return (void *)GetProcAddress((HMODULE)library, name); }
static const char *reason(void) { return "the system cannot load it"; }
#else
#include <dlfcn.h>
#include <pthread.h>
#if defined(__APPLE__)
static const char *const names[] = {
  "libpq.5.dylib",
  "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
  "/usr/local/opt/libpq/lib/libpq.5.dylib",
  "/Applications/Postgres.app/Contents/Versions/latest/lib/libpq.5.dylib",
  NULL};
#else
static const char *const names[] = {"libpq.so.5", "libpq.so", NULL};
#endif
static void *open_library(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
static void *find_symbol(void *library, const char *name) { return dlsym(library, name); }
static const char *reason(void) {
  const char *text = dlerror();
  return text ? text : "no reason given";
}
#endif

static void *find_library(void) {
  const char *wanted = getenv("TRELLIS_LIBPQ_LIBRARY");
  if (wanted && wanted[0]) {
    void *library = open_library(wanted);
    if (!library)
      snprintf(message, sizeof message, "libpq cannot be loaded from TRELLIS_LIBPQ_LIBRARY (%s): %s.", wanted, reason());
    return library;
  }
  for (const char *const *name = names; *name; name++) {
    void *library = open_library(*name);
    if (library) return library;
  }
  snprintf(message, sizeof message, "PostgreSQL's client library (%s) is not on this system: %s.", names[0], reason());
  return NULL;
}

static void load(void) {
  void *library = find_library();
  if (!library) return;
  void *symbol;
  // The pointer is copied as bytes because C has no cast between data and function pointers.
#define X(ret, name, params, args) \
  symbol = find_symbol(library, #name); \
  if (!symbol) { \
    snprintf(message, sizeof message, "The libpq found is older than version 14: it lacks %s.", #name); \
    return; \
  } \
  memcpy(&trellis_pq_table.name, &symbol, sizeof symbol);
  TRELLIS_PQ_FUNCTIONS(X)
#undef X
  if (!trellis_pq_table.PQisthreadsafe()) {
    snprintf(message, sizeof message, "The libpq found was built without support for threads.");
    return;
  }
  is_loaded = 1;
}

#if defined(_WIN32)
static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
static BOOL CALLBACK load_once(PINIT_ONCE o, PVOID p, PVOID *c) {
  load();
  return TRUE;
}
const char *trellis_pq_load(void) {
  InitOnceExecuteOnce(&once, load_once, NULL, NULL);
  return is_loaded ? NULL : message;
}
#else
static pthread_once_t once = PTHREAD_ONCE_INIT;
const char *trellis_pq_load(void) {
  pthread_once(&once, load);
  return is_loaded ? NULL : message;
}
#endif

static void ignore_notice(void *data, const char *notice) {
  (void)data;
  (void)notice;
}

void trellis_pq_silence(PGconn *connection) { trellis_PQsetNoticeProcessor(connection, ignore_notice, NULL); }

static _Thread_local int leases = 0;

int trellis_pq_thread_leases(int change) {
  leases += change;
  return leases;
}
