// libpq as Trellis uses it: the library is loaded when the first store on a server is opened, so that no header and no
// development package is needed to build, and a missing library is a sentence instead of a program that does not start.
#ifndef TRELLIS_CPQ_H
#define TRELLIS_CPQ_H

#include <stddef.h>
#include <stdint.h>

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef struct pg_cancel PGcancel;
typedef void (*trellis_notice_receiver)(void *, const PGresult *);

// The layouts of these two are part of libpq's interface.
typedef struct trellis_pq_notification {
  char *channel;
  int process;
  char *payload;
  struct trellis_pq_notification *next;
} trellis_pq_notification;

typedef struct trellis_pq_option {
  char *keyword;
  char *envvar;
  char *compiled;
  char *value;
  char *label;
  char *dispchar;
  int dispsize;
} trellis_pq_option;

#include "CPQConstants.h"
#include "CPQFunctions.h"

// The table of the loaded functions. Only the wrappers read it, after trellis_pq_load has filled it.
#define X(ret, name, params, args) ret(*name) params;
struct trellis_pq_functions {
  TRELLIS_PQ_FUNCTIONS(X)
};
#undef X
#if !defined(_WIN32)
__attribute__((visibility("hidden")))
#endif
extern struct trellis_pq_functions trellis_pq_table;

// The prefix keeps the names apart from a libpq module that a program may import beside this one.
#define X(ret, name, params, args) \
  static inline ret trellis_##name params { return trellis_pq_table.name args; }
TRELLIS_PQ_FUNCTIONS(X)
#undef X

/// Loads the library once for the process.
/// Returns null, or why it cannot be used, as a sentence.
const char *trellis_pq_load(void);

/// Makes a connection keep what the server notes, instead of printing it, and count the commits that did not wait for a
/// replica until the end.
void trellis_pq_silence(PGconn *connection, int *lonely_commits);

/// Waits until the server has sent something or, if `sends` is not 0, takes more. A signal may end the wait early.
/// Returns 0 if neither has happened, and 1 if it has, or if the connection is closed.
int trellis_pq_wait(PGconn *connection, int sends, int milliseconds);

/// Changes the number of connections that the calling thread has borrowed, and returns it.
int trellis_pq_thread_leases(int change);

#endif
