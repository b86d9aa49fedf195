/* combine.c - designs of one to three tables, and their load */
#include "designs.h"

#include <stdlib.h>

#define BASES_MOST 12  /* tables to which design adds other tables */
#define ADDED_MOST 4   /* further tables to try for a question */
#define WORTH	   1.5 /* a further table makes its question so many times cheaper */
#define PAIRS_MOST 12

double index_row_bytes(double key_bytes, double base_key_bytes)
{
	/* one cell: lengths, row, family, qualifier, timestamp, type, value, and its sequence */
	return 4 + 4 + 2 + key_bytes + 1 + 1 + 1 + 8 + 1 + base_key_bytes + 1;
}

static double seconds_of_index(const struct designer *d, const struct measured_key *k, size_t ask,
			       double base_key_bytes)
{
	const struct cost *c = &k->cost[ask];
	const struct design_constants *s = &d->load->constants;
	double bytes = c->rows.mean * index_row_bytes(k->key_bytes, base_key_bytes);

	return c->ranges.mean * s->seek_s + bytes / 65536 * s->block_s +
	       c->rows.mean * (s->row_s + s->get_s);
}

double combination_seconds(const struct designer *d, const struct combination *c, size_t table,
			   size_t ask)
{
	const struct measured_key *k = &d->keys[c->key[table]];

	if (c->index[table])
		return seconds_of_index(d, k, ask, d->keys[c->key[0]].key_bytes);
	if (c->cover[table])
		return cover_seconds(d, k, ask, cover_row_bytes(d, k, c->cover[table] - 1));
	return k->cost[ask].seconds.mean;
}

double combination_row_bytes(const struct designer *d, const struct combination *c, size_t t)
{
	const struct measured_key *k = &d->keys[c->key[t]];

	if (c->cover[t])
		return cover_row_bytes(d, k, c->cover[t] - 1);
	return c->index[t] ? index_row_bytes(k->key_bytes, d->keys[c->key[0]].key_bytes)
			   : k->row_bytes;
}

/* Return the p99 of an index or covering table, whose mean differs from that of a copy. */
static double other_p99(const struct designer *d, const struct combination *c, size_t t, size_t ask)
{
	const struct measured_key *k = &d->keys[c->key[t]];
	double mean = k->cost[ask].seconds.mean;

	return mean > 0 ? combination_seconds(d, c, t, ask) * k->cost[ask].seconds.p99 / mean : 0;
}

static void choose_tables(const struct designer *d, struct combination *c)
{
	for (size_t q = 0; q < d->asks->n; q++) {
		size_t best = 0;

		for (size_t t = 1; t < c->n; t++)
			if (table_answers(d, c, t, q) &&
			    combination_seconds(d, c, t, q) < combination_seconds(d, c, best, q))
				best = t;
		c->answered_by[q] = best;
	}
}

/* Add the reads of all questions to the servers. */
static void add_reads(const struct designer *d, struct combination *c, double *server,
		      const size_t *first)
{
	for (size_t q = 0; q < d->asks->n; q++) {
		size_t t = c->answered_by[q];
		const struct measured_key *k = &d->keys[c->key[t]];
		const struct cost *cost = &k->cost[q];
		double seconds = d->asks->ask[q].rate * combination_seconds(d, c, t, q);

		c->total += seconds;
		for (size_t r = 0; r < k->regions; r++)
			server[(first[t] + r) % d->load->servers] += seconds * cost->region[r];
		double p99 = c->index[t] || c->cover[t] ? other_p99(d, c, t, q) : cost->seconds.p99;
		c->worst_p99 = p99 > c->worst_p99 ? p99 : c->worst_p99;
		c->filtered = c->filtered || cost->filtered;
		c->reversed = c->reversed || cost->reversed;
	}
}

