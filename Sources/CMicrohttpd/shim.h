#ifndef QUAKE_CMICROHTTPD_SHIM_H
#define QUAKE_CMICROHTTPD_SHIM_H

#include <microhttpd.h>  // the library itself

// MHD_start_daemon is variadic, which Swift cannot call. The caller passes a listening socket, so that
// it knows the port, and the reason if it cannot listen.
static inline struct MHD_Daemon *quake_mhd_start_on_socket(
    unsigned int flags, int listening, MHD_AccessHandlerCallback handler, void *context) {
  return MHD_start_daemon(flags, 0, NULL, NULL, handler, context, MHD_OPTION_LISTEN_SOCKET,
                          listening, MHD_OPTION_END);
}

// What a server that faces strangers needs beyond that.
struct quake_mhd_options {
  unsigned int flags;
  int listening;
  void *context;
  MHD_AcceptPolicyCallback accept;
  MHD_AccessHandlerCallback handler;
  void *(*target)(void *context, const char *uri, struct MHD_Connection *connection);
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connection;
  unsigned int connection_limit;
  unsigned int idle_seconds;
  unsigned int threads;
  size_t connection_memory;
  int strict;
};

static inline struct MHD_Daemon *quake_mhd_start(const struct quake_mhd_options *o) {
  return MHD_start_daemon(
      o->flags, 0, o->accept, o->context, o->handler, o->context,
      MHD_OPTION_LISTEN_SOCKET, o->listening,
      MHD_OPTION_URI_LOG_CALLBACK, o->target, o->context,
      MHD_OPTION_NOTIFY_COMPLETED, o->completed, o->context,
      MHD_OPTION_NOTIFY_CONNECTION, o->connection, o->context,
      MHD_OPTION_CONNECTION_LIMIT, o->connection_limit,
      MHD_OPTION_CONNECTION_TIMEOUT, o->idle_seconds,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, o->connection_memory,
      MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)1024,
      MHD_OPTION_THREAD_POOL_SIZE, o->threads,
      MHD_OPTION_STRICT_FOR_CLIENT, o->strict,
      MHD_OPTION_END);
}

// MHD_get_connection_info is variadic, which Swift cannot call; -1 if there is no socket.
static inline int quake_mhd_connection_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

// The address of the client; null if it is not known.
static inline const struct sockaddr *quake_mhd_client_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

// The bytes of a request's header, with its first line and the empty line; 0 before it has arrived.
static inline size_t quake_mhd_header_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}

// What the callback for new connections has stored with a connection.
static inline void *quake_mhd_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

// Makes a response end with the connection and not with a last chunk. MHD_set_response_options is variadic.
static inline int quake_mhd_end_with_connection(struct MHD_Response *response) {
  return MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

// MHD_upgrade_action is variadic.
static inline int quake_mhd_end_upgrade(struct MHD_UpgradeResponseHandle *handle) {
  return MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

// Macros with casts in them, which Swift does not import.
static const ssize_t quake_mhd_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;
static const ssize_t quake_mhd_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const uint64_t quake_mhd_size_unknown = MHD_SIZE_UNKNOWN;

#endif
