/* The calls of the program `table`, by hand with prepared statements: calls URL first|change|insert WORKERS CALLS */
#include <libpq-fe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *url, *mode;
static int calls;
static long long first_new;

static void check(PGresult *result, ExecStatusType wanted) {
  if (PQresultStatus(result) != wanted) {
    fprintf(stderr, "%s\n", PQresultErrorMessage(result));
    exit(1);
  }
}

static PGresult *run(PGconn *connection, const char *name, int count, const char **values, ExecStatusType wanted) {
  PGresult *result = PQexecPrepared(connection, name, count, values, NULL, NULL, 1);
  check(result, wanted);
  return result;
}

static void prepare(PGconn *connection, const char *name, const char *sql) {
  PGresult *result = PQprepare(connection, name, sql, 0, NULL);
  check(result, PGRES_COMMAND_OK);
  PQclear(result);
}

static void call(PGconn *connection, long long number) {
  char key[32], version[32], id[32];
  if (strcmp(mode, "insert") == 0) {
    /* Keys come from blocks, as they do for any program that wants them before it inserts. */
    snprintf(key, sizeof key, "%lld", first_new + number);
    const char *values[] = {key, key, "new", "a new row", "1", "2", "99"};
    PQclear(run(connection, "insert", 7, values, PGRES_COMMAND_OK));
    return;
  }
  snprintf(key, sizeof key, "%lld", number);
  const char *values[] = {key};
  PGresult *row = run(connection, "first", 1, values, PGRES_TUPLES_OK);
  if (PQntuples(row) != 1) exit(1);
  if (strcmp(mode, "change") == 0) {
    snprintf(id, sizeof id, "%lld", (long long)__builtin_bswap64(*(unsigned long long *)PQgetvalue(row, 0, 0)));
    snprintf(version, sizeof version, "%lld", (long long)__builtin_bswap64(*(unsigned long long *)PQgetvalue(row, 0, 1)));
    const char *values[] = {id, version, "5"};
    PGresult *done = run(connection, "update", 3, values, PGRES_COMMAND_OK);
    if (strcmp(PQcmdTuples(done), "1") != 0) exit(1);
    PQclear(done);
  }
  PQclear(row);
}

static void *work(void *worker) {
  PGconn *connection = PQconnectdb(url);
  if (PQstatus(connection) != CONNECTION_OK) {
    fprintf(stderr, "%s\n", PQerrorMessage(connection));
    exit(1);
  }
  prepare(connection, "first",
    "SELECT _id, _version, number, title, note, amount, price, kind, owner FROM hand.\"Big\" WHERE number = $1 "
    "ORDER BY _id LIMIT 1");
  prepare(connection, "update",
    "UPDATE hand.\"Big\" SET amount = $3, _version = _version + 1 WHERE _id = $1 AND _version = $2");
  prepare(connection, "insert",
    "INSERT INTO hand.\"Big\" (_id, _version, number, title, note, amount, price, kind) "
    "VALUES ($1, 1, $2, $3, $4, $5, $6, $7)");
  long long base = (long long)worker * 50000;
  call(connection, base + 1);
  for (int number = 0; number < calls; number++) call(connection, base + 2 + (long long)number * 7 % 40000);
  PQfinish(connection);
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 5) return 2;
  url = arguments[1];
  mode = arguments[2];
  int workers = atoi(arguments[3]);
  calls = atoi(arguments[4]);
  struct timespec start, end;
  clock_gettime(CLOCK_REALTIME, &start);
  first_new = 10000000 + (start.tv_sec * 1000LL + start.tv_nsec / 1000000) % 1000000000 * 1000;
  clock_gettime(CLOCK_MONOTONIC, &start);
  pthread_t threads[workers];
  for (long worker = 0; worker < workers; worker++) pthread_create(&threads[worker], NULL, work, (void *)worker);
  for (int worker = 0; worker < workers; worker++) pthread_join(threads[worker], NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("%f\n", workers * (calls + 1.0) / (end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9));
  return 0;
}