/* Add the writes of all tables to the servers. Returns what the busiest minutes add. */
static double add_writes(const struct designer *d, struct combination *c, double *server,
			 double *written, const size_t *first)
{
	const struct design_constants *s = &d->load->constants;
	double bursts = 0, mean = 0;

	for (size_t t = 0; t < c->n; t++) {
		const struct measured_key *k = &d->keys[c->key[t]];
		double one = s->write_row_s + combination_row_bytes(d, c, t) * s->write_byte_s;
		double seconds = d->load->writes * one;

		c->write_seconds += seconds;
		for (size_t i = 0; i < d->load->servers; i++) {
			size_t at = (first[t] + i) % d->load->servers;

			server[at] += seconds * k->server_share[i];
			written[at] += seconds * k->server_share[i];
		}
		/* shares of a minute exceed those of all minutes */
		double most = 0;
		for (size_t i = 0; i < d->load->servers; i++)
			most = k->server_share[i] > most ? k->server_share[i] : most;
		bursts += seconds * (k->server_p99 - most);
		mean += seconds * (k->server_mean - most);
		c->one_region = c->one_region || k->busiest_region > 0.5;
	}
	c->total += c->write_seconds;
	c->busiest_write = mean;
	return bursts;
}

static double largest_of(const double *v, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = v[i] > most ? v[i] : most;
	return most;
}

static void add_load(const struct designer *d, struct combination *c)
{
	double *server = mem_calloc(d->load->servers, sizeof *server);
	double *written = mem_calloc(d->load->servers, sizeof *written);
	size_t first[CHOSEN_MOST] = {0};

	for (size_t t = 1; t < c->n; t++)
		first[t] = first[t - 1] + d->keys[c->key[t - 1]].regions;
	add_reads(d, c, server, first);
	double bursts = add_writes(d, c, server, written, first);
	double most = largest_of(written, d->load->servers);
	c->busiest = largest_of(server, d->load->servers) + bursts;
	c->busiest_write_p99 = c->write_seconds > 0 ? (most + bursts) / c->write_seconds : 0;
	c->busiest_write = c->write_seconds > 0 ? (most + c->busiest_write) / c->write_seconds : 0;
	mem_free(server);
	mem_free(written);
}

struct combination combination_make(const struct designer *d, const size_t *keys, const bool *index,
				    const size_t *cover, size_t n)
{
	struct combination c = {.n = n};

	c.answered_by = arena_alloc(d->a, (d->asks->n + 1) * sizeof *c.answered_by);
	for (size_t t = 0; t < n; t++) {
		c.key[t] = keys[t];
		c.index[t] = index[t];
		c.cover[t] = cover ? cover[t] : 0;
	}
	for (size_t t = 0; t < n; t++) {
		c.key_bytes += (size_t)(d->keys[keys[t]].key_bytes + 0.5);
		c.parts += d->keys[keys[t]].key->table.nrowkey;
		c.wide = c.wide || d->keys[keys[t]].key->nqualifier;
		c.stored += d->load->rows * combination_row_bytes(d, &c, t) * d->disk_ratio;
	}
	choose_tables(d, &c);
	add_load(d, &c);
	return c;
}

static void add(struct combinations *out, const struct designer *d, const size_t *keys,
		const bool *index, const size_t *cover, size_t n)
{
	out->item = arena_grow(d->a, out->item, out->n, sizeof *out->item);
	out->item[out->n++] = combination_make(d, keys, index, cover, n);
}

/* --- further tables --- */

enum further { FURTHER_COPY, FURTHER_INDEX, FURTHER_COVER };

struct extension {
	size_t key;
	double seconds;
};

static int compare_extensions(const void *x, const void *y)
{
	const struct extension *a = x, *b = y;

	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? -1 : 1;
	return (a->key > b->key) - (a->key < b->key);
}

static bool has_key(const struct combination *c, size_t key)
{
	for (size_t t = 0; t < c->n; t++)
		if (c->key[t] == key)
			return true;
	return false;
}

