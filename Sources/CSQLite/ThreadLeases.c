#include "CSQLite.h"

static _Thread_local int32_t leases;

int32_t trellis_thread_leases(int32_t change) { return leases += change; }
