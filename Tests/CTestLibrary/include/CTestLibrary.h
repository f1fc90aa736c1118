// The system's SQLite as a program would give one of its own, with faults that a test wants.
#ifndef TRELLIS_TEST_LIBRARY_H
#define TRELLIS_TEST_LIBRARY_H

#include "TrellisSQLiteFunctions.h"

enum test_library_fault {
  test_library_none,
  /// It says that it is 3.37.
  test_library_is_old,
  /// It has functions for keys that do nothing.
  test_library_pretends_to_encrypt,
  /// The table has a form of the future.
  test_library_is_newer,
};

/// - lacking: a function that the table leaves out, or null.
/// Returns null if the system has no SQLite.
const trellis_sqlite_library *test_library(enum test_library_fault fault, const char *lacking);

/// How often a connection was opened through the table.
int test_library_openings(void);

#endif
