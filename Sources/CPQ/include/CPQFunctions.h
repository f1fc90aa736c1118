// The one list of the library's functions that Trellis calls: it makes the table, the loader and the wrappers.
#ifndef TRELLIS_CPQ_FUNCTIONS_H
#define TRELLIS_CPQ_FUNCTIONS_H

#define TRELLIS_PQ_FUNCTIONS(X) \
  X(int, PQisthreadsafe, (void), ()) \
  X(trellis_pq_option *, PQconninfoParse, (const char *text, char **message), (text, message)) \
  X(void, PQconninfoFree, (trellis_pq_option *options), (options)) \
  X(void, PQfreemem, (void *memory), (memory)) \
  X(PGconn *, PQconnectdbParams, \
    (const char *const *keywords, const char *const *values, int expand), (keywords, values, expand)) \
  X(void, PQfinish, (PGconn *connection), (connection)) \
  X(int, PQstatus, (const PGconn *connection), (connection)) \
  X(const char *, PQparameterStatus, (const PGconn *connection, const char *name), (connection, name)) \
  X(int, PQserverVersion, (const PGconn *connection), (connection)) \
  X(char *, PQerrorMessage, (const PGconn *connection), (connection)) \
  X(int, PQsocket, (const PGconn *connection), (connection)) \
  X(int, PQbackendPID, (const PGconn *connection), (connection)) \
  X(trellis_notice_receiver, PQsetNoticeReceiver, \
    (PGconn *connection, trellis_notice_receiver receiver, void *data), (connection, receiver, data)) \
  X(char *, PQhost, (const PGconn *connection), (connection)) \
  X(char *, PQport, (const PGconn *connection), (connection)) \
  X(int, PQsslInUse, (PGconn *connection), (connection)) \
  X(int, PQsetnonblocking, (PGconn *connection, int isNonblocking), (connection, isNonblocking)) \
  X(int, PQflush, (PGconn *connection), (connection)) \
  X(int, PQisBusy, (PGconn *connection), (connection)) \
  X(int, PQconsumeInput, (PGconn *connection), (connection)) \
  X(int, PQenterPipelineMode, (PGconn *connection), (connection)) \
  X(int, PQpipelineSync, (PGconn *connection), (connection)) \
  X(int, PQsetSingleRowMode, (PGconn *connection), (connection)) \
  X(int, PQsendPrepare, \
    (PGconn *connection, const char *name, const char *text, int count, const unsigned *types), \
    (connection, name, text, count, types)) \
  X(int, PQsendQueryPrepared, \
    (PGconn *connection, const char *name, int count, const char *const *values, const int *lengths, \
     const int *formats, int result_format), \
    (connection, name, count, values, lengths, formats, result_format)) \
  X(int, PQsendQueryParams, \
    (PGconn *connection, const char *text, int count, const unsigned *types, const char *const *values, \
     const int *lengths, const int *formats, int result_format), \
    (connection, text, count, types, values, lengths, formats, result_format)) \
  X(PGresult *, PQgetResult, (PGconn *connection), (connection)) \
  X(int, PQresultStatus, (const PGresult *result), (result)) \
  X(char *, PQresultErrorMessage, (const PGresult *result), (result)) \
  X(char *, PQresultErrorField, (const PGresult *result, int field), (result, field)) \
  X(int, PQntuples, (const PGresult *result), (result)) \
  X(int, PQnfields, (const PGresult *result), (result)) \
  X(unsigned, PQftype, (const PGresult *result, int column), (result, column)) \
  X(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column)) \
  X(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column)) \
  X(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column)) \
  X(char *, PQcmdTuples, (PGresult *result), (result)) \
  X(void, PQclear, (PGresult *result), (result)) \
  X(trellis_pq_notification *, PQnotifies, (PGconn *connection), (connection)) \
  X(PGcancel *, PQgetCancel, (PGconn *connection), (connection)) \
  X(int, PQcancel, (PGcancel *cancel, char *message, int size), (cancel, message, size)) \
  X(void, PQfreeCancel, (PGcancel *cancel), (cancel))

#endif
