/* explain_designs.c - turn ranked combinations into designs with figures and sentences */
#include "explain_designs.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#define SHOWN_MOST 3 /* designs to list besides the obvious ones */

struct describer {
	struct design_result *out;
	const struct designer *d;
	const struct draws *draws;
	struct arena *a;
};

/* --- figures --- */

static const char *const *yaml_parts(const struct describer *b, const struct key_part *p, size_t n)
{
	const char **parts = arena_alloc(b->a, (n + 1) * sizeof *parts);

	for (size_t i = 0; i < n; i++) {
		struct buf text = {0};

		part_yaml(&text, b->d->e->job, &p[i]);
		parts[i] = arena_strndup(b->a, text.ptr, text.len);
		buf_release(&text);
	}
	return parts;
}

static const struct design_part *anatomy(const struct describer *b, const struct candidate *k)
{
	struct design_part *parts = arena_alloc(b->a, (k->table.nrowkey + 1) * sizeof *parts);

	for (size_t i = 0; i < k->table.nrowkey; i++) {
		const struct key_part *p = &k->table.rowkey[i];

		parts[i] = (struct design_part){parts_name(b->d->e->job, p, 1, b->a),
						key_part_bytes(p), p->kind != PART_FIELD};
	}
	return parts;
}

static const struct hotspot *copy_writes(const struct describer *b, const struct hotspot *h)
{
	struct hotspot *out = arena_dup(b->a, h, sizeof *h);

	out->share = arena_dup(b->a, h->share, h->bands * h->columns * sizeof *h->share);
	out->server = arena_dup(b->a, h->server, h->columns * sizeof *h->server);
	return out;
}

static const char *first_field(const struct job *job, const struct job_table *t)
{
	for (size_t i = 0; i < t->nrowkey; i++)
		if (t->rowkey[i].kind == PART_FIELD)
			return job->fields[t->rowkey[i].field].name;
	return "key";
}

static void describe_table(const struct describer *b, const struct combination *c, size_t t,
			   struct design_table *out)
{
	const struct measured_key *k = &b->d->keys[c->key[t]];

	*out = (struct design_table){.kind = t == 0	   ? DESIGN_BASE
					     : c->index[t] ? DESIGN_INDEX_TABLE
					     : c->cover[t] ? DESIGN_COVERING
							   : DESIGN_COPY,
				     .covers = c->cover[t],
				     .first_field = first_field(b->d->e->job, &k->key->table),
				     .key = k->key->name,
				     .parts = yaml_parts(b, k->key->table.rowkey,
							 k->key->table.nrowkey),
				     .qualifier =
					     yaml_parts(b, k->key->qualifier, k->key->nqualifier),
				     .nqualifier = k->key->nqualifier,
				     .row_events = k->row_events,
				     .row_events_most = k->row_most,
				     .anatomy = anatomy(b, k->key),
				     .writes = copy_writes(b, &k->writes),
				     .nparts = k->key->table.nrowkey,
				     .key_bytes = k->key_bytes,
				     .row_bytes = k->row_events * combination_row_bytes(b->d, c, t),
				     .hidden = k->hidden,
				     .regions = k->regions,
				     .written = k->written,
				     .busiest_region = k->busiest_region,
				     .grown = k->grown,
				     .server_mean = k->server_mean,
				     .server_p99 = k->server_p99};
	if (!c->cover[t])
		return;
	size_t *cells = arena_alloc(b->a, (b->d->e->job->nfields + 1) * sizeof *cells);
	out->ncells = cover_cells(b->d, k->key, c->cover[t] - 1, cells);
	out->cells = cells;
}

static struct design_figure scaled(struct design_figure f, double by)
{
	return (struct design_figure){f.median * by, f.p99 * by, f.most * by, f.mean * by};
}

static struct design_figure blocks_of(struct design_figure ranges, struct design_figure bytes,
				      double block)
{
	return (struct design_figure){ranges.median + bytes.median / block,
				      ranges.p99 + bytes.p99 / block,
				      ranges.most + bytes.most / block,
				      ranges.mean + bytes.mean / block};
}

static void describe_answer(const struct describer *b, const struct combination *c, size_t q,
			    struct design_answer *out)
{
	size_t t = c->answered_by[q];
	const struct measured_key *k = &b->d->keys[c->key[t]];
	const struct cost *cost = &k->cost[q];
	const struct ask *ask = &b->d->asks->ask[q];
	struct cost covering;
	double mean = combination_seconds(b->d, c, t, q);

