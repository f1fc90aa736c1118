#include "CCipherLibrary.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define ENTRY(ret, name, params, args) {#name, NULL},
static trellis_sqlite_function functions[] = {
  TRELLIS_SQLITE_ALL_FUNCTIONS(ENTRY) TRELLIS_SQLITE_KEY_FUNCTIONS(ENTRY) {NULL, NULL}};

static void *open_file(const char *path, int mode) {
  void *file = dlopen(path, mode);
  if (!file) fprintf(stderr, "%s\n", dlerror());
  return file;
}

int cipher_load_needed(const char *path) { return open_file(path, RTLD_NOW | RTLD_GLOBAL) != NULL; }

const trellis_sqlite_library *cipher_library(const char *path) {
  static const trellis_sqlite_library library = {
    sizeof(trellis_sqlite_library), TRELLIS_SQLITE_LIBRARY_VERSION, "The library of the test", functions};
  void *file = open_file(path, RTLD_NOW);
  if (!file) return NULL;
  for (trellis_sqlite_function *function = functions; function->name; function++) {
    void *address = dlsym(file, function->name);
    memcpy(&function->address, &address, sizeof address);
  }
  return &library;
}
