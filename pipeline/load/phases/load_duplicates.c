/*
 * load_duplicates.c - report events that events with the same row key, columns and timestamp
 * overwrite
 *
 * The job determines which event remains. A few overwritten events are usual if a source repeats
 * events. Many overwritten events indicate a row key that is not unique, so the load reports their
 * number and an example.
 */
#include "load_state.h"

#define TOLD_SHARE  0.01
#define SHOWN_BYTES 40 /* bytes of a row key that a message shows */

/* Return the first collision in key order, or NULL if no rows collide. */
static const struct cut_collision *first_collision(const struct load_table *t)
{
	for (size_t r = 0; r <= t->splits.count; r++)
		if (t->results[r].collision.found)
			return &t->results[r].collision;
	return NULL;
}

static void put_pair(struct buf *out, struct load *l, const struct cut_collision *c,
		     const char *what)
{
	struct bytes row = buf_bytes(&c->row);

	source_place(l->pass.source, c->lost, out);
	buf_printf(out, " is %s by ", what);
	source_place(l->pass.source, c->kept, out);
	buf_append_str(out, ", both have row ");
	bytes_escape(out, bytes_of(row.ptr, row.len < SHOWN_BYTES ? row.len : SHOWN_BYTES));
	if (row.len > SHOWN_BYTES)
		buf_append_str(out, "...");
}

static void put_example(struct buf *out, struct load *l, const struct load_table *t)
{
	const struct cut_collision *c = first_collision(t);

	if (!c)
		return;
	buf_append_str(out, "; for example ");
	put_pair(out, l, c, "overwritten");
}

static void put_counts(struct buf *out, const struct manifest_table *m)
{
	uint64_t all = m->loaded + m->deduplicated;

	buf_printf(out,
		   "table %s: %llu of %llu events (%.4g%%) are overwritten by events with the "
		   "same row key, columns and timestamp",
		   m->name, (unsigned long long)m->deduplicated, (unsigned long long)all,
		   100 * (double)m->deduplicated / (double)all);
}

/* Return RC_DATA, because other events overwrite more events than --max-duplicates allows. */
static int refuse(struct load *l, size_t table, uint64_t allowed, struct error *err)
{
	struct buf text = {0};

	put_counts(&text, &l->result->manifest.tables[table]);
	buf_printf(&text, ", expected at most %llu (--max-duplicates); saltmill published nothing",
		   (unsigned long long)allowed);
	put_example(&text, l, &l->tables[table]);
	int rc = error_set(err, RC_DATA, "%.*s", (int)text.len, (const char *)text.ptr);
	buf_release(&text);
	return rc;
}

static const char *tell(struct load *l, size_t table)
{
	struct buf text = {0};

	put_counts(&text, &l->result->manifest.tables[table]);
	buf_append_str(&text, "; if the row key should be unique, check the key with `saltmill "
			      "lint`; to fail in this case, add --max-duplicates N");
	put_example(&text, l, &l->tables[table]);
	const char *kept = arena_strndup(&l->result->arena, text.ptr, text.len);
	buf_release(&text);
	return kept;
}

int load_check_duplicates(struct load *l, struct error *err)
{
	const struct manifest *m = &l->result->manifest;
	const struct event_limit *limit = l->opt->max_duplicates;

	l->result->collisions = arena_alloc(&l->result->arena, m->ntables * sizeof(char *));
	for (size_t i = 0; i < m->ntables; i++) {
		uint64_t lost = m->tables[i].deduplicated, all = m->tables[i].loaded + lost;
		uint64_t allowed = limit ? event_limit_of(limit, all) : UINT64_MAX;

		if (lost > allowed)
			return refuse(l, i, allowed, err);
		if ((double)lost > TOLD_SHARE * (double)all)
			l->result->collisions[i] = tell(l, i);
	}
	return RC_OK;
}

/*
 * --- cells that delete markers of the same load hide ---
 *
 * If an event writes a deleted row again, the marker hides the new cells, too, unless their
 * timestamps are newer than the marker's. In a source with times in milliseconds, they often are
 * not.
 */

/* Choose examples. Events that come after their marker in the input have priority. */
static size_t choose_hidden(const struct load_table *t, const struct cut_collision *chosen[])
{
	size_t n = 0;

	for (int late = 1; late >= 0; late--)
		for (size_t r = 0; r <= t->splits.count; r++)
			for (size_t i = 0; i < CUT_EXAMPLES && n < CUT_EXAMPLES; i++) {
				const struct cut_collision *c = &t->results[r].hidden[i];

				if (c->found && (c->lost > c->kept) == late)
					chosen[n++] = c;
			}
	return n;
}

void load_tell_hidden(struct load *l)
{
	struct load_result *res = l->result;
	const struct manifest *m = &res->manifest;

	res->hidden_cells = arena_alloc(&res->arena, m->ntables * sizeof(char *));
	res->lost_cells = arena_alloc(&res->arena, m->ntables * sizeof(char *));
	for (size_t t = 0; t < m->ntables; t++) {
		const struct cut_collision *chosen[CUT_EXAMPLES];
		size_t n = choose_hidden(&l->tables[t], chosen);
		bool lost = n && chosen[0]->lost > chosen[0]->kept;
		struct buf text = {0};

		if (n == 0)
			continue;
		buf_printf(&text, "table %s: delete markers of this load hide %llu of %llu cells",
			   m->tables[t].name, (unsigned long long)m->tables[t].cells_hidden,
			   (unsigned long long)m->tables[t].cells);
		if (lost)
			buf_append_str(&text,
				       ", also cells of events that come after the marker but "
				       "have no newer timestamp; use a timestamp that rises with "
				       "the events, for a compacted topic `from: $offset`");
		for (size_t i = 0; i < n; i++) {
			buf_append_str(&text, i ? "; " : "; for example ");
			put_pair(&text, l, chosen[i], "hidden");
		}
		(lost ? res->lost_cells : res->hidden_cells)[t] =
			arena_strndup(&res->arena, text.ptr, text.len);
		buf_release(&text);
	}
}
