// What the C files share among themselves.
#ifndef TRELLIS_CSQLITE_PRIVATE_H
#define TRELLIS_CSQLITE_PRIVATE_H

/// The module behind the table function trellis_values.
const void *trellis_values_module(void);

#endif
