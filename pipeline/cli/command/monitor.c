#include "monitor.h"

#include <pthread.h>

#include "clock.h"
#include "terminal.h"
#include "bytes.h"
#include "pool.h"

#define TICK_MS	 250
#define AGAIN_MS 30000

struct monitor {
	struct metrics_of shown;
	struct ticker *ticker;
	pthread_mutex_t lock; /* protects standard error and standard output */
	bool terminal;
	struct meter meter;
	/* if there is no terminal, the last printed line and its time */
	struct stream_view said;
	uint64_t said_events;
	int64_t said_ms;
};

struct stream_view monitor_look(const struct metrics_of *of, struct meter *m, uint64_t *events)
{
	const struct stream_gauges *g = of->stream;
	int64_t now = clock_ms(), since = g->cut_since_ms, published = g->published_ms;
	struct stream_view v = {.lag = g->lag,
				.loads = g->loads,
				.cut = g->cut,
				.parked = g->parked,
				.loading = g->loading};

	if (v.loading)
		v.cut_read = of->progress->events;
	if (of->follow)
		v.waiting = of->follow->waiting;
	*events = g->events + v.cut_read;
	v.rate = meter_rate(m, now, *events);
	v.cut_age_s = since ? (double)(now - since) / 1000 : 0;
	v.published_s = published ? (double)(clock_wall_ms() - published) / 1000 : -1;
	return v;
}

/* Returns true if the line differs from the last printed line. */
static bool is_news(const struct monitor *w, const struct stream_view *v, uint64_t events)
{
	return w->said_ms == 0 || v->lag != w->said.lag || v->loads != w->said.loads ||
	       v->parked != w->said.parked || v->waiting != w->said.waiting || v->loading ||
	       events != w->said_events;
}

static void show(void *ctx)
{
	struct monitor *w = ctx;
	struct buf line = {0};
	uint64_t events;

	pthread_mutex_lock(&w->lock);
	int64_t now = clock_ms();
	struct stream_view v = monitor_look(&w->shown, &w->meter, &events);
	bool due = w->said_ms == 0 || now - w->said_ms >= AGAIN_MS;
	if (w->shown.stream->looked && (w->terminal || (due && is_news(w, &v, events)))) {
		stream_text(&line, &v);
		if (w->terminal)
			terminal_line(buf_bytes(&line));
		else
			fprintf(stderr, "saltmill stream: %.*s\n", (int)line.len,
				(const char *)line.ptr);
		fflush(stderr);
		w->said = v;
		w->said_events = events;
		w->said_ms = now;
	}
	pthread_mutex_unlock(&w->lock);
	buf_release(&line);
}

struct monitor *monitor_start(const struct metrics_of *shown)
{
	struct monitor *w = mem_calloc(1, sizeof *w);

	w->shown = *shown;
	w->terminal = terminal_rewrites();
	pthread_mutex_init(&w->lock, NULL);
	w->ticker = ticker_start(TICK_MS, show, w);
	return w;
}

void monitor_stop(struct monitor *w)
{
	if (!w)
		return;
	ticker_stop(w->ticker);
	terminal_clear();
	pthread_mutex_destroy(&w->lock);
	mem_free(w);
}

void monitor_print(struct monitor *w, FILE *to, const char *fmt, ...)
{
	va_list args;
	if (w)
		pthread_mutex_lock(&w->lock);
	char sentence[8192];
	struct buf shown = {0};
	va_start(args, fmt);
	vsnprintf(sentence, sizeof sentence, fmt, args);
	va_end(args);
	text_lines(&shown, bytes_str(sentence));
	buf_put(&shown, '\n');
	terminal_print(to, buf_bytes(&shown));
	buf_release(&shown);
	if (w)
		pthread_mutex_unlock(&w->lock);
}
