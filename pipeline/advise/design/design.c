/* design.c - find designs for questions: read, measure each key, combine, rank */
#include "design.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "explain_designs.h"
#include "designs.h"
#include "pool.h"
#include "run.h"

#define YEAR_S		   (365.25 * 86400)
#define KEY_BYTES	   16 /* of a usual key, for the memory of a thread */
#define REGIONS_PER_SERVER 8  /* most regions of a server in the model */

const struct design_constants design_constants_usual = {.seek_s = 1e-3,
							.block_s = 0.5e-3,
							.row_s = 2e-6,
							.get_s = 0.4e-3,
							.write_row_s = 20e-6,
							.write_byte_s = 10 / 200e6 * 2 * 0.25};

const char *const design_plans[] = {"get", "range", "index", "full", NULL};
const char *const design_kinds[] = {"base", "copy", "index", "covering", NULL};

struct design_run {
	const struct design_options *o;
	struct design_result *out;
	struct events e;
	struct asks asks;
	struct field_forms forms;
	struct draws *draws; /* [asks] */
	struct candidates keys;
	struct measured_key *measured; /* [keys] */
	uint32_t *ranks;	       /* of arrival_ranks */
	struct keyed_room *rooms;      /* [threads] */
	struct wanted_load load;
	struct progress *progress;
	uint64_t repeated; /* events that equal another event in all fields */
};

/* --- the load --- */

static const struct event_column *first_time(const struct events *e)
{
	for (size_t f = 0; f < e->job->nfields; f++)
		if (e->job->fields[f].type == FIELD_TIME && !e->column[f].nulls)
			return &e->column[f];
	return NULL;
}

static void set_load(struct design_run *r)
{
	const struct design_options *o = r->o;
	struct wanted_load *l = &r->load;
	const struct event_column *time = first_time(&r->e);
	double n = (double)r->e.n;

	l->constants = *(o->constants ? o->constants : &design_constants_usual);
	l->servers = o->servers;
	l->grow_time = o->grow_time;
	l->span_s = time ? (double)(time->most - time->least) / 1000 : 0;
	double rate = l->span_s > 0 ? n / l->span_s : 0;
	l->writes = o->writes > 0 ? o->writes : rate;
	l->rows = o->rows > 0 ? o->rows : o->writes > 0 ? o->writes * YEAR_S : n;
	l->faster = rate > 0 && l->writes > 0 ? l->writes / rate : 1;
	l->longer = l->rows / n / l->faster;
	l->kept_s = o->rows > 0 && o->writes > 0 ? o->rows / o->writes : 0;
	if (!time)
		buf_printf(&r->asks.notes,
			   "the events have no time in each row: writes are those of --writes, and "
			   "arrive in the order of the input\n");
	if (o->writes > 0 && !(o->rows > 0))
		buf_printf(&r->asks.notes, "no --rows: taken as a year of %g/s\n", o->writes);
}

static size_t regions_of(const struct design_run *r, double row_bytes)
{
	double bytes = r->load.rows * row_bytes * r->o->disk_ratio;
	double regions = ceil(bytes / (double)REGION_BYTES);
	double least = 2 * r->load.servers, most = REGIONS_PER_SERVER * r->load.servers;

	return (size_t)fmin(fmax(regions, least), most);
}

/* --- measuring the keys --- */

/* Keep the heat map of the writes, without the counts of each window. */
static void keep_map(struct measured_key *m, const struct written_regions *w, double writes)
{
	struct hotspot h = {.every = 1, .replay = w->replay, .grown = w->replay.grown};

	hotspot_map(&h);
	m->writes = h;
	m->writes.window_s = writes > 0 ? (double)w->replay.window / writes : 0;
	m->writes.replay.counts = NULL;
	m->writes.replay.server_share = NULL;
	m->writes.share = arena_dup(m->arena, h.share, h.bands * h.columns * sizeof *h.share);
	m->writes.server = arena_dup(m->arena, h.server, h.columns * sizeof *h.server);
	mem_free(h.share);
	mem_free(h.server);
}

