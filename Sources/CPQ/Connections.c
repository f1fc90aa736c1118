#include "CPQ.h"

static void ignore_notice(void *data, const char *notice) {
  (void)data;
  (void)notice;
}

void trellis_pq_silence(PGconn *connection) { trellis_PQsetNoticeProcessor(connection, ignore_notice, NULL); }
