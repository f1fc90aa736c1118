#include "CPQ.h"

#include "CLibrary.h"

struct trellis_pq_functions trellis_pq_table;

#if defined(_WIN32)
static const char *const files[] = {"libpq.dll", NULL};
#elif defined(__APPLE__)
static const char *const files[] = {
  "libpq.5.dylib",
  "/opt/homebrew/opt/libpq/lib/libpq.5.dylib",
  "/usr/local/opt/libpq/lib/libpq.5.dylib",
  "/Applications/Postgres.app/Contents/Versions/latest/lib/libpq.5.dylib",
  NULL};
#else
static const char *const files[] = {"libpq.so.5", "libpq.so", NULL};
#endif

#define X(ret, name, params, args) {#name, &trellis_pq_table.name},
static const struct trellis_symbol symbols[] = {TRELLIS_PQ_FUNCTIONS(X) {NULL, NULL}};
#undef X

static const char *check(void) {
  return trellis_pq_table.PQisthreadsafe() ? NULL : "The libpq found was built without support for threads.";
}

static struct trellis_library library = {
  .name = "libpq",
  .subject = "PostgreSQL's client library",
  .found = "The libpq found is older than version 14",
  .variable = "TRELLIS_LIBPQ_LIBRARY",
  .files = files,
  .symbols = symbols,
  .check = check,
};

const char *trellis_pq_load(void) { return trellis_library_load(&library); }