	if (c->cover[t]) {
		covering = cover_cost(b->d, k, q, combination_row_bytes(b->d, c, t), b->a);
		cost = &covering;
	}
	*out = (struct design_answer){.ask = ask->text,
				      .rate = ask->rate,
				      .table = t,
				      .plan = cost->plan,
				      .ranges = cost->ranges,
				      .rows = cost->rows,
				      .returned = b->draws[q].returned,
				      .bytes = cost->bytes,
				      .blocks = cost->blocks,
				      .seconds = cost->seconds,
				      .filtered = cost->filtered,
				      .reversed = cost->reversed,
				      .servers = ask->rate * mean};
	if (!c->index[t]) {
		out->ndraws = cost->ndraws;
		out->draws = arena_dup(b->a, cost->draws, cost->ndraws * sizeof *cost->draws);
		return;
	}
	double row = index_row_bytes(k->key_bytes, b->d->keys[c->key[0]].key_bytes);
	out->plan = cost->plan == DESIGN_FULL ? DESIGN_FULL : DESIGN_INDEX;
	out->bytes = scaled(cost->rows, row);
	out->blocks = blocks_of(cost->ranges, out->bytes, block_bytes_of(&k->key->table));
	out->gets = cost->rows;
	out->seconds =
		scaled(cost->seconds, cost->seconds.mean > 0 ? mean / cost->seconds.mean : 0);
}

static void describe(const struct describer *b, const struct combination *c, const char *name,
		     bool obvious, struct design *out)
{
	*out = (struct design){.name = name,
			       .obvious = obvious,
			       .ntables = c->n,
			       .nanswers = b->d->asks->n,
			       .busiest = c->busiest,
			       .total = c->total,
			       .write_seconds = c->write_seconds,
			       .busiest_write = c->busiest_write,
			       .busiest_write_p99 = c->busiest_write_p99,
			       .stored = c->stored,
			       .kept_s = b->d->load->kept_s,
			       .window_s = families_window(b->d),
			       .sentence = ""};
	out->tables = arena_alloc(b->a, c->n * sizeof *out->tables);
	for (size_t t = 0; t < c->n; t++)
		describe_table(b, c, t, &out->tables[t]);
	out->answers = arena_alloc(b->a, (out->nanswers + 1) * sizeof *out->answers);
	for (size_t q = 0; q < out->nanswers; q++)
		describe_answer(b, c, q, &out->answers[q]);
	for (size_t t = 0; t < c->n; t++)
		families_advise(b->d, c, out, t, b->a);
}

/* --- sentences --- */

static void put_load(struct buf *out, double servers)
{
	if (servers < 1.5)
		buf_printf(out,
			   servers < 0.0995 ? "is busy %.1f %% of the time"
					    : "is busy %.0f %% of the time",
			   servers * 100);
	else
		buf_printf(out, "has the work of %.3g servers", servers);
}

static const char *finished(const struct describer *b, struct buf *text)
{
	const char *s = arena_strndup(b->a, text->ptr, text->len);

	buf_release(text);
	return s;
}

/* Explain the recommendation of the design by its load and its most expensive question. */
static const char *reason_for(const struct describer *b, const struct design *g)
{
	struct buf out = {0};
	size_t worst = 0;

	for (size_t q = 1; q < g->nanswers; q++)
		if (g->answers[q].servers > g->answers[worst].servers)
			worst = q;
	double most = g->nanswers ? g->answers[worst].blocks.p99 : 0;
	buf_append_str(&out, "the busiest server ");
	put_load(&out, g->busiest);
	if (g->nanswers)
		buf_printf(&out,
			   most < 100 ? ", mostly with q%zu (blocks: %.3g, p99 %.3g)"
				      : ", mostly with q%zu (blocks: %.0f, p99 %.0f)",
			   worst + 1, g->answers[worst].blocks.median, most);
	return finished(b, &out);
}

/* Return a factor such as 2.3, 45 or 55700, in the arena. */
static const char *times(const struct describer *b, double factor)
{
	return arena_format(b->a, factor < 9.95 ? "%.2g" : "%.0f", factor);
}

