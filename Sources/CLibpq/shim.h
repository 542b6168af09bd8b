#ifndef QUAKE_CLIBPQ_SHIM_H
#define QUAKE_CLIBPQ_SHIM_H

#include <libpq-fe.h>   // the client library itself
#include <pg_config.h>  // PG_VERSION_NUM, to know what this libpq offers
#include <sys/ioctl.h>  // FIONREAD

// libpq has PQsetChunkedRowsMode since version 17; before, rows stream one at a time. Swift cannot test
// whether a macro is defined.
static inline int quake_pq_stream_rows(PGconn *connection, int rows) {
#if PG_VERSION_NUM >= 170000
  return PQsetChunkedRowsMode(connection, rows);
#else
  (void)rows;
  return PQsetSingleRowMode(connection);
#endif
}

// The status of the partial results of a streaming query; PGRES_TUPLES_CHUNK is unknown before 17.
static inline int quake_pq_is_partial(ExecStatusType status) {
#if PG_VERSION_NUM >= 170000
  if (status == PGRES_TUPLES_CHUNK) return 1;
#endif
  return status == PGRES_SINGLE_TUPLE;
}

// How many bytes have arrived at the socket that libpq has not read. ioctl is variadic, which Swift
// cannot call.
static inline int quake_pq_available(const PGconn *connection) {
  int count = 0;
  int descriptor = PQsocket(connection);
  return descriptor >= 0 && ioctl(descriptor, FIONREAD, &count) == 0 ? count : 0;
}

// The field codes of PQresultErrorField are character macros, which Swift imports as Int32 or not at
// all, depending on how they are spelled.
enum {
  quake_pq_severity = PG_DIAG_SEVERITY_NONLOCALIZED,
  quake_pq_sqlstate = PG_DIAG_SQLSTATE,
  quake_pq_message = PG_DIAG_MESSAGE_PRIMARY,
  quake_pq_detail = PG_DIAG_MESSAGE_DETAIL,
  quake_pq_hint = PG_DIAG_MESSAGE_HINT,
  quake_pq_position = PG_DIAG_STATEMENT_POSITION,
  quake_pq_internal_position = PG_DIAG_INTERNAL_POSITION,
  quake_pq_context = PG_DIAG_CONTEXT,
  quake_pq_schema = PG_DIAG_SCHEMA_NAME,
  quake_pq_table = PG_DIAG_TABLE_NAME,
  quake_pq_column = PG_DIAG_COLUMN_NAME,
  quake_pq_constraint = PG_DIAG_CONSTRAINT_NAME
};

#endif
