#include <curl/curl.h>

// Swift cannot call variadic functions: one wrapper for each type of value.

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

// Text, lists and pointers.
static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return curl_easy_setopt(easy, option, value);
}

typedef size_t (*ccurl_take)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ccurl_set_take(CURL *easy, CURLoption option, ccurl_take function) {
  return curl_easy_setopt(easy, option, function);
}

static inline CURLcode ccurl_set_progress(CURL *easy, curl_xferinfo_callback function) {
  return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
}

static inline CURLcode ccurl_set_open_socket(CURL *easy, curl_opensocket_callback function) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_text(CURL *easy, CURLINFO info, char **value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode ccurl_set_multi_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

// A union in C. CURLE_OK also if the message is of another kind.
static inline CURLcode ccurl_result(const CURLMsg *message) {
  return message->msg == CURLMSG_DONE ? message->data.result : CURLE_OK;
}

// Swift does not show macros with a cast.
static inline long ccurl_global_all(void) { return CURL_GLOBAL_ALL; }
static inline curl_socket_t ccurl_bad_socket(void) { return CURL_SOCKET_BAD; }
