// libcurl. The functions that a caller needs first load it; all others need a handle from those.
#include "CLate.h"

#include <pthread.h>

#include "late.h"

#define FUNCTIONS(each)                                                                      \
  each(curl_easy_init) each(curl_easy_cleanup) each(curl_easy_setopt) each(curl_easy_getinfo) \
  each(curl_easy_strerror) each(curl_free) each(curl_global_init) each(curl_multi_init)       \
  each(curl_multi_cleanup) each(curl_multi_setopt) each(curl_multi_add_handle)                \
  each(curl_multi_remove_handle) each(curl_multi_perform) each(curl_multi_poll)               \
  each(curl_multi_wakeup) each(curl_multi_info_read) each(curl_slist_append)                  \
  each(curl_slist_free_all) each(curl_url) each(curl_url_cleanup) each(curl_url_get)          \
  each(curl_url_set)

// The headers replace some names with macros that check types.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

LATE_TABLE(curl, "libcurl.so.4", FUNCTIONS);

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  const char *problem = late_load(&curl_library);
  if (problem) late_give_up(problem);
}

static void be_ready(void) { pthread_once(&once, load); }

CURL *ccurl_easy_new(void) {
  be_ready();
  return curl.curl_easy_init();
}
void ccurl_easy_free(CURL *easy) { curl.curl_easy_cleanup(easy); }
const char *ccurl_words(CURLcode code) {
  be_ready();
  return curl.curl_easy_strerror(code);
}
void ccurl_free(void *memory) { curl.curl_free(memory); }

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
  return curl.curl_easy_setopt(easy, option, value);
}
CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return curl.curl_easy_setopt(easy, option, value);
}
CURLcode ccurl_set_take(CURL *easy, CURLoption option, ccurl_take function) {
  return curl.curl_easy_setopt(easy, option, function);
}
CURLcode ccurl_set_progress(CURL *easy, curl_xferinfo_callback function) {
  return curl.curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
}
CURLcode ccurl_set_seek(CURL *easy, curl_seek_callback function) {
  return curl.curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}
CURLcode ccurl_set_open_socket(CURL *easy, curl_opensocket_callback function) {
  return curl.curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}
CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl.curl_easy_getinfo(easy, info, value);
}
CURLcode ccurl_get_text(CURL *easy, CURLINFO info, char **value) {
  return curl.curl_easy_getinfo(easy, info, value);
}

struct curl_slist *ccurl_list_add(struct curl_slist *list, const char *text) {
  return curl.curl_slist_append(list, text);
}
void ccurl_list_free(struct curl_slist *list) {
  if (list) curl.curl_slist_free_all(list);
}

CURLM *ccurl_multi_new(void) {
  be_ready();
  return curl.curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK ? curl.curl_multi_init() : NULL;
}
void ccurl_multi_free(CURLM *multi) { curl.curl_multi_cleanup(multi); }
CURLMcode ccurl_set_multi_long(CURLM *multi, CURLMoption option, long value) {
  return curl.curl_multi_setopt(multi, option, value);
}
void ccurl_multi_add(CURLM *multi, CURL *easy) { curl.curl_multi_add_handle(multi, easy); }
void ccurl_multi_remove(CURLM *multi, CURL *easy) { curl.curl_multi_remove_handle(multi, easy); }
void ccurl_multi_perform(CURLM *multi) {
  int running = 0;
  curl.curl_multi_perform(multi, &running);
}
void ccurl_multi_wait(CURLM *multi, int milliseconds) {
  curl.curl_multi_poll(multi, NULL, 0, milliseconds, NULL);
}
void ccurl_multi_wake(CURLM *multi) { curl.curl_multi_wakeup(multi); }
CURL *ccurl_multi_next_ended(CURLM *multi, CURLcode *result) {
  int left = 0;
  const CURLMsg *message;
  while ((message = curl.curl_multi_info_read(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}

curl_socket_t ccurl_bad_socket(void) { return CURL_SOCKET_BAD; }

CURLU *ccurl_url_new(void) {
  be_ready();
  return curl.curl_url();
}
void ccurl_url_free(CURLU *url) { curl.curl_url_cleanup(url); }
CURLUcode ccurl_url_get(CURLU *url, CURLUPart part, char **text, unsigned flags) {
  return curl.curl_url_get(url, part, text, flags);
}
CURLUcode ccurl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned flags) {
  return curl.curl_url_set(url, part, text, flags);
}