/* Return the seconds of the question on a further table, or a negative number if none can be. */
static double further_seconds(const struct designer *d, const struct combination *c,
			      const struct measured_key *m, size_t ask, enum further kind)
{
	double row;

	switch (kind) {
	case FURTHER_COPY: return m->cost[ask].seconds.mean;
	case FURTHER_INDEX: return seconds_of_index(d, m, ask, d->keys[c->key[0]].key_bytes);
	case FURTHER_COVER:
		row = cover_row_bytes(d, m, ask);
		return row > 0 && row * WORTH <= m->row_bytes ? cover_seconds(d, m, ask, row) : -1;
	}
	return -1;
}

/* Add the combinations that have one more table for a question. */
static void extend_for(struct combinations *out, const struct designer *d,
		       const struct combination *c, size_t ask, enum further kind)
{
	double now = combination_seconds(d, c, c->answered_by[ask], ask);
	struct extension *x = mem_calloc(d->nkeys + 1, sizeof *x);
	bool base_is_wide = d->keys[c->key[0]].key->nqualifier;
	size_t n = 0;

	for (size_t k = 0; k < d->nkeys; k++) {
		const struct measured_key *m = &d->keys[k];
		bool again = has_key(c, k) && kind != FURTHER_COVER;

		/* a row of an index or a covering table is for one event */
		again = again || ((m->key->nqualifier || base_is_wide) && kind != FURTHER_COPY);
		if (!m->usable || again || (m->key->obvious && !m->key->unique))
			continue;
		double s = further_seconds(d, c, m, ask, kind);
		if (s >= 0 && s * WORTH <= now)
			x[n++] = (struct extension){k, s};
	}
	qsort(x, n, sizeof *x, compare_extensions);
	for (size_t i = 0; i < n && i < ADDED_MOST; i++) {
		struct combination more = *c;

		more.key[c->n] = x[i].key;
		more.index[c->n] = kind == FURTHER_INDEX;
		more.cover[c->n] = kind == FURTHER_COVER ? ask + 1 : 0;
		add(out, d, more.key, more.index, more.cover, c->n + 1);
	}
	mem_free(x);
}

static void extend(struct combinations *out, const struct designer *d, struct combination c)
{
	for (size_t q = 0; q < d->asks->n; q++) {
		extend_for(out, d, &c, q, FURTHER_COPY);
		extend_for(out, d, &c, q, FURTHER_INDEX);
		if (d->asks->ask[q].ncolumns)
			extend_for(out, d, &c, q, FURTHER_COVER);
	}
}

static int compare_busiest(const void *x, const void *y)
{
	const struct combination *a = x, *b = y;

	if (a->busiest != b->busiest)
		return a->busiest < b->busiest ? -1 : 1;
	return (a->key[0] > b->key[0]) - (a->key[0] < b->key[0]);
}

/* Return true if this table alone is the cheapest of all for a question. */
static bool best_of_question(const struct combinations *c, size_t singles, size_t at,
			     const struct designer *d)
{
	for (size_t q = 0; q < d->asks->n; q++) {
		bool best = true;

		for (size_t i = 0; best && i < singles; i++)
			best = combination_seconds(d, &c->item[at], 0, q) <=
			       combination_seconds(d, &c->item[i], 0, q);
		if (best)
			return true;
	}
	return false;
}

void combinations_list(struct combinations *out, const struct designer *d)
{
	const bool copies[CHOSEN_MOST] = {false};

	*out = (struct combinations){0};
	for (size_t k = 0; k < d->nkeys; k++)
		if (d->keys[k].usable)
			add(out, d, &k, copies, NULL, 1);
	size_t singles = out->n;
	qsort(out->item, singles, sizeof *out->item, compare_busiest);
	for (size_t i = 0; d->tables_most > 1 && i < singles; i++)
		if (i < BASES_MOST || best_of_question(out, singles, i, d))
			extend(out, d, out->item[i]);
	size_t pairs = out->n;
	if (d->tables_most < 3 || pairs == singles)
		return;
	qsort(out->item + singles, pairs - singles, sizeof *out->item, compare_busiest);
	for (size_t i = singles; i < pairs && i < singles + PAIRS_MOST; i++)
		extend(out, d, out->item[i]);
}
