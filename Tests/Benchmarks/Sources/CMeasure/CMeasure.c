#include "CMeasure.h"

#include <stdio.h>
#include <time.h>

// Valgrind sees only what is measured. Outside of Valgrind the two macros are a few instructions that do nothing.
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

static int is_measuring;
static struct bench_time unmeasured;

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static struct bench_time now(void) {
  return (struct bench_time){nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static struct bench_time difference(struct bench_time later, struct bench_time earlier) {
  return (struct bench_time){later.wall - earlier.wall, later.processor - earlier.processor};
}

struct bench_time bench_measured(void (*body)(void *), void *context) {
  is_measuring = 1;
  unmeasured = (struct bench_time){0, 0};
  CALLGRIND_START_INSTRUMENTATION;
  struct bench_time start = now();
  body(context);
  struct bench_time end = now();
  CALLGRIND_STOP_INSTRUMENTATION;
  is_measuring = 0;
  return difference(difference(end, start), unmeasured);
}

void bench_unmeasured(void (*body)(void *), void *context) {
  if (!is_measuring) {
    body(context);
    return;
  }
  struct bench_time start = now();
  CALLGRIND_STOP_INSTRUMENTATION;
  body(context);
  CALLGRIND_START_INSTRUMENTATION;
  struct bench_time passed = difference(now(), start);
  unmeasured.wall += passed.wall;
  unmeasured.processor += passed.processor;
}

#if defined(__APPLE__)
#include <malloc/malloc.h>
#include <sys/resource.h>

size_t bench_bytes_in_use(void) {
  malloc_statistics_t statistics;
  malloc_zone_statistics(NULL, &statistics);
  return statistics.size_in_use;
}

size_t bench_peak_bytes(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? (size_t)usage.ru_maxrss : 0;
}

#elif defined(__GLIBC__)
#include <malloc.h>

size_t bench_bytes_in_use(void) {
  struct mallinfo2 information = mallinfo2();
  return information.uordblks + information.hblkhd;
}

// getrusage would count the pages of the process that started this one, too.
size_t bench_peak_bytes(void) {
  FILE *status = fopen("/proc/self/status", "r");
  if (!status) return 0;
  char line[256];
  size_t kilobytes = 0;
  while (fgets(line, sizeof line, status))
    if (sscanf(line, "VmHWM: %zu", &kilobytes) == 1) break;
  fclose(status);
  return kilobytes * 1024;
}

#else
size_t bench_bytes_in_use(void) { return 0; }
size_t bench_peak_bytes(void) { return 0; }
#endif