/* Say the worst figure of a design, compared with the best one. */
static const char *reason_against(const struct describer *b, const struct design *g,
				  const struct design *best)
{
	struct buf out = {0};
	size_t worst = 0;
	double most = 0;
	char bytes[2][16];

	for (size_t t = 0; t < g->ntables; t++)
		if (g->tables[t].hidden) {
			buf_printf(&out, "%llu events share a key with another event",
				   (unsigned long long)g->tables[t].hidden);
			return finished(b, &out);
		}
	for (size_t q = 0; q < g->nanswers; q++) {
		double was = best->answers[q].seconds.mean;
		double ratio = was > 0 ? g->answers[q].seconds.mean / was : 0;

		if (ratio > most) {
			most = ratio;
			worst = q;
		}
	}
	if (most > 1.5) {
		buf_printf(&out, "q%zu reads %s and takes %s times as long as in design 1 (%s)",
			   worst + 1,
			   format_bytes(bytes[0], (uint64_t)g->answers[worst].bytes.median),
			   times(b, most),
			   format_bytes(bytes[1], (uint64_t)best->answers[worst].bytes.median));
	} else if (g->tables[0].busiest_region > 0.5) {
		buf_printf(&out,
			   "one region gets %.0f %% of the writes of a minute: what one "
			   "region takes is the limit",
			   100 * g->tables[0].busiest_region);
	} else {
		buf_append_str(&out, "the busiest server ");
		put_load(&out, g->busiest);
		buf_append_str(&out, "; in design 1, it ");
		put_load(&out, best->busiest);
	}
	return finished(b, &out);
}

/* Return the largest share of a question's time that a wide table saves, and the question. */
static double saved_by(const struct design *g, const struct design *best, size_t table, size_t *ask)
{
	double most = 0;

	for (size_t q = 0; q < g->nanswers; q++) {
		double was = best->answers[q].seconds.mean;
		double saved = was > 0 ? 1 - g->answers[q].seconds.mean / was : 0;

		if (g->answers[q].table == table && saved >= most) {
			most = saved;
			*ask = q;
		}
	}
	return most;
}

/* Say how many events a wide row of the design has, and how much it saves if that is too little. */
static const char *reason_of_wide(const struct describer *b, const struct design *g,
				  const struct design *best)
{
	const char *why = g == best ? reason_for(b, g) : reason_against(b, g, best), *saves = "";
	size_t t = 0, q = SIZE_MAX;

	while (t < g->ntables && !g->tables[t].nqualifier)
		t++;
	if (t == g->ntables)
		return why;
	const struct design_table *k = &g->tables[t];
	double saved = g == best ? 1 : saved_by(g, best, t, &q);
	if (saved < NEAR_SHARE - 1 && q != SIZE_MAX)
		saves = arena_format(
			b->a, "; it saves %.0f %% of the time of q%zu, and a change needs %.0f %%",
			100 * saved, q + 1, 100 * (NEAR_SHARE - 1));
	return arena_format(b->a,
			    "%s; a wide row has %.2g events (at most %llu, %.0f bytes on average), "
			    "and HBase cannot split a row%s",
			    why, k->row_events, (unsigned long long)k->row_events_most,
			    k->row_bytes, saves);
}

/* --- the list --- */

static void add_design(struct describer *b, const struct combination *c, const char *name,
		       bool obvious)
{
	struct design_result *out = b->out;

	out->list = arena_grow(b->a, out->list, out->nlist, sizeof *out->list);
	describe(b, c, name, obvious, &out->list[out->nlist++]);
}

/* Return true if a listed design is nearly the same. */
static bool is_similar(const struct describer *b, const struct combination *c)
{
	for (size_t i = 0; i < b->out->nlist; i++) {
		const struct design *g = &b->out->list[i];

		if (g->ntables == c->n && fabs(g->busiest - c->busiest) < 0.02 * g->busiest &&
		    fabs(g->stored - c->stored) < 0.02 * g->stored)
			return true;
	}
	return false;
}

static void list_best(struct describer *b, const struct combinations *all)
{
	for (size_t i = 0; i < all->n && b->out->nlist < SHOWN_MOST; i++)
		if (i == 0 || (!all->item[i].dominated && !is_similar(b, &all->item[i])))
			add_design(b, &all->item[i], arena_format(b->a, "%zu", b->out->nlist + 1),
				   false);
}

