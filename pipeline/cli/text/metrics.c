/*
 * metrics.c - serves the metrics; the only file that uses libmicrohttpd
 *
 * A connection serves one request, which must arrive soon. libmicrohttpd restarts its timeout with
 * each byte, so a slow client could hold a connection forever. The number of connections is
 * limited: the oldest one is closed to make room, and each has a maximum age.
 */
#include "cli/metrics.h"

#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "late.h"
#include "pool.h"
#include "cli/progress_text.h"

#define PLACES	     32
#define MOST_AT_ONCE 256 /* counts closed connections that libmicrohttpd has not released yet */
#define LIFE_MS	     5000
#define IDLE_S	     10 /* for a client that does not read the answer */
#define SWEEP_MS     500

/* An open connection. Places are in order of arrival. */
struct metric_place {
	const struct MHD_Connection *connection;
	int fd;
	int64_t since_ms;
};

struct metrics {
	struct MHD_Daemon *daemon;
	struct metrics_of shown;
	struct ticker *sweeper;
	pthread_mutex_t lock;
	struct metric_place places[PLACES];
	size_t nplaces;
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

/* A topic name contains only letters, digits and . _ -, so it needs no escapes. */
static void put_topics(struct buf *b, struct topic_lags *l)
{
	pthread_mutex_lock(&l->lock);
	if (l->n)
		buf_append_str(b,
			       "# HELP saltmill_topic_lag_offsets Offsets of each topic that are "
			       "in no published load.\n"
			       "# TYPE saltmill_topic_lag_offsets gauge\n");
	for (size_t i = 0; i < l->n; i++)
		buf_printf(b, "saltmill_topic_lag_offsets{topic=\"%s\"} %llu\n", l->item[i].topic,
			   (unsigned long long)l->item[i].lag);
	pthread_mutex_unlock(&l->lock);
}

static void format_stream(const struct stream_gauges *g, const struct progress *p, struct buf *b)
{
	put(b, "lag_offsets", "gauge", "Offsets of the topics that are in no published load.",
	    (double)g->lag);
	if (g->by_topic)
		put_topics(b, g->by_topic);
	put(b, "cut_offsets", "gauge", "Offsets of the open cut: not due yet, or being loaded.",
	    (double)g->cut);
	put(b, "cut_age_seconds", "gauge",
	    "Since the open cut's first event was seen; 0: it is empty.", cut_age_s(g));
	put(b, "cut_events_read", "gauge", "Events of the load that is being made, read so far.",
	    g->loading ? (double)p->events : 0);
	put(b, "parked_partitions", "gauge",
	    "Partitions that cannot go on and wait for somebody to mend them.", (double)g->parked);
	put(b, "missing_topics", "gauge",
	    "Topics of the job that were loaded and are not there any more, or may not be seen.",
	    (double)g->missing);
	put(b, "loading", "gauge", "1 while a load is being made.", g->loading);
	put(b, "loads_total", "counter", "Loads published since the start.", (double)g->loads);
	put(b, "events_total", "counter", "Events in published loads since the start.",
	    (double)g->events);
	put(b, "rejected_total", "counter", "Events of published loads that were rejected.",
	    (double)g->rejected);
	put(b, "last_published_timestamp_seconds", "gauge",
	    "When a load was published last; 0: never.", (double)g->published_ms / 1000);
}

static void format_follow(const struct follow_gauges *g, struct buf *b)
{
	int64_t oldest = g->oldest_ms;

	put(b, "unapplied_loads", "gauge", "Published loads that are not in HBase.",
	    (double)g->waiting);
	put(b, "oldest_unapplied_age_seconds", "gauge",
	    "Since the oldest of them was published; 0: there is none.",
	    oldest ? (double)(clock_wall_ms() - oldest) / 1000 : 0);
	put(b, "applied_loads_total", "counter", "Loads handed over to HBase since the start.",
	    (double)g->applied);
	put(b, "apply_failures_total", "counter",
	    "Attempts to hand a load over that failed since the start.", (double)g->failures);
	buf_append_str(
		b, "# HELP saltmill_apply_seconds_total From the publication of loads that were "
		   "handed over to their marks, by phase.\n"
		   "# TYPE saltmill_apply_seconds_total counter\n");
	for (size_t p = 0; p < FOLLOW_PHASES; p++)
		buf_printf(b, "saltmill_apply_seconds_total{phase=\"%s\"} %.17g\n", stream_phase(p),
			   (double)g->ms[p] / 1000);
	put(b, "stuck_states", "gauge",
	    "States (partitions where they are shared) whose next load was refused when it was "
	    "tried last, or that cannot be read.",
	    (double)g->stuck);
	put(b, "reading_paused", "gauge",
	    "1 while nothing is read, as --max-unapplied loads wait for HBase.", g->paused);
	put(b, "last_applied_timestamp_seconds", "gauge",
	    "When a load was handed over last; 0: never.", (double)g->applied_ms / 1000);
}

static void format(const struct metrics *m, struct buf *b)
{
	if (m->shown.stream)
		format_stream(m->shown.stream, m->shown.progress, b);
	if (m->shown.follow)
		format_follow(m->shown.follow, b);
}

/* --- connections --- */

static void leave(struct metrics *m, size_t i)
{
	m->nplaces--;
	memmove(&m->places[i], &m->places[i + 1], (m->nplaces - i) * sizeof *m->places);
}

/*
 * Shuts the connection down. The server then closes it; the descriptor is valid until on_connection
 * reports that.
 */
static void hang_up(struct metrics *m, size_t i)
{
	shutdown(m->places[i].fd, SHUT_RDWR);
	leave(m, i);
}

static void on_connection(void *ctx, struct MHD_Connection *c, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	struct metrics *m = ctx;

	(void)context;
	pthread_mutex_lock(&m->lock);
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		if (m->nplaces == PLACES)
			hang_up(m, 0);
		m->places[m->nplaces++] = (struct metric_place){
			c,
			MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
			clock_ms()};
	} else {
		for (size_t i = 0; i < m->nplaces; i++)
			if (m->places[i].connection == c) {
				leave(m, i);
				break;
			}
	}
	pthread_mutex_unlock(&m->lock);
}

