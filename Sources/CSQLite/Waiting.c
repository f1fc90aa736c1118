// The wait for a lock that another connection holds.
#include "CSQLite.h"

enum { longest_pause = 50 };

static int wait_for_lock(void *data, int count) {
  trellis_waiting *waiting = data;
  // Pauses of 1, 2, 4, 8, 16 and 32 ms, then of 50 ms each.
  int pause = count < 6 ? 1 << count : longest_pause;
  int64_t waited = count < 6 ? (1 << count) - 1 : 63 + (int64_t)(count - 6) * longest_pause;
  if (waited >= waiting->milliseconds || __atomic_load_n(&waiting->is_over, __ATOMIC_RELAXED)) return 0;
  if (waiting->milliseconds - waited < pause) pause = (int)(waiting->milliseconds - waited);
  trellis_sqlite3_sleep(pause);
  return 1;
}

int trellis_sqlite_wait(sqlite3 *db, trellis_waiting *waiting) {
  return trellis_sqlite3_busy_handler(db, wait_for_lock, waiting);
}

void trellis_sqlite_end(sqlite3 *db, trellis_waiting *waiting) {
  __atomic_store_n(&waiting->is_over, 1, __ATOMIC_RELAXED);
  trellis_sqlite3_interrupt(db);
}

int trellis_sqlite_is_ended(const trellis_waiting *waiting) {
  return __atomic_load_n(&waiting->is_over, __ATOMIC_RELAXED);
}
