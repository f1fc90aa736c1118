#include <string.h>

#include "CPQ.h"

// A commit whose wait for a replica was cancelled is no error to the server.
static void note_notice(void *count, const PGresult *notice) {
  const char *function = trellis_PQresultErrorField(notice, TRELLIS_PQ_DIAG_SOURCE_FUNCTION);
  if (function && strcmp(function, "SyncRepWaitForLSN") == 0) *(int *)count += 1;
}

void trellis_pq_silence(PGconn *connection, int *lonely_commits) {
  trellis_PQsetNoticeReceiver(connection, note_notice, lonely_commits);
}
