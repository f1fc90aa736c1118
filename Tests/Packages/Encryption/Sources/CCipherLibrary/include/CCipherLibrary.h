#ifndef CIPHER_LIBRARY_H
#define CIPHER_LIBRARY_H

#include <TrellisSQLiteFunctions.h>

/// Loads a library whose functions another one needs. Returns 0 if it cannot be loaded.
int cipher_load_needed(const char *path);

/// The functions of the library in a file. Called once. Returns null if the library cannot be loaded.
const trellis_sqlite_library *cipher_library(const char *path);

#endif
