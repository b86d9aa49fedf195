/* broker_link.c - connect by a socket, or by libcurl if the brokers require TLS */
#include "broker_link.h"

#include <curl/curl.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "pool.h"

#define CONNECT_MS 2000
#define LOOK_MS	   100

static bool is_set(const struct broker_access *a, enum access_key key, const char *value)
{
	return a->value[key] && strcasecmp(a->value[key], value) == 0;
}

bool broker_access_has_tls(const struct broker_access *a)
{
	return is_set(a, ACCESS_PROTOCOL, "ssl") || is_set(a, ACCESS_PROTOCOL, "sasl_ssl");
}

static bool wait_for(int fd, short what, double end)
{
	struct pollfd at = {.fd = fd, .events = what};

	while (!stop_flag && clock_seconds() < end)
		if (poll(&at, 1, LOOK_MS) > 0)
			return true;
	return false;
}

/* --- connecting --- */

struct address {
	char host[256], port[16];
};

/* Read the next broker of the list. Return false if there is no next broker. */
static bool next_address(const char **list, struct address *out)
{
	const char *at = *list + strspn(*list, ", "), *end = at + strcspn(at, ", ");
	const char *host = strstr(at, "://");

	host = host && host < end ? host + 3 : at;
	const char *port = end;
	while (port > host && port[-1] != ':' && port[-1] != ']')
		port--;
	bool named = port > host && port[-1] == ':';
	*list = end;
	snprintf(out->host, sizeof out->host, "%.*s", (int)((named ? port - 1 : end) - host), host);
	snprintf(out->port, sizeof out->port, "%.*s", named ? (int)(end - port) : 4,
		 named ? port : "9092");
	return end > at;
}

static int connect_one(const struct addrinfo *a, double end)
{
	int fd =
		socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
	int failed = 0;
	socklen_t len = sizeof failed;

	if (fd < 0)
		return -1;
	if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
		return fd;
	if (errno == EINPROGRESS && wait_for(fd, POLLOUT, end) &&
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len) == 0 && failed == 0)
		return fd;
	close(fd);
	return -1;
}

static int connect_plain(const struct address *to, double end)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	char host[sizeof to->host];
	size_t bracket = to->host[0] == '[';
	int fd = -1;

	/* an IPv6 address has brackets in the list of brokers */
	snprintf(host, sizeof host, "%s", to->host + bracket);
	if (bracket)
		host[strcspn(host, "]")] = 0;
	if (getaddrinfo(host, to->port, &hints, &list))
		return -1;
	for (const struct addrinfo *a = list; a && fd < 0 && !stop_flag; a = a->ai_next)
		fd = connect_one(a, end);
	freeaddrinfo(list);
	return fd;
}

static int connect_tls(CURL *curl, const struct broker_access *a, const struct address *to)
{
	static const struct {
		enum access_key key;
		CURLoption option;
	} files[] = {{ACCESS_CA, CURLOPT_CAINFO},
		     {ACCESS_CERTIFICATE, CURLOPT_SSLCERT},
		     {ACCESS_KEY, CURLOPT_SSLKEY},
		     {ACCESS_KEY_PASSWORD, CURLOPT_KEYPASSWD}};
	curl_socket_t fd = CURL_SOCKET_BAD;
	char url[300];

	snprintf(url, sizeof url, "https://%s:%s", to->host, to->port);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_SSL_ENABLE_ALPN, 0L);
	if (is_set(a, ACCESS_VERIFY, "false"))
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
	if (is_set(a, ACCESS_VERIFY, "false") || is_set(a, ACCESS_VERIFY_NAME, "none"))
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (a->value[files[i].key])
			curl_easy_setopt(curl, files[i].option, a->value[files[i].key]);
	if (curl_easy_perform(curl) != CURLE_OK ||
	    curl_easy_getinfo(curl, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK)
		return -1;
	return fd;
}

bool broker_link_next(struct broker_link *l, const struct broker_access *a, const char **list,
		      bool *more)
{
	double end = clock_seconds() + CONNECT_MS / 1000.0;
	struct address to;

	l->curl = NULL;
	l->fd = -1;
	*more = next_address(list, &to);
	if (!*more)
		return false;
	if (!broker_access_has_tls(a))
		l->fd = connect_plain(&to, end < l->end ? end : l->end);
	else if ((l->curl = curl_easy_init()))
		l->fd = connect_tls(l->curl, a, &to);
	return l->fd >= 0;
}

void broker_link_close(struct broker_link *l)
{
	if (l->curl)
		curl_easy_cleanup(l->curl);
	else if (l->fd >= 0)
		close(l->fd);
	l->curl = NULL;
	l->fd = -1;
}

/* --- bytes --- */

/*
 * Send some bytes. Return false if the connection has failed. `*n` is 0 if the client can send none
 * yet.
 */
static bool send_some(const struct broker_link *l, const uint8_t *p, size_t len, size_t *n)
{
	*n = 0;
	if (l->curl) {
		CURLcode code = curl_easy_send(l->curl, p, len, n);

		return code == CURLE_OK || code == CURLE_AGAIN;
	}
	ssize_t sent = send(l->fd, p, len, MSG_NOSIGNAL);
	*n = sent > 0 ? (size_t)sent : 0;
	return sent >= 0 || errno == EAGAIN || errno == EINTR;
}

/* Receive some bytes. Return false at the end of the connection. */
static bool receive_some(const struct broker_link *l, uint8_t *p, size_t len, size_t *n)
{
	*n = 0;
	if (l->curl) {
		CURLcode code = curl_easy_recv(l->curl, p, len, n);

		return code == CURLE_AGAIN || (code == CURLE_OK && *n > 0);
	}
	ssize_t got = recv(l->fd, p, len, 0);
	*n = got > 0 ? (size_t)got : 0;
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

bool broker_link_send(const struct broker_link *l, struct bytes b)
{
	for (size_t done = 0, n = 0; done < b.len; done += n)
		if (!send_some(l, b.ptr + done, b.len - done, &n) ||
		    (n == 0 && !wait_for(l->fd, POLLOUT, l->end)))
			return false;
	return true;
}

bool broker_link_receive(const struct broker_link *l, uint8_t *to, size_t len)
{
	for (size_t done = 0, n = 0; done < len; done += n)
		if (!receive_some(l, to + done, len - done, &n) ||
		    (n == 0 && !wait_for(l->fd, POLLIN, l->end)))
			return false;
	return true;
}
