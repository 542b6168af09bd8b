#ifndef QUAKE_CLIBCURL_SHIM_H
#define QUAKE_CLIBCURL_SHIM_H

#include <curl/curl.h>  // the library itself

// curl_easy_setopt is variadic, which Swift cannot call: one wrapper for each type of argument.
static inline CURLcode quake_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode quake_curl_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode quake_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode quake_curl_set_list(
    CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}
// The header and the body callback have the same C type.
static inline CURLcode quake_curl_set_receiver(
    CURL *easy, CURLoption option, curl_write_callback value) {
  return curl_easy_setopt(easy, option, value);
}

// Callbacks before a request is sent, and before a connection is made.
static inline CURLcode quake_curl_set_prerequest(CURL *easy, curl_prereq_callback value) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}
static inline CURLcode quake_curl_set_opensocket(CURL *easy, curl_opensocket_callback value) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

// curl_easy_getinfo is variadic too: one wrapper for each type of result.
static inline CURLcode quake_curl_get_string(CURL *easy, CURLINFO info, const char **value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode quake_curl_get_pointer(CURL *easy, CURLINFO info, void **value) {
  return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode quake_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(easy, info, value);
}

// CURL_WRITEFUNC_PAUSE is unsigned int, but the callback returns size_t; this constant has that type.
static const size_t quake_curl_pause = CURL_WRITEFUNC_PAUSE;

#endif
