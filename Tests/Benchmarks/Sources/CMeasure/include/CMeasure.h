// What Swift cannot say: how much memory malloc has handed out, and to Valgrind where to look.
#ifndef C_MEASURE_H
#define C_MEASURE_H

#include <stddef.h>

/// Calls `body(context)`. Everything that is measured runs below this function, and nothing else does.
void bench_measured(void (*body)(void *), void *context);

/// Bytes that malloc has handed out and not got back, the overhead of its blocks included; 0 where nobody tells.
size_t bench_bytes_in_use(void);

/// The most memory that the process ever had resident, in bytes; 0 where nobody tells.
size_t bench_peak_bytes(void);

#endif