static void keep_writes(struct measured_key *m, const struct written_regions *w, unsigned servers)
{
	const struct write_replay *p = &w->replay;

	m->regions = p->regions;
	m->written = p->written;
	m->busiest_region = p->region.mean;
	m->grown = p->grown;
	m->server_mean = p->server.mean;
	m->server_p99 = p->server.p99;
	for (unsigned i = 0; i < servers; i++)
		m->server_share[i] = p->server_share[i];
}

/* Return the events of the largest row. */
static size_t most_events(const struct keyed *k)
{
	size_t most = 1, at = 0;

	for (size_t i = 1; k->candidate->joined && i <= k->e->n; i++)
		if (i == k->e->n || k->rows_below[i] > k->rows_below[i - 1]) {
			most = i - at > most ? i - at : most;
			at = i;
		}
	return most;
}

static int measure_key(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct design_run *r = ctx;
	struct measured_key *m = &r->measured[index];
	struct written_regions w = {0};
	struct keyed k;

	int rc = stop_check(err);
	if (rc)
		return rc;
	keyed_make(&k, &r->e, m->key, &r->rooms[worker]);
	m->hidden = k.hidden;
	m->usable = !k.failed && k.hidden <= r->repeated;
	m->key_bytes = (double)k.keys_len / (double)r->e.n;
	double rows = (double)k.rows_below[r->e.n];
	m->row_events = m->key->joined ? (double)r->e.n / rows : 1;
	m->row_most = most_events(&k);
	m->row_bytes = (double)k.bytes_below[r->e.n] / rows / m->row_events;
	if (!k.failed)
		rc = written_make(&w, &k, r->ranks, regions_of(r, m->row_bytes), r->load.servers,
				  (uint64_t)(r->load.writes * 60), err);
	for (size_t q = 0; rc == RC_OK && !k.failed && q < r->asks.n; q++)
		rc = cost_measure(&m->cost[q], &r->asks.ask[q], &r->draws[q], &k, &w, &r->load,
				  m->arena, err);
	if (rc == RC_OK && !k.failed)
		keep_writes(m, &w, r->load.servers);
	if (rc == RC_OK && !k.failed)
		keep_map(m, &w, r->load.writes);
	written_release(&w);
	keyed_release(&k);
	progress_add(r->progress, 1);
	return rc;
}

static unsigned threads_for(const struct design_run *r)
{
	uint64_t each = r->e.n * (uint64_t)(KEYED_ROOM_BYTES + KEY_BYTES) + (1 << 20);
	uint64_t fit = r->o->run->memory_bytes / 2 / each;
	unsigned most = r->o->run->threads;

	return fit < 1 ? 1 : fit < most ? (unsigned)fit : most;
}

static int measure_keys(struct design_run *r, struct error *err)
{
	struct arena *a = &r->out->arena;

	r->measured = arena_alloc(a, (r->keys.n + 1) * sizeof *r->measured);
	for (size_t i = 0; i < r->keys.n; i++) {
		struct measured_key *m = &r->measured[i];

		m->key = &r->keys.key[i];
		m->cost = arena_alloc(a, (r->asks.n + 1) * sizeof *m->cost);
		m->server_share = arena_alloc(a, r->load.servers * sizeof *m->server_share);
		m->arena = mem_calloc(1, sizeof *m->arena);
	}
	unsigned threads = threads_for(r);
	r->rooms = mem_calloc(threads, sizeof *r->rooms);
	progress_begin(r->progress, "measuring keys", PROGRESS_FILES, r->keys.n);
	int rc = pool_run(threads, r->keys.n, measure_key, r, err);
	for (unsigned i = 0; i < threads; i++)
		keyed_room_close(&r->rooms[i]);
	mem_free(r->rooms);
	return rc;
}

/* --- questions --- */

static int read_asks(struct design_run *r, struct error *err)
{
	struct arena *a = &r->out->arena;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < r->o->nasks; i++)
		rc = ask_read(&r->asks, r->o->asks[i].text, r->o->asks[i].rate, &r->e, a, err);
	if (rc == RC_OK)
		rc = field_forms_open(&r->forms, r->e.job, err);
	r->draws = mem_calloc(r->asks.n + 1, sizeof *r->draws);
	for (size_t i = 0; rc == RC_OK && i < r->asks.n; i++)
		rc = draws_make(&r->draws[i], &r->asks.ask[i], &r->e, &r->forms, err);
	return rc;
}