/* Return the parts of the qualifiers. Columns in the order of a time are worth more. */
static size_t qualifier_parts(const struct describer *b, const struct combination *c)
{
	size_t n = 0;

	for (size_t t = 0; t < c->n; t++)
		n += b->d->keys[c->key[t]].key->nqualifier;
	return n;
}

/* Add the best design with a wide table and the fewest tables, because users ask for it, unless one is listed. */
static void list_wide(struct describer *b, const struct combinations *all)
{
	const struct combination *best = NULL;

	for (size_t g = 0; g < b->out->nlist; g++)
		for (size_t t = 0; t < b->out->list[g].ntables; t++)
			if (b->out->list[g].tables[t].nqualifier)
				return;
	for (size_t i = 0; i < all->n; i++) {
		const struct combination *c = &all->item[i];

		if (c->wide &&
		    (!best || c->n < best->n ||
		     (c->n == best->n && qualifier_parts(b, c) > qualifier_parts(b, best) &&
		      c->busiest <= 1.25 * best->busiest)))
			best = c;
	}
	if (best)
		add_design(b, best, arena_format(b->a, "%zu", b->out->nlist + 1), false);
}

static bool is_listed(const struct describer *b, const char *key)
{
	for (size_t i = 0; i < b->out->nlist; i++)
		if (b->out->list[i].ntables == 1 && strcmp(b->out->list[i].tables[0].key, key) == 0)
			return true;
	return false;
}

static void list_obvious(struct describer *b)
{
	const bool copy[CHOSEN_MOST] = {false};

	for (size_t k = 0; k < b->d->nkeys; k++) {
		const struct measured_key *m = &b->d->keys[k];

		if (!m->key->obvious || !m->regions || is_listed(b, m->key->name))
			continue;
		struct combination c = combination_make(b->d, &k, copy, NULL, 1);
		add_design(b, &c, m->key->obvious, true);
	}
}

/* --- notes --- */

static void add_note(struct describer *b, const char *text)
{
	for (size_t i = 0; i < b->out->nnotes; i++)
		if (strcmp(b->out->notes[i], text) == 0)
			return;
	const char **notes = arena_alloc(b->a, (b->out->nnotes + 1) * sizeof *notes);

	for (size_t i = 0; i < b->out->nnotes; i++)
		notes[i] = b->out->notes[i];
	notes[b->out->nnotes++] = text;
	b->out->notes = notes;
}

static void note_heavy(struct describer *b, const struct ask *k)
{
	const struct events *e = b->d->e;

	for (size_t i = 0; i < k->nequals; i++) {
		const struct event_column *c = &e->column[k->equal[i]];
		double share = (double)c->heaviest / (double)e->n;
		struct buf text = {0};
		struct value v;

		if (share <= 1.0 / b->d->load->servers || c->distinct < 2 * b->d->load->servers)
			continue;
		event_value(c, c->heaviest_event, &v);
		field_text(c->field, &v, &text);
		add_note(b, arena_format(b->a,
					 "%s %.*s has %.0f %% of the events, but an even share of "
					 "a server is %.1f %%; a salt with `fanout` spreads it",
					 c->field->name, (int)text.len, (const char *)text.ptr,
					 100 * share, 100.0 / b->d->load->servers));
		buf_release(&text);
	}
}

static void add_lines(struct describer *b, const struct buf *lines)
{
	const char *notes = (const char *)lines->ptr;

	for (size_t at = 0, end; at < lines->len; at = end + 1) {
		end = at + strcspn(notes + at, "\n");
		add_note(b, arena_strndup(b->a, notes + at, end - at));
	}
}

static void note_all(struct describer *b)
{
	const struct wanted_load *l = b->d->load;
	const struct events *e = b->d->e;
	struct buf families = {0};

	add_lines(b, &b->d->asks->notes);
	families_note(b->d, &families);
	add_lines(b, &families);
	buf_release(&families);
	if (e->n < 1000)
		add_note(b,
			 arena_format(
				 b->a,
				 "%zu events are too few to measure blocks or shares, so only the "
				 "order of the key's parts is certain",
				 e->n));
	if (l->faster > 100)
		add_note(b,
			 arena_format(b->a,
				      "%s/s is %s times the rate of the events. design assumes so "
				      "many times more values of each field, each as busy as "
				      "here; --grow time assumes busier ones",
				      times(b, l->writes), times(b, l->faster)));
	for (size_t q = 0; q < b->d->asks->n; q++)
		note_heavy(b, &b->d->asks->ask[q]);
}

