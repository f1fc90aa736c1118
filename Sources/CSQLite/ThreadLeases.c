#include "CSQLite.h"

#if defined(_MSC_VER) && !defined(__clang__)
static __declspec(thread) int32_t leases;
#else
static _Thread_local int32_t leases;
#endif

int32_t trellis_thread_leases(int32_t change) { return leases += change; }
