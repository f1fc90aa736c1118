#include "CPQ.h"

#if defined(_WIN32)
#include <winsock2.h>
#define poll WSAPoll
#else
#include <poll.h>
#endif

int trellis_pq_wait(PGconn *connection, int sends, int milliseconds) {
  struct pollfd place = {.events = POLLIN};
  int socket = trellis_PQsocket(connection);
  if (socket < 0) return 1;
  place.fd = socket;
  if (sends) place.events |= POLLOUT;
  return poll(&place, 1, milliseconds) > 0 ? 1 : 0;
}
