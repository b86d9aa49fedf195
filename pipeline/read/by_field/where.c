/*
 * where.c - compute the ranges of a query and the conditions that servers can check (by_field.h)
 */
#include "key.h"
#include "where_parts.h"

/* --- ranges --- */

static struct bytes with_zero(struct where *w, struct bytes b, bool zero)
{
	uint8_t *p = arena_alloc(&w->arena, b.len + 2);

	if (b.len)
		memcpy(p, b.ptr, b.len);
	return bytes_of(p, b.len + (zero && b.len));
}

static struct bytes lesser_stop(struct bytes a, struct bytes b)
{
	if (!a.len || !b.len)
		return a.len ? a : b;
	return bytes_cmp(a, b) < 0 ? a : b;
}

/* Cut a range to the rows from `start` to before `stop`. Returns false if no row remains. */
static bool cut(struct query_range *r, struct bytes start, struct bytes stop)
{
	if (bytes_cmp(start, r->start) > 0)
		r->start = start;
	r->stop = lesser_stop(r->stop, stop);
	return r->stop.len == 0 || bytes_cmp(r->start, r->stop) < 0;
}

static size_t cut_ranges(struct where *w, const struct query *q, struct query_range *out)
{
	struct bytes start = with_zero(w, q->reversed ? q->stop : q->start,
				       q->reversed ? !q->stop_inclusive : q->start_exclusive);
	struct bytes stop = with_zero(w, q->reversed ? q->start : q->stop,
				      q->reversed ? !q->start_exclusive : q->stop_inclusive);
	size_t n = 0;

	for (size_t i = 0; i < w->ranges.n; i++) {
		out[n] = (struct query_range){w->ranges.range[i].start, w->ranges.range[i].stop};
		n += cut(&out[n], start, stop);
	}
	return n;
}

/* Returns the bytes of bucket `i`. The negative bucket of hbasewd comes after the last bucket. */
static struct bytes salt_bytes(struct where *w, const struct key_part *part, uint32_t i)
{
	int64_t salt = i < part->buckets ? i : INT32_MIN % (int64_t)part->buckets;
	uint8_t all[8], *p = arena_alloc(&w->arena, 8);
	uint32_t width = key_part_bytes(part);

	put_be64(all, (uint64_t)salt);
	memcpy(p, all + 8 - width, width);
	return bytes_of(p, width);
}

/* Cut the ranges at the borders between salts. */
static void split_by_salt(struct where *w, const struct query_range *r, size_t n)
{
	const struct key_part *part = &w->stored->keys->table->rowkey[0];
	uint32_t salts = part->buckets;

	if (part->hash == HASH_HBASEWD && INT32_MIN % (int64_t)part->buckets)
		salts++;
	struct query_range *out = arena_alloc(&w->arena, (n + salts + 1) * sizeof *out);
	size_t at = 0;
	w->split = out;
	for (uint32_t i = 0; i < salts; i++) {
		struct bytes start = salt_bytes(w, part, i), stop = {0};
		struct buf behind = {0};

		/* reserve memory now, so that query_prefix_stop cannot fail */
		buf_reserve(&behind, start.len);
		query_prefix_stop(&behind, start);
		stop = with_zero(w, buf_bytes(&behind), false);
		buf_release(&behind);
		while (at < n && r[at].stop.len && bytes_cmp(r[at].stop, start) <= 0)
			at++;
		for (size_t k = at; k < n && (!stop.len || bytes_cmp(r[k].start, stop) < 0); k++) {
			struct query_range one = r[k];

			if (cut(&one, start, stop))
				out[w->nsplit++] = one;
		}
	}
}

static void put_columns(struct where *w, struct query *q)
{
	size_t n = w->question->nconditions;

	w->columns = arena_alloc(&w->arena, (q->ncolumns + n + 1) * sizeof *w->columns);
	for (size_t i = 0; i < q->ncolumns; i++)
		w->columns[i] = q->columns[i];
	w->nasked = q->ncolumns;
	w->selective = q->ncolumns > 0;
	for (size_t i = 0; w->selective && i < n; i++)
		if (w->sources[i].place == PLACE_COLUMN)
			w->columns[q->ncolumns++] =
				(struct query_column){.family = w->sources[i].family_number,
						      .qualifier = w->sources[i].qualifier};
	q->columns = w->columns;
}