static void sweep(void *ctx)
{
	struct metrics *m = ctx;

	pthread_mutex_lock(&m->lock);
	while (m->nplaces && clock_ms() - m->places[0].since_ms > LIFE_MS)
		hang_up(m, 0);
	pthread_mutex_unlock(&m->lock);
}

/* --- answers --- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, struct buf *body)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(body->len, body->ptr, MHD_RESPMEM_MUST_COPY);

	buf_release(body);
	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
	MHD_add_response_header(r, "Connection", "close");
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

/* Parses "host:port" with a numeric host; IPv6 in brackets. */
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

int metrics_start(struct metrics **out, const char *address, const struct metrics_of *shown,
		  struct error *err)
{
	struct addrinfo *at = find_address(address);

	if (!at)
		return error_set(err, RC_CONFIG,
				 "--metrics: found `%s`, expected ADDRESS:PORT like "
				 "127.0.0.1:9109",
				 address);
	if (late_need(LATE_MICROHTTPD, err)) {
		freeaddrinfo(at);
		return err->code;
	}
	struct metrics *m = mem_calloc(1, sizeof *m);
	/* select cannot watch descriptors above 1023, which a process with many partitions has */
	unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD;
	if (at->ai_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	pthread_mutex_init(&m->lock, NULL);
	m->shown = *shown;
	m->daemon =
		MHD_start_daemon(flags, 0, NULL, NULL, on_request, m, MHD_OPTION_SOCK_ADDR,
				 at->ai_addr, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_AT_ONCE,
				 MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
				 MHD_OPTION_NOTIFY_CONNECTION, on_connection, m, MHD_OPTION_END);
	freeaddrinfo(at);
	if (!m->daemon) {
		pthread_mutex_destroy(&m->lock);
		mem_free(m);
		return error_set(err, RC_CONFIG, "--metrics: cannot listen on %s", address);
	}
	m->sweeper = ticker_start(SWEEP_MS, sweep, m);
	*out = m;
	return RC_OK;
}

void metrics_stop(struct metrics *m)
{
	if (!m)
		return;
	ticker_stop(m->sweeper);
	MHD_stop_daemon(m->daemon);
	pthread_mutex_destroy(&m->lock);
	mem_free(m);
}
