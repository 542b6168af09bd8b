#ifndef QUAKE_CDYNAMICCURL_H
#define QUAKE_CDYNAMICCURL_H

#include <curl/curl.h>  // types and constants; the program is not linked with the library

// libcurl, loaded when the first request needs it: it would double the memory of a program that follows a
// database. Call quake_curl_load before any other function.

// Loads and initialises libcurl. Returns NULL, or the reason why that is not possible. Not thread-safe.
const char *quake_curl_load(void);

CURL *quake_curl_begin(void);
void quake_curl_end(CURL *easy);
CURLcode quake_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode quake_curl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode quake_curl_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode quake_curl_set_receiver(CURL *easy, CURLoption option, curl_write_callback value);
CURLcode quake_curl_set_headers(CURL *easy, struct curl_slist *headers);
CURLcode quake_curl_resume(CURL *easy);
const char *quake_curl_error_text(CURLcode code);

CURLM *quake_curl_loop_begin(void);
void quake_curl_loop_end(CURLM *loop);
CURLMcode quake_curl_loop_add(CURLM *loop, CURL *easy);
CURLMcode quake_curl_loop_remove(CURLM *loop, CURL *easy);
// Runs the transfer without waiting. Returns whether it has ended; result is how.
int quake_curl_loop_run(CURLM *loop, CURLcode *result);
// Waits for the network, until a descriptor is readable (-1: none), or until the time is up. Returns whether
// the descriptor is readable.
int quake_curl_loop_wait(CURLM *loop, int descriptor, int milliseconds);

struct curl_slist *quake_curl_list_append(struct curl_slist *list, const char *text);
void quake_curl_list_free(struct curl_slist *list);

// CURL_WRITEFUNC_PAUSE is unsigned int, but the callback returns size_t.
static const size_t quake_curl_pause = CURL_WRITEFUNC_PAUSE;

#endif
