#include "CPQ.h"

#if defined(_MSC_VER) && !defined(__clang__)
static __declspec(thread) int leases;
#else
static _Thread_local int leases;
#endif

int trellis_pq_thread_leases(int change) { return leases += change; }
