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
};

/// Loads a library, once for the process; it stays loaded. May be called from any thread.
/// Returns null, or why it cannot be used, as a sentence.
const char *trellis_library_load(struct trellis_library *library);

#endif