void where_put(struct where *w, struct query *q)
{
	const struct key_schema *k = &w->stored->keys->schema;
	struct query_range *r = arena_alloc(&w->arena, (w->ranges.n + 1) * sizeof *r);
	size_t n = cut_ranges(w, q, r);

	q->ranges = r;
	q->nranges = n;
	if (n == 1 && key_range_is_row(&(struct key_range){r[0].start, r[0].stop}) && !q->raw) {
		q->get = true;
		q->start = r[0].start;
	} else if (k->steps[0].kind == PART_SALT) {
		split_by_salt(w, r, n);
		q->ranges = w->split;
		q->nranges = w->nsplit;
		q->salt_bytes = k->steps[0].layout.width;
	}
	if (w->ranges.exact)
		return;
	w->each_version = w->any_version || q->raw;
	put_columns(w, q);
	if (w->wide && !q->raw)
		where_put_spans(w, q);
	q->judge = &w->judge;
}

/* --- conditions that a server can check --- */

/*
 * Returns true if a condition reads the column, and if no condition reads the same field from
 * another place.
 */
static bool asks_column(void *ctx, struct bytes family, struct bytes qualifier)
{
	struct where *w = ctx;
	const struct stored_column *c = stored_find(w->stored, family, qualifier, w->cell_pieces);
	bool constant = c && c->spec->qualifier_constant && c->spec->kind == VALUE_FIELD;
	const struct field *field = constant ? w->stored->forms->form[c->spec->field].field : NULL;
	bool any = false;

	for (size_t i = 0; i < w->question->nconditions; i++) {
		const struct where_source *s = &w->sources[i];

		if (s->place == PLACE_NONE)
			continue;
		if (s->place != PLACE_COLUMN && w->forms.form[i].field == field)
			return false;
		any = any || (s->place == PLACE_COLUMN && bytes_eq(s->family, family) &&
			      bytes_eq(s->qualifier, qualifier));
	}
	return any;
}

const struct filter *where_filter(struct where *w, const struct query *q)
{
	/* use no FuzzyRowFilter in a reversed scan, because HBase 2.6.4 then loses rows */
	struct key_filter_use use = {.fuzzy = !q->reversed,
				     .rows = true,
				     .any_version = w->any_version,
				     .column = asks_column,
				     .ctx = w};
	struct key_checks checks;

	/*
	 * with named columns, HBase also calls a RowFilter for the scan's start, which is not a row
	 */
	for (size_t i = 0; i < q->ncolumns; i++)
		use.rows = use.rows && (q->reversed || q->columns[i].all);
	key_filter(&checks, &w->ranges, w->stored->keys, &use, &w->arena);
	return checks.filter;
}

const char *where_note(const struct where *w)
{
	return w->note;
}

/* --- open and close --- */

int where_new(struct where **out, const struct stored *stored, const struct query_family *families,
	      size_t nfamilies, const struct question *q, bool any_version, struct error *err)
{
	struct where *w = mem_calloc(1, sizeof *w);
	size_t pieces = (stored->max_pieces + 1) * sizeof *w->pieces;

	*w = (struct where){.stored = stored,
			    .families = families,
			    .nfamilies = nfamilies,
			    .question = q,
			    .any_version = any_version,
			    .judge = where_judge};
	w->judge.ctx = w;
	w->pieces = arena_alloc(&w->arena, pieces);
	w->cell_pieces = arena_alloc(&w->arena, pieces);
	int rc = key_ranges(&w->ranges, stored->keys, stored->forms, q, &w->arena, err);

	if (rc == RC_OK)
		rc = where_bind(w, err);
	if (rc == RC_OK && w->rest.root)
		where_find_spans(w);
	*out = w;
	if (rc) {
		where_free(w);
		*out = NULL;
	}
	return rc;
}

void where_free(struct where *w)
{
	if (!w)
		return;
	for (size_t i = 0; w->sources && i < w->question->nconditions; i++) {
		arena_release(&w->sources[i].arena);
		field_scratch_release(&w->sources[i].scratch);
	}
	arena_release(&w->arena);
	mem_free(w);
}
