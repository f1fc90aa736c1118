// What Swift cannot say: how much memory malloc has handed out, and to Valgrind where to look.
#ifndef C_MEASURE_H
#define C_MEASURE_H

#include <stddef.h>
#include <stdint.h>

/// Nanoseconds: those that passed, and those that the process used of all processors.
struct bench_time {
  uint64_t wall, processor;
};

/// Calls `body(context)` and returns the time that it took, less that of `bench_unmeasured`.
struct bench_time bench_measured(void (*body)(void *), void *context);

/// Calls `body(context)` beside the clock: for what the participants need and are not measured by.
void bench_unmeasured(void (*body)(void *), void *context);

/// Bytes that malloc has handed out and not got back, the overhead of its blocks included; 0 where nobody tells.
size_t bench_bytes_in_use(void);

/// The most memory that the process ever had resident, in bytes; 0 where nobody tells.
size_t bench_peak_bytes(void);

#endif
