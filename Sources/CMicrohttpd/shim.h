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

// MHD_get_connection_info is variadic, which Swift cannot call; -1 if there is no socket.
static inline int quake_mhd_connection_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

// A macro with a cast in it, which Swift does not import.
static const ssize_t quake_mhd_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;

#endif
