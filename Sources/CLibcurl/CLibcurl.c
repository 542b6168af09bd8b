#define _GNU_SOURCE
#include "CLibcurl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

// The macros check types at compile time; here the functions themselves are meant.
#undef curl_easy_setopt
#undef curl_easy_getinfo

#define FUNCTIONS(USE)        \
  USE(curl_global_init)       \
  USE(curl_easy_init)         \
  USE(curl_easy_cleanup)      \
  USE(curl_easy_setopt)       \
  USE(curl_easy_getinfo)      \
  USE(curl_easy_pause)        \
  USE(curl_easy_strerror)     \
  USE(curl_multi_init)        \
  USE(curl_multi_cleanup)     \
  USE(curl_multi_add_handle)  \
  USE(curl_multi_remove_handle) \
  USE(curl_multi_perform)     \
  USE(curl_multi_poll)        \
  USE(curl_multi_info_read)   \
  USE(curl_slist_append)      \
  USE(curl_slist_free_all)    \
  USE(curl_url)               \
  USE(curl_url_set)           \
  USE(curl_url_get)           \
  USE(curl_url_cleanup)       \
  USE(curl_free)              \
  USE(curl_getdate)

#define DECLARE(NAME) __typeof__(NAME) *NAME##_;
static struct { FUNCTIONS(DECLARE) } library;

const char *quake_curl_load(void) {
  static bool is_loaded = false;
  if (is_loaded) return NULL;
  // Its version 4 has been the same interface since 2006; the second name is a variant with GnuTLS.
  void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  const char *problem = handle ? NULL : dlerror();
  if (!handle) handle = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return problem ? problem : "unknown error of the loader";
#define FIND(NAME)                                                     \
  library.NAME##_ = (__typeof__(NAME) *)dlsym(handle, #NAME);          \
  if (!library.NAME##_) return "libcurl.so.4 has no function " #NAME;
  FUNCTIONS(FIND)
  if (library.curl_global_init_(CURL_GLOBAL_ALL) != CURLE_OK)
    return "libcurl could not be initialised";
  is_loaded = true;
  return NULL;
}

CURL *quake_curl_begin(void) { return library.curl_easy_init_(); }

void quake_curl_end(CURL *easy) { library.curl_easy_cleanup_(easy); }

CURLcode quake_curl_set_long(CURL *easy, CURLoption option, long value) {
  return library.curl_easy_setopt_(easy, option, value);
}

CURLcode quake_curl_set_string(CURL *easy, CURLoption option, const char *value) {
  return library.curl_easy_setopt_(easy, option, value);
}

CURLcode quake_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return library.curl_easy_setopt_(easy, option, value);
}

CURLcode quake_curl_set_web_only(CURL *easy) {
  // Before 7.85 the options have other names, whose values are bits.
  enum { old_protocols = CURLOPTTYPE_LONG + 181, old_redirect_protocols = CURLOPTTYPE_LONG + 182 };
  const long web = CURLPROTO_HTTP | CURLPROTO_HTTPS;
  CURLcode code = library.curl_easy_setopt_(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  if (code == CURLE_OK)
    return library.curl_easy_setopt_(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  code = library.curl_easy_setopt_(easy, (CURLoption)old_protocols, web);
  if (code != CURLE_OK) return code;
  return library.curl_easy_setopt_(easy, (CURLoption)old_redirect_protocols, web);
}

CURLcode quake_curl_set_headers(CURL *easy, struct curl_slist *headers) {
  return library.curl_easy_setopt_(easy, CURLOPT_HTTPHEADER, headers);
}

CURLcode quake_curl_set_receiver(CURL *easy, CURLoption option, curl_write_callback value) {
  return library.curl_easy_setopt_(easy, option, value);
}

CURLcode quake_curl_set_prerequest(CURL *easy, curl_prereq_callback value) {
  return library.curl_easy_setopt_(easy, CURLOPT_PREREQFUNCTION, value);
}

CURLcode quake_curl_set_opensocket(CURL *easy, curl_opensocket_callback value) {
  return library.curl_easy_setopt_(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

const char *quake_curl_get_string(CURL *easy, CURLINFO info) {
  const char *value = NULL;
  library.curl_easy_getinfo_(easy, info, &value);
  return value;
}

curl_off_t quake_curl_get_offset(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  library.curl_easy_getinfo_(easy, info, &value);
  return value;
}

CURLcode quake_curl_resume(CURL *easy) { return library.curl_easy_pause_(easy, CURLPAUSE_CONT); }

const char *quake_curl_error_text(CURLcode code) { return library.curl_easy_strerror_(code); }

CURLM *quake_curl_loop_begin(void) { return library.curl_multi_init_(); }

void quake_curl_loop_end(CURLM *loop) { library.curl_multi_cleanup_(loop); }

CURLMcode quake_curl_loop_add(CURLM *loop, CURL *easy) {
  return library.curl_multi_add_handle_(loop, easy);
}

CURLMcode quake_curl_loop_remove(CURLM *loop, CURL *easy) {
  return library.curl_multi_remove_handle_(loop, easy);
}

CURLMcode quake_curl_loop_run(CURLM *loop) {
  int running = 0;
  return library.curl_multi_perform_(loop, &running);
}

void *quake_curl_loop_ended(CURLM *loop, CURLcode *result) {
  int left = 0;
  void *owner = NULL;
  CURLMsg *message;
  while (!owner && (message = library.curl_multi_info_read_(loop, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    library.curl_easy_getinfo_(message->easy_handle, CURLINFO_PRIVATE, &owner);
  }
  return owner;
}

CURLMcode quake_curl_loop_wait(
    CURLM *loop, struct curl_waitfd *others, unsigned count, int milliseconds) {
  return library.curl_multi_poll_(loop, others, count, milliseconds, NULL);
}

struct curl_slist *quake_curl_list_append(struct curl_slist *list, const char *text) {
  return library.curl_slist_append_(list, text);
}

void quake_curl_list_free(struct curl_slist *list) { library.curl_slist_free_all_(list); }

char *quake_curl_url_part(const char *url, CURLUPart part, unsigned flags) {
  CURLU *handle = library.curl_url_();
  char *text = NULL, *copy = NULL;
  if (library.curl_url_set_(handle, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
      library.curl_url_get_(handle, part, &text, flags) == CURLUE_OK)
    copy = strdup(text);
  library.curl_free_(text);
  library.curl_url_cleanup_(handle);
  return copy;
}

time_t quake_curl_date(const char *text) { return library.curl_getdate_(text, NULL); }
