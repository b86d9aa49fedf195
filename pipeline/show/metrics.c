/* metrics.c - the only file that knows libmicrohttpd */
#include "metrics.h"

#include <microhttpd.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"

struct metrics {
	struct MHD_Daemon *daemon;
	const struct stream_gauges *gauges;
	const struct progress *progress;
};

static void put(struct buf *b, const char *name, const char *type, const char *help, double value)
{
	buf_printf(b, "# HELP saltmill_%s %s\n# TYPE saltmill_%s %s\nsaltmill_%s %.17g\n", name,
		   help, name, type, name, value);
}

static double cut_age_s(const struct stream_gauges *g)
{
	int64_t since = g->cut_since_ms;
	return since ? (double)(clock_ms() - since) / 1000 : 0;
}

static void format(const struct metrics *m, struct buf *b)
{
	const struct stream_gauges *g = m->gauges;
	put(b, "lag_offsets", "gauge", "Offsets of the topic that are in no published load.",
	    (double)g->lag);
	put(b, "cut_offsets", "gauge", "Offsets of the open cut: not due yet, or being loaded.",
	    (double)g->cut);
	put(b, "cut_age_seconds", "gauge",
	    "Since the open cut's first event was seen; 0: it is empty.", cut_age_s(g));
	put(b, "cut_events_read", "gauge", "Events of the load that is being made, read so far.",
	    g->loading ? (double)m->progress->events : 0);
	put(b, "loading", "gauge", "1 while a load is being made.", g->loading);
	put(b, "loads_total", "counter", "Loads published since the start.", (double)g->loads);
	put(b, "events_total", "counter", "Events in published loads since the start.",
	    (double)g->events);
	put(b, "rejected_total", "counter", "Events of published loads that were rejected.",
	    (double)g->rejected);
	put(b, "last_published_timestamp_seconds", "gauge",
	    "When a load was published last; 0: never.", (double)g->published_ms / 1000);
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, struct buf *body)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(body->len, body->ptr, MHD_RESPMEM_MUST_COPY);
	buf_release(body);
	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
	enum MHD_Result done = MHD_queue_response(connection, status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *data_len, void **request)
{
	struct buf body = {0};
	(void)version, (void)data, (void)data_len, (void)request;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		buf_append_str(&body, "only GET\n");
		return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, &body);
	}
	if (strcmp(url, "/metrics") != 0) {
		buf_append_str(&body, "there is /metrics\n");
		return answer(connection, MHD_HTTP_NOT_FOUND, &body);
	}
	format(ctx, &body);
	return answer(connection, MHD_HTTP_OK, &body);
}

/* "host:port" with a numeric host, IPv6 in brackets. */
static struct addrinfo *find_address(const char *address)
{
	const char *colon = strrchr(address, ':');
	if (!colon || colon == address)
		return NULL;
	bool bracket = address[0] == '[' && colon[-1] == ']';
	char *host = mem_format("%.*s", (int)(colon - address) - 2 * bracket, address + bracket);
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
				       .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	int rc = getaddrinfo(host, colon + 1, &hints, &found);
	mem_free(host);
	return rc ? NULL : found;
}

int metrics_start(struct metrics **out, const char *address, const struct stream_gauges *gauges,
		  const struct progress *progress, struct error *err)
{
	struct addrinfo *at = find_address(address);
	if (!at)
		return error_set(err, RC_CONFIG,
				 "--metrics: found `%s`, expected ADDRESS:PORT like "
				 "127.0.0.1:9109",
				 address);
	struct metrics *m = mem_calloc(1, sizeof *m);
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD;
	if (at->ai_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	m->gauges = gauges;
	m->progress = progress;
	m->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_request, m, MHD_OPTION_SOCK_ADDR,
				     at->ai_addr, MHD_OPTION_CONNECTION_LIMIT, 16u,
				     MHD_OPTION_CONNECTION_TIMEOUT, 10u, MHD_OPTION_END);
	freeaddrinfo(at);
	if (!m->daemon) {
		mem_free(m);
		return error_set(err, RC_CONFIG, "--metrics: cannot listen on %s", address);
	}
	*out = m;
	return RC_OK;
}

void metrics_stop(struct metrics *m)
{
	if (!m)
		return;
	MHD_stop_daemon(m->daemon);
	mem_free(m);
}
