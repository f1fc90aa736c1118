#include "CLibrary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <windows.h>
static SRWLOCK lock = SRWLOCK_INIT;
static void begin(void) { AcquireSRWLockExclusive(&lock); }
static void end(void) { ReleaseSRWLockExclusive(&lock); }
static void *open_file(const char *name) { return (void *)LoadLibraryA(name); }
static void *find_symbol(void *file, const char *name) { return (void *)GetProcAddress((HMODULE)file, name); }
static const char *reason(void) { return "the system cannot load it"; }
#else
#include <dlfcn.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void begin(void) { pthread_mutex_lock(&lock); }
static void end(void) { pthread_mutex_unlock(&lock); }
static void *open_file(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
static void *find_symbol(void *file, const char *name) { return dlsym(file, name); }
static const char *reason(void) {
  const char *text = dlerror();
  return text ? text : "no reason given";
}
#endif

/// Opens the chosen file, or the one that the environment names, or else the first that is there.
static void *find_file(struct trellis_library *library, const char *chosen) {
  const char *wanted = chosen ? chosen : getenv(library->variable);
  if (wanted && wanted[0]) {
    void *file = open_file(wanted);
    if (!file) {
      const char *why = reason();
      if (chosen)
        snprintf(library->message, sizeof library->message, "%s cannot be loaded from %s: %s.", library->name, wanted, why);
      else
        snprintf(
          library->message, sizeof library->message, "%s cannot be loaded from %s (%s): %s.", library->name,
          library->variable, wanted, why);
    }
    return file;
  }
  for (const char *const *name = library->files; *name; name++) {
    void *file = open_file(*name);
    if (file) return file;
  }
  snprintf(
    library->message, sizeof library->message, "%s (%s) is not on this system: %s.", library->subject,
    library->files[0], reason());
  return NULL;
}

static int load(struct trellis_library *library, const struct trellis_library_source *source) {
  void *file = source->find ? NULL : find_file(library, source->path);
  if (!source->find && !file) return 0;
  for (const struct trellis_symbol *symbol = library->symbols; symbol->name; symbol++) {
    void *address = source->find ? source->find(source->list, symbol->name) : find_symbol(file, symbol->name);
    if (!address && !symbol->is_optional) {
      snprintf(
        library->message, sizeof library->message, "%s: it lacks %s.", source->find ? source->name : library->found,
        symbol->name);
      return 0;
    }
    // The pointer is copied as bytes because C has no cast between data and function pointers.
    memcpy(symbol->place, &address, sizeof address);
  }
  const char *problem = library->check ? library->check() : NULL;
  if (problem) snprintf(library->message, sizeof library->message, "%s", problem);
  return problem == NULL;
}

const char *trellis_library_load(struct trellis_library *library) {
  static const struct trellis_library_source usual;
  begin();
  if (library->state == 0) library->state = load(library, &usual) ? 1 : 2;
  const char *problem = library->state == 1 ? NULL : library->message;
  end();
  return problem;
}

static int is_loaded_from(const struct trellis_library *library, const struct trellis_library_source *source) {
  return library->list == source->list && strcmp(library->path, source->path ? source->path : "") == 0;
}

const char *trellis_library_choose(
    struct trellis_library *library, const struct trellis_library_source *source, int *is_other) {
  const char *problem = NULL;
  begin();
  *is_other = library->state == 1 && !is_loaded_from(library, source);
  if (*is_other) {
    problem = "another one is loaded";
  } else if (source->path && strlen(source->path) >= sizeof library->path) {
    problem = "The path of the library is too long.";
  } else if (library->state != 1) {
    library->state = load(library, source) ? 1 : 2;
    snprintf(library->path, sizeof library->path, "%s", source->path ? source->path : "");
    library->list = source->list;
    if (library->state != 1) problem = library->message;
  }
  end();
  return problem;
}
