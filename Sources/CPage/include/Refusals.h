#ifndef QUAKE_CPAGE_REFUSALS_H
#define QUAKE_CPAGE_REFUSALS_H

// Without the types of microhttpd.h, which belong to the module CMicrohttpd.

// Called for an answer that libmicrohttpd itself makes to a request that it cannot read: with what the callback for new
// connections has stored with the connection, and with the status. The library's answer is not sent, and the connection
// is closed afterwards.
typedef void (*quake_mhd_refusal)(void *socket_context, unsigned int status);

// Sets who answers such requests, before the first server starts.
void quake_mhd_set_refusal(quake_mhd_refusal refusal);

// MHD_queue_response for the answers of the program; 0 if the library does not take it.
int quake_mhd_queue_response(void *connection, unsigned int status, void *response);

#endif
