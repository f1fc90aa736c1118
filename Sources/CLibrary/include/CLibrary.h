// Libraries of the system that are loaded when they are first needed, so that no header and no development package is
// needed to build, and a missing library is a sentence instead of a program that does not start.
#ifndef TRELLIS_CLIBRARY_H
#define TRELLIS_CLIBRARY_H

#include <stddef.h>

/// A function of a library, and where its address goes.
struct trellis_symbol {
  const char *name;
  /// A function pointer.
  void *place;
  /// Whether the library may lack it. The pointer is null then.
  int is_optional;
};

/// Where a program has a library from instead of the usual files.
struct trellis_library_source {
  /// A file, or null.
  const char *path;
  /// Functions of the program, if there is no file: what messages call them, and how to find one by its name.
  const char *name;
  const void *list;
  void *(*find)(const void *list, const char *name);
};

/// A library with the functions that are needed of it.
struct trellis_library {
  /// The beginnings of sentences: of one that the library cannot be loaded, of one that it is not there, and of one that
  /// it lacks a function.
  const char *name, *subject, *found;
  /// The environment variable that names another file.
  const char *variable;
  /// The files to try, in order. Null ends the list.
  const char *const *files;
  /// The functions. A null name ends the list.
  const struct trellis_symbol *symbols;
  /// Returns null, or why the loaded library cannot be used, as a sentence. May be null.
  const char *(*check)(void);
  /// 0 before the first load, 1 if it succeeded, 2 if it failed.
  int state;
  /// Why it failed, as a sentence.
  char message[1024];
  /// What was chosen instead of the usual files: the path of a file, or the address of a list.
  char path[1024];
  const void *list;
};

/// Loads a library, once for the process; it stays loaded. May be called from any thread.
/// Returns null, or why it cannot be used, as a sentence.
const char *trellis_library_load(struct trellis_library *library);

/// Loads a library from another place, or from its usual files if the source has none. After a failure, another place may be
/// chosen; a library that is loaded stays the only one. May be called from any thread.
/// Returns null, or why it cannot be used, as a sentence. `is_other` becomes 1 if another one is loaded already, and 0 otherwise.
const char *trellis_library_choose(
    struct trellis_library *library, const struct trellis_library_source *source, int *is_other);

#endif
