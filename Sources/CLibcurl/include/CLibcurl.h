#ifndef QUAKE_CLIBCURL_H
#define QUAKE_CLIBCURL_H

#include "CLibmosquitto.h"

#include <curl/curl.h>  // types and constants; the program is not linked with the library

// libcurl, loaded when the first request needs it: it would double the memory of a program that follows a
// database. Call quake_curl_load before any other function.

// Loads and initialises libcurl. Returns NULL, or the reason why that is not possible. Not thread-safe.
const char *quake_curl_load(void);

CURL *quake_curl_begin(void);
void quake_curl_end(CURL *easy);
// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call: one function for each type.
CURLcode quake_curl_set_long(CURL *easy, CURLoption option, long value);
CURLcode quake_curl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode quake_curl_set_pointer(CURL *easy, CURLoption option, void *value);
// http and https alone, in each redirect, too.
CURLcode quake_curl_set_web_only(CURL *easy);
CURLcode quake_curl_set_headers(CURL *easy, struct curl_slist *headers);
// The header and the body callback have the same C type.
CURLcode quake_curl_set_receiver(CURL *easy, CURLoption option, curl_write_callback value);
// Callbacks before a request is sent, and before a connection is made.
CURLcode quake_curl_set_prerequest(CURL *easy, curl_prereq_callback value);
CURLcode quake_curl_set_opensocket(CURL *easy, curl_opensocket_callback value);
const char *quake_curl_get_string(CURL *easy, CURLINFO info);
curl_off_t quake_curl_get_offset(CURL *easy, CURLINFO info);
CURLcode quake_curl_resume(CURL *easy);
const char *quake_curl_error_text(CURLcode code);

CURLM *quake_curl_loop_begin(void);
void quake_curl_loop_end(CURLM *loop);
CURLMcode quake_curl_loop_add(CURLM *loop, CURL *easy);
CURLMcode quake_curl_loop_remove(CURLM *loop, CURL *easy);
CURLMcode quake_curl_loop_run(CURLM *loop);
// The CURLOPT_PRIVATE of a transfer that has ended since the last call, and its result; NULL if there is none.
void *quake_curl_loop_ended(CURLM *loop, CURLcode *result);
CURLMcode quake_curl_loop_wait(
    CURLM *loop, struct curl_waitfd *others, unsigned count, int milliseconds);

struct curl_slist *quake_curl_list_append(struct curl_slist *list, const char *text);
void quake_curl_list_free(struct curl_slist *list);

// A part of a URL, which the caller frees; NULL if the text is no URL, or has no such part.
char *quake_curl_url_part(const char *url, CURLUPart part, unsigned flags);
time_t quake_curl_date(const char *text);

// CURL_WRITEFUNC_PAUSE is unsigned int, but the callback returns size_t.
static const size_t quake_curl_pause = CURL_WRITEFUNC_PAUSE;

#endif
