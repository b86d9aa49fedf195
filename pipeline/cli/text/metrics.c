/*
 * metrics.c - serves the metrics over HTTP with libmicrohttpd
 *
 * A connection serves one request. libmicrohttpd restarts its timeout with each byte, so a slow
 * client could hold a connection forever. Therefore each connection has a maximum age. If there are
 * too many connections, the server closes the oldest one.
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
#include "process_figures.h"

#define PLACES	     32
#define MOST_AT_ONCE 256 /* includes closed connections that libmicrohttpd has not released yet */
#define LIFE_MS	     5000
#define IDLE_S	     10 /* time limit for a client that does not read the answer */
#define SWEEP_MS     500

/* An open connection. The list of connections is in order of arrival. */
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

/* The text of an answer. */
struct page {
	struct buf *out;
	const char *label; /* label of each series, such as job_file="clicks.yaml", or "" */
};

static void put_head(const struct page *b, const char *name, const char *type, const char *help)
{
	buf_printf(b->out, "# HELP saltmill_%s %s\n# TYPE saltmill_%s %s\n", name, help, name,
		   type);
}

static void put(const struct page *b, const char *name, const char *type, const char *help,
		double value)
{
	const char *open = *b->label ? "{" : "", *close = *b->label ? "}" : "";

	put_head(b, name, type, help);
	buf_printf(b->out, "saltmill_%s%s%s%s %.17g\n", name, open, b->label, close, value);
}

static double cut_age_s(const struct stream_gauges *g)
{
	int64_t since = g->cut_since_ms;

	return since ? (double)(clock_ms() - since) / 1000 : 0;
}

/* Appends a series of a topic, or of its partition. */
static void put_place(const struct page *b, const char *name, const struct partition_lag *p,
		      bool partition, double value)
{
	buf_printf(b->out, "saltmill_%s{%s%stopic=\"%s\"", name, b->label, *b->label ? "," : "",
		   p->topic);
	if (partition)
		buf_printf(b->out, ",partition=\"%d\"", (int)p->partition);
	buf_printf(b->out, "} %.17g\n", value);
}

static double lag_s(const struct partition_lag *p)
{
	return p->lag ? (double)(clock_ms() - p->since_ms) / 1000 : 0;
}

/* Appends the lag of each topic. The partitions of a topic follow each other. */
static void put_topics(const struct page *b, const struct topic_lags *l)
{
	put_head(b, "topic_lag_offsets", "gauge",
		 "Offsets of each topic that are in no published load.");
	for (size_t i = 0, next = 0; i < l->n; i = next) {
		uint64_t lag = 0;

		for (; next < l->n && strcmp(l->item[next].topic, l->item[i].topic) == 0; next++)
			lag += l->item[next].lag;
		put_place(b, "topic_lag_offsets", &l->item[i], false, (double)lag);
	}
}

/*
 * Appends the lags of topics and partitions. A topic name needs no escapes, because it contains
 * only letters, digits and the characters . _ -
 */
static void put_lags(const struct page *b, struct topic_lags *l)
{
	double most = 0;

	pthread_mutex_lock(&l->lock);
	if (l->n) {
		put_topics(b, l);
		put_head(b, "partition_lag_offsets", "gauge",
			 "Offsets of each partition that are in no published load.");
		for (size_t i = 0; i < l->n; i++)
			put_place(b, "partition_lag_offsets", &l->item[i], true,
				  (double)l->item[i].lag);
		put_head(b, "partition_lag_seconds", "gauge",
			 "Time since which messages of the partition may be in no published load; "
			 "0 if loads have all messages.");
		for (size_t i = 0; i < l->n; i++)
			put_place(b, "partition_lag_seconds", &l->item[i], true,
				  lag_s(&l->item[i]));
	}
	for (size_t i = 0; i < l->n; i++)
		most = lag_s(&l->item[i]) > most ? lag_s(&l->item[i]) : most;
	pthread_mutex_unlock(&l->lock);
	put(b, "lag_seconds", "gauge", "The highest saltmill_partition_lag_seconds.", most);
}

static void format_stream(const struct stream_gauges *g, const struct progress *p,
			  const struct page *b)
{
	put(b, "lag_offsets", "gauge", "Offsets of the topics that are in no published load.",
	    (double)g->lag);
	if (g->by_topic)
		put_lags(b, g->by_topic);
	put(b, "cut_offsets", "gauge",
	    "Offsets of the open cut, which waits for its load or loads.", (double)g->cut);
	put(b, "cut_age_seconds", "gauge",
	    "Age of the first event in the open cut; 0 if the cut is empty.", cut_age_s(g));
	put(b, "cut_events_read", "gauge", "Events read for the load in progress.",
	    g->loading ? (double)p->events : 0);
	put(b, "parked_partitions", "gauge",
	    "Partitions that wait until an operator fixes their problem.", (double)g->parked);
	put(b, "missing_topics", "gauge",
	    "Loaded topics that no longer exist or that saltmill may not read.",
	    (double)g->missing);
	put(b, "loading", "gauge", "1 while a load is in progress.", g->loading);
	put(b, "loads_total", "counter", "Loads published since the start.", (double)g->loads);
	put(b, "events_total", "counter", "Events in published loads since the start.",
	    (double)g->events);
	put(b, "rejected_total", "counter", "Rejected events of published loads since the start.",
	    (double)g->rejected);
	put(b, "last_published_timestamp_seconds", "gauge",
	    "Time of the last publication; 0 if there was none.", (double)g->published_ms / 1000);
}

