#define _GNU_SOURCE  // RTLD_NEXT
#include "Refusals.h"

#include <dlfcn.h>
#include <microhttpd.h>
#include <stdatomic.h>
#include <stddef.h>
#include <strings.h>

typedef enum MHD_Result (*queue_function)(struct MHD_Connection *, unsigned int,
                                          struct MHD_Response *);

static _Atomic(quake_mhd_refusal) refuse;

void quake_mhd_set_refusal(quake_mhd_refusal refusal) { atomic_store(&refuse, refusal); }

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned int status,
                             struct MHD_Response *response) {
  static _Atomic(queue_function) original;
  queue_function function = atomic_load_explicit(&original, memory_order_relaxed);
  if (!function) {
    function = (queue_function)dlsym(RTLD_NEXT, "MHD_queue_response");
    atomic_store_explicit(&original, function, memory_order_relaxed);
  }
  return function ? function(connection, status, response) : MHD_NO;
}

int quake_mhd_queue_response(void *connection, unsigned int status, void *response) {
  return queue(connection, status, response) == MHD_YES;
}

// libmicrohttpd has no setting for its own error pages, which are HTML, and of which it sends two heads for a
// Content-Length that it cannot read. It sends them with this function of its interface, and the dynamic linker takes
// the program's function of that name for the library's calls as well. If the library is built so that it calls only
// its own, its pages are sent.
enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned int status,
                                   struct MHD_Response *response) {
  quake_mhd_refusal refusal = atomic_load(&refuse);
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  // Only the connections of QuakeServer have a context, and it queues its answers with the function above.
  if (!refusal || !info || !info->socket_context) return queue(connection, status, response);
  refusal(info->socket_context, status);
  return MHD_NO;  // the library closes the connection
}

typedef enum MHD_Result (*lookup_function)(struct MHD_Connection *, enum MHD_ValueKind, const char *,
                                           size_t, const char **, size_t *);

// libmicrohttpd copies the cookies of a request and parses them, in the little memory that a connection has, though
// nothing here reads them: ten cookies of other programs on the same host would leave no room for an answer. It looks for
// them with this function of its interface; version 1 does not, and parses them.
enum MHD_Result MHD_lookup_connection_value_n(struct MHD_Connection *connection,
                                              enum MHD_ValueKind kind, const char *key,
                                              size_t key_size, const char **value,
                                              size_t *value_size) {
  static _Atomic(lookup_function) original;
  if (kind == MHD_HEADER_KIND && key_size == 6 && key && strncasecmp(key, "Cookie", 6) == 0) return MHD_NO;
  lookup_function function = atomic_load_explicit(&original, memory_order_relaxed);
  if (!function) {
    function = (lookup_function)dlsym(RTLD_NEXT, "MHD_lookup_connection_value_n");
    atomic_store_explicit(&original, function, memory_order_relaxed);
  }
  return function ? function(connection, kind, key, key_size, value, value_size) : MHD_NO;
}