/* Note a question whose answer alone is too much work, whatever the key. */
static void note_floor(struct describer *b, const struct design *best)
{
	const struct design_constants *s = &b->d->load->constants;

	for (size_t q = 0; q < best->nanswers; q++) {
		const struct design_answer *a = &best->answers[q];
		double rows = fmax(a->returned.mean, a->filtered ? 0 : a->rows.mean);
		double floor = a->rate * (s->seek_s + rows * s->row_s);

		if (floor > 0.5 * b->d->load->servers)
			add_note(b, arena_format(
					    b->a,
					    "q%zu returns %s rows each time, which is the work of "
					    "%.3g servers with any key; store sums in a table of "
					    "their own",
					    q + 1, times(b, rows), floor));
	}
}

static void note_best(struct describer *b, const struct design *best)
{
	for (size_t t = 0; t < best->ntables; t++) {
		const struct design_table *table = &best->tables[t];

		if (table->hidden)
			add_note(
				b,
				arena_format(
					b->a,
					"%llu events are equal to another event, and share its row",
					(unsigned long long)table->hidden));
		if (table->key_bytes > 16)
			add_note(b,
				 arena_format(
					 b->a,
					 "the key of table %c has %.0f bytes, which HBase stores "
					 "with every cell; use 16 or less",
					 (char)('a' + (int)t), table->key_bytes));
		if (table->grown > 1.5)
			add_note(b, arena_format(
					    b->a,
					    "the split points of table %c do not last, because the "
					    "largest region grows to %.1f times the mean",
					    (char)('a' + (int)t), table->grown));
	}
	if (best->busiest > 1) {
		b->out->too_busy = true;
		b->out->servers_needed = ceil(best->busiest * b->d->load->servers);
	}
}

/* Return the name of a further table. A byte that HBase does not accept becomes an underscore. */
static const char *further_name(const struct describer *b, const char *base, const char *field,
				size_t t)
{
	char *name = arena_format(b->a, "%s_by_%s%s", base, field, t > 1 ? "_2" : "");

	for (char *c = name + strlen(base); *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_.-", *c))
			*c = '_';
	return name;
}

/* Name the tables of a new design after the first table of the job and their first field. */
static void name_tables(struct describer *b, struct design *g)
{
	const char *base = b->d->e->job->tables[0].schema.name;

	for (size_t t = 0; t < g->ntables; t++)
		g->tables[t].name = t ? further_name(b, base, g->tables[t].first_field, t) : base;
}

static void set_load_of(struct design_result *out, const struct designer *d, size_t designs)
{
	out->span_s = d->load->span_s;
	out->rows = d->load->rows;
	out->writes = d->load->writes;
	out->constants = d->load->constants;
	out->nkeys = d->nkeys;
	out->ndesigns = designs;
}

void design_describe_job(struct design_result *out, const struct designer *d,
			 const struct draws *draws)
{
	struct describer b = {out, d, draws, &out->arena};
	const struct job *job = d->e->job;
	size_t keys[CHOSEN_MOST] = {0};
	bool index[CHOSEN_MOST] = {false};
	size_t n = 0;

	for (size_t t = 0; t < job->ntables; t++)
		if (d->keys[t].regions) {
			keys[n] = t;
			index[n++] = job->tables[t].is_index;
		}
	struct combination c = combination_make(d, keys, index, NULL, n);
	set_load_of(out, d, 1);
	add_design(&b, &c, "job", false);
	for (size_t t = 0; t < n; t++)
		out->list[0].tables[t].name = job->tables[keys[t]].schema.name;
	out->list[0].sentence = reason_for(&b, &out->list[0]);
	note_all(&b);
	note_best(&b, &out->list[0]);
}

void design_describe(struct design_result *out, const struct designer *d,
		     const struct combinations *all, const struct draws *draws)
{
	struct describer b = {out, d, draws, &out->arena};

	set_load_of(out, d, all->n);
	list_best(&b, all);
	list_wide(&b, all);
	list_obvious(&b);
	for (size_t i = 0; i < out->nlist; i++)
		name_tables(&b, &out->list[i]);
	for (size_t i = 0; i < out->nlist; i++)
		out->list[i].sentence = reason_of_wide(&b, &out->list[i], &out->list[0]);
	note_all(&b);
	note_floor(&b, &out->list[0]);
	note_best(&b, &out->list[0]);
}
