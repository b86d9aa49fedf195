/*
 * load_duplicates.c - events that are overwritten by events with the same row key, columns and
 * timestamp
 *
 * The job says which event is kept. A few overwritten events are usual if a source repeats itself.
 * Many are the sign of a row key that is not unique, so the load reports their number and two of
 * them.
 */
#include "load_state.h"

#define TOLD_SHARE  0.01
#define SHOWN_BYTES 40 /* of a row key */

/* The first collision in key order; NULL: no rows collide. */
static const struct cut_collision *first_collision(const struct load_table *t)
{
	for (size_t r = 0; r <= t->splits.count; r++)
		if (t->results[r].collision.found)
			return &t->results[r].collision;
	return NULL;
}

static void put_example(struct buf *out, struct load *l, const struct load_table *t)
{
	const struct cut_collision *c = first_collision(t);

	if (!c)
		return;
	struct bytes row = buf_bytes(&c->row);
	buf_append_str(out, "; for example ");
	source_place(l->pass.source, c->lost, out);
	buf_append_str(out, " is overwritten by ");
	source_place(l->pass.source, c->kept, out);
	buf_append_str(out, ", both give row ");
	bytes_escape(out, bytes_of(row.ptr, row.len < SHOWN_BYTES ? row.len : SHOWN_BYTES));
	if (row.len > SHOWN_BYTES)
		buf_append_str(out, "...");
}

static void put_counts(struct buf *out, const struct manifest_table *m)
{
	uint64_t all = m->loaded + m->deduplicated;

	buf_printf(out,
		   "table %s: %llu of %llu events (%.4g%%) are not stored, because others have "
		   "the same row key, columns and timestamp",
		   m->name, (unsigned long long)m->deduplicated, (unsigned long long)all,
		   100 * (double)m->deduplicated / (double)all);
}

/* RC_DATA: more events are overwritten than --max-duplicates allows. */
static int refuse(struct load *l, size_t table, uint64_t allowed, struct error *err)
{
	struct buf text = {0};

	put_counts(&text, &l->result->manifest.tables[table]);
	buf_printf(&text, ", and --max-duplicates tolerates %llu; nothing was published",
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
	buf_append_str(&text, ": is the row key unique? --max-duplicates makes it an error");
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
