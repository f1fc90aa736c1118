// The SQLite that a program is linked with, as the table that Trellis takes.
#ifndef TRELLIS_LINKED_SQLITE_H
#define TRELLIS_LINKED_SQLITE_H

#include "TrellisSQLiteFunctions.h"

/// The functions that the linker has found.
const trellis_sqlite_library *trellis_linked_sqlite(void);

#endif