/*
 * Take the returned rows of each question from a key with exact ranges, or count them. Then scale
 * them to the wanted load.
 */
static void count_returned(struct design_run *r)
{
	for (size_t q = 0; q < r->asks.n; q++) {
		struct draws *d = &r->draws[q];

		for (size_t i = 0; i < r->keys.n && !d->counted; i++) {
			const struct cost *c = &r->measured[i].cost[q];

			d->counted = c->counted;
			d->returned = c->returned;
		}
		if (!d->counted)
			draws_count(d, &r->asks.ask[q], &r->e);
		returned_grow(&d->returned, &r->asks.ask[q], d, &r->e, &r->load);
	}
}

static int find(struct design_run *r, struct error *err)
{
	const struct design_options *o = r->o;
	struct combinations all;

	if (o->only_job)
		keys_of_job(&r->keys, &r->e, &r->out->arena);
	else
		keys_list(&r->keys, &r->asks, &r->e, o->servers,
			  r->load.grow_time ? r->load.faster * r->load.longer : r->load.longer,
			  &r->out->arena);
	r->repeated = events_repeated(&r->e);
	r->ranks = arrival_ranks(&r->e);
	int rc = measure_keys(r, err);
	if (rc)
		return rc;
	count_returned(r);
	struct designer d = {.e = &r->e,
			     .asks = &r->asks,
			     .load = &r->load,
			     .keys = r->measured,
			     .nkeys = r->keys.n,
			     .tables_most = o->tables,
			     .disk_ratio = o->disk_ratio,
			     .a = &r->out->arena};
	if (o->only_job) {
		if (!r->measured[0].regions)
			return error_set(err, RC_DATA, "the events cannot have the key of table %s",
					 r->e.job->tables[0].schema.name);
		design_describe_job(r->out, &d, r->draws);
		return RC_OK;
	}
	combinations_list(&all, &d);
	if (!all.n)
		return error_set(err, RC_CONFIG,
				 "no key separates all events: add a field that differs, or accept "
				 "{hash: md5, of: [every field]}");
	combinations_rank(&all, &d);
	design_describe(r->out, &d, &all, r->draws);
	return RC_OK;
}

static void release(struct design_run *r)
{
	for (size_t i = 0; r->draws && i < r->asks.n; i++)
		draws_release(&r->draws[i]);
	for (size_t i = 0; r->measured && i < r->keys.n; i++) {
		arena_release(r->measured[i].arena);
		mem_free(r->measured[i].arena);
	}
	mem_free(r->draws);
	mem_free(r->ranks);
	buf_release(&r->asks.notes);
	field_forms_close(&r->forms);
	events_release(&r->e);
}

int design_run(struct design_result *out, const struct design_options *o, struct progress *progress,
	       struct error *err)
{
	struct design_run r = {.o = o, .out = out, .progress = progress};

	*out = (struct design_result){.servers = o->servers, .disk_ratio = o->disk_ratio};
	progress_begin(progress, "reading", PROGRESS_SECONDS, 0);
	if (o->only_job && o->job->ntables > DESIGN_JOB_TABLES_MOST)
		return error_set(err, RC_CONFIG, "found %zu tables, expected at most %d",
				 o->job->ntables, DESIGN_JOB_TABLES_MOST);
	int rc = events_read(&r.e, o->job, o->input, o->fraction, o->run->memory_bytes / 2, err);
	if (rc == RC_OK && r.e.n == 0)
		rc = error_set(err, RC_DATA, "found no events, expected at least one");
	if (rc == RC_OK) {
		set_load(&r);
		rc = read_asks(&r, err);
	}
	if (rc == RC_OK)
		rc = find(&r, err);
	out->events = r.e.n;
	out->rejected = r.e.rejected;
	release(&r);
	return rc;
}

void design_release(struct design_result *r)
{
	arena_release(&r->arena);
}
