#include "CPQ.h"

static _Thread_local int leases;

int trellis_pq_thread_leases(int change) { return leases += change; }
