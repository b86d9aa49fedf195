/* late_curl.c - the functions of libcurl that we call */
#include <curl/curl.h>
#include <stdarg.h>

#include "late.h"

#define FUNCTIONS(GIVES, DOES)                                                                     \
	DOES(curl_easy_cleanup, (CURL * c), (c))                                                   \
	GIVES(char *, curl_easy_escape, (CURL * c, const char *text, int n), (c, text, n))         \
	DOES(curl_free, (void *p), (p))                                                            \
	GIVES(CURL *, curl_easy_init, (void), ())                                                  \
	GIVES(CURLcode, curl_easy_pause, (CURL * c, int what), (c, what))                          \
	GIVES(CURLcode, curl_easy_perform, (CURL * c), (c))                                        \
	GIVES(CURLcode, curl_easy_recv, (CURL * c, void *to, size_t n, size_t *got),               \
	      (c, to, n, got))                                                                     \
	DOES(curl_easy_reset, (CURL * c), (c))                                                     \
	GIVES(CURLcode, curl_easy_send, (CURL * c, const void *from, size_t n, size_t *sent),      \
	      (c, from, n, sent))                                                                  \
	GIVES(const char *, curl_easy_strerror, (CURLcode code), (code))                           \
	GIVES(CURLcode, curl_global_init, (long flags), (flags))                                   \
	GIVES(CURLMcode, curl_multi_add_handle, (CURLM * m, CURL * c), (m, c))                     \
	GIVES(CURLMcode, curl_multi_cleanup, (CURLM * m), (m))                                     \
	GIVES(CURLMsg *, curl_multi_info_read, (CURLM * m, int *left), (m, left))                  \
	GIVES(CURLM *, curl_multi_init, (void), ())                                                \
	GIVES(CURLMcode, curl_multi_perform, (CURLM * m, int *running), (m, running))              \
	GIVES(CURLMcode, curl_multi_poll,                                                          \
	      (CURLM * m, struct curl_waitfd more[], unsigned nmore, int ms, int *ret),            \
	      (m, more, nmore, ms, ret))                                                           \
	GIVES(CURLMcode, curl_multi_remove_handle, (CURLM * m, CURL * c), (m, c))                  \
	GIVES(struct curl_slist *, curl_slist_append,                                              \
	      (struct curl_slist * list, const char *data), (list, data))                          \
	DOES(curl_slist_free_all, (struct curl_slist * list), (list))

FUNCTIONS(LATE_GIVES, LATE_DOES)
static CURLcode (*real_curl_easy_setopt)(CURL *c, CURLoption option, ...);
static CURLcode (*real_curl_easy_getinfo)(CURL *c, CURLINFO info, ...);

/* The number of an option encodes the type of its value (curl.h). */
#undef curl_easy_setopt
CURLcode curl_easy_setopt(CURL *c, CURLoption option, ...)
{
	CURLcode code;
	va_list value;
	va_start(value, option);
	switch ((int)option / 10000 * 10000) {
	case CURLOPTTYPE_LONG: code = real_curl_easy_setopt(c, option, va_arg(value, long)); break;
	case CURLOPTTYPE_OFF_T:
		code = real_curl_easy_setopt(c, option, va_arg(value, curl_off_t));
		break;
	case CURLOPTTYPE_FUNCTIONPOINT:
		code = real_curl_easy_setopt(c, option, va_arg(value, void (*)(void)));
		break;
	default: code = real_curl_easy_setopt(c, option, va_arg(value, void *));
	}
	va_end(value);
	return code;
}

#undef curl_easy_getinfo
CURLcode curl_easy_getinfo(CURL *c, CURLINFO info, ...)
{
	va_list to;
	va_start(to, info);
	CURLcode code = real_curl_easy_getinfo(c, info, va_arg(to, void *));
	va_end(to);
	return code;
}

const struct late_function late_curl[] = {FUNCTIONS(LATE_GIVES_LINE, LATE_DOES_LINE) LATE_LINE(
	curl_easy_setopt) LATE_LINE(curl_easy_getinfo){0}};