static void format_follow(const struct follow_gauges *g, const struct page *b)
{
	int64_t oldest = g->oldest_ms;

	put(b, "unapplied_loads", "gauge", "Published loads that are not in HBase.",
	    (double)g->waiting);
	put(b, "oldest_unapplied_age_seconds", "gauge",
	    "Age of the oldest published load that is not in HBase; 0 if there is none.",
	    oldest ? (double)(clock_wall_ms() - oldest) / 1000 : 0);
	put(b, "applied_loads_total", "counter", "Loads applied to HBase since the start.",
	    (double)g->applied);
	put(b, "apply_failures_total", "counter",
	    "Failed attempts to apply a load since the start.", (double)g->failures);
	put_head(b, "apply_seconds_total", "counter",
		 "Time from the publication of applied loads to their marks, by phase.");
	for (size_t p = 0; p < FOLLOW_PHASES; p++)
		buf_printf(b->out, "saltmill_apply_seconds_total{%s%sphase=\"%s\"} %.17g\n",
			   b->label, *b->label ? "," : "", stream_phase(p),
			   (double)g->ms[p] / 1000);
	put(b, "stuck_states", "gauge",
	    "States, or partitions of a shared state, that saltmill cannot read or whose next "
	    "load HBase refused.",
	    (double)g->stuck);
	put(b, "reading_paused", "gauge",
	    "1 while the stream does not read, because --max-unapplied loads wait for HBase.",
	    g->paused);
	put(b, "last_applied_timestamp_seconds", "gauge",
	    "Time when apply finished the last load; 0 before the first load.",
	    (double)g->applied_ms / 1000);
}

/* Appends a series of reads and one of writes. */
static void put_kinds(const struct page *b, const char *name, const _Atomic double share[2])
{
	static const char *const kinds[] = {"read", "write"};

	for (int k = 0; k < 2; k++)
		buf_printf(b->out, "saltmill_%s{%s%skind=\"%s\"} %.17g\n", name, b->label,
			   *b->label ? "," : "", kinds[k], share[k]);
}

static void format_watch(const struct watch_gauges *g, const struct page *b)
{
	put(b, "watched_reads_total", "counter", "Read requests of the table since the start.",
	    (double)g->reads);
	put(b, "watched_writes_total", "counter", "Write requests of the table since the start.",
	    (double)g->writes);
	put(b, "watched_reads_per_second", "gauge", "Read requests in the newest window.",
	    g->reads_s);
	put(b, "watched_writes_per_second", "gauge", "Write requests in the newest window.",
	    g->writes_s);
	put_head(b, "busiest_region_share", "gauge",
		 "Share of the busiest region in the newest window, 0 to 1.");
	put_kinds(b, "busiest_region_share", g->region_share);
	put_head(b, "busiest_server_share", "gauge",
		 "Share of the busiest server in the newest window, 0 to 1.");
	put_kinds(b, "busiest_server_share", g->server_share);
	put(b, "hot_share", "gauge",
	    "Share of the hot region or server in the newest window; 0 if there is none.",
	    g->hot_share);
	put(b, "watched_regions", "gauge", "Regions of the table.", (double)g->regions);
	put(b, "watch_windows_total", "counter", "Windows since the start.", (double)g->windows);
	put(b, "regions_made_total", "counter",
	    "Regions that splits and merges made since the start.", (double)g->made);
	put(b, "regions_moved_total", "counter", "Moves of regions since the start.",
	    (double)g->moved);
	put(b, "counters_restarted_total", "counter",
	    "Counters that restarted since the start, because a region was opened again.",
	    (double)g->restarted);
}

/*
 * Writes a label. The label of the job file's name is not `job`, because Prometheus sets that label
 * itself and would rename this one.
 */
static void put_label(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, "%s%s=\"", b->len ? "," : "", name);
	for (const char *at = value; *at; at++) {
		if (*at == '\n') {
			buf_append_str(b, "\\n");
			continue;
		}
		if (*at == '"' || *at == '\\')
			buf_put(b, '\\');
		buf_put(b, (uint8_t)*at);
	}
	buf_put(b, '"');
}

static void format(const struct metrics *m, struct buf *b)
{
	struct buf label = {0};

	if (m->shown.job_path) {
		const char *slash = strrchr(m->shown.job_path, '/');

		put_label(&label, "job_file", slash ? slash + 1 : m->shown.job_path);
	}
	if (m->shown.watch)
		put_label(&label, "table", m->shown.watch->table);
	buf_put(&label, 0);
	const struct page page = {b, (const char *)label.ptr};
	if (m->shown.stream)
		format_stream(m->shown.stream, m->shown.progress, &page);
	if (m->shown.follow)
		format_follow(m->shown.follow, &page);
	if (m->shown.watch)
		format_watch(m->shown.watch, &page);
	buf_release(&label);
	process_figures(b);
}

/* --- connections --- */

static void leave(struct metrics *m, size_t i)
{
	m->nplaces--;
	memmove(&m->places[i], &m->places[i + 1], (m->nplaces - i) * sizeof *m->places);
}

/*
 * Shuts the connection down. The server then closes it. The descriptor is valid until on_connection
 * reports the close.
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
		buf_append_str(&body, "found another method, expected GET\n");
		return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, &body);
	}
	if (strcmp(url, "/metrics") != 0) {
		buf_append_str(&body, "found another path, expected /metrics\n");
		return answer(connection, MHD_HTTP_NOT_FOUND, &body);
	}
	format(ctx, &body);
	return answer(connection, MHD_HTTP_OK, &body);
}

/* Parses "host:port" with a numeric host. An IPv6 address is in brackets. */
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
	/* AUTO avoids select, which cannot watch descriptors above 1023 */
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
