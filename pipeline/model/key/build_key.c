/*
 * build_key.c - encode values as a row key or a computed qualifier
 *
 * First the builder writes all parts in order, leaves room for salts and hashes, and records the
 * positions. Then it computes the salts and hashes from the last to the first. So a salt over all
 * bytes after it already covers the hashes in these bytes (model/key/README.md 1).
 */
#include "derive.h"
#include "key.h"
#include "cell.h"

/* Reject the first value that is out of range. */
static int number_fault(const struct key_schema *s, const struct value *values, struct buf *out,
			struct reject *why)
{
	for (const struct key_step *step = s->steps; step < s->steps + s->nsteps; step++)
		if (step->kind == PART_FIELD &&
		    layout_put(&step->layout, &values[step->layout.slot], out, why))
			return RC_DATA;
	return 0;
}

/*
 * Get the input bytes of a salt or hash. If the input has several pieces, join them in `scratch`.
 */
static int hash_input(struct key_scratch *k, const struct key_derived *d, const struct span *spans,
		      const struct value *values, const struct buf *out, struct bytes *in,
		      struct reject *why)
{
	if (d->nof == 0) {
		size_t at = spans[d->at].at + d->width;

		*in = bytes_of(out->ptr + at, out->len - at);
		return 0;
	}
	if (d->nof == 1 && d->of[0].in_parts) {
		*in = bytes_of(out->ptr + spans[d->of[0].part].at, spans[d->of[0].part].len);
		return 0;
	}
	k->hash_input.len = 0;
	for (size_t i = 0; i < d->nof; i++) {
		const struct hash_input *h = &d->of[i];
		const struct span *of = &spans[h->part];
		int rc = 0;

		if (h->in_parts)
			buf_append(&k->hash_input, out->ptr + of->at, of->len);
		else
			rc = layout_put(&h->natural, &values[h->natural.slot], &k->hash_input, why);
		if (rc)
			return rc;
	}
	*in = buf_bytes(&k->hash_input);
	return 0;
}

static int fill_drawn(const struct key_derived *d, const struct key_scratch *k, uint8_t *to,
		      struct reject *why)
{
	if (!k->event.ptr)
		return reject_set(
			why, "drawn_salt", NULL,
			"found a key without its salt, expected the salt, because each event draws it; the row is in any of %u buckets",
			d->part->buckets);
	salt_write(salt_drawn(d->part, k->event, k->place), d->width, to);
	return RC_OK;
}

static int fill_derived(const struct key_schema *s, struct key_scratch *k, const struct span *spans,
			const struct value *values, struct buf *out, struct reject *why)
{
	for (size_t i = s->nderived; i-- > 0;) {
		const struct key_derived *d = &s->derived[i];
		struct bytes in;

		if (d->byte_of_part) {
			const struct span *of = &spans[d->of[0].part];

			out->ptr[spans[d->at].at] =
				salt_of(d, bytes_of(out->ptr + of->at, of->len));
			continue;
		}
		size_t at = spans[d->at].at;
		int rc = d->part->draw ? fill_drawn(d, k, out->ptr + at, why)
				       : hash_input(k, d, spans, values, out, &in, why);
		if (rc)
			return rc;
		if (!d->part->draw)
			derive(d, in, bytes_of(out->ptr + at + d->width, out->len - at - d->width),
			       out->ptr + at);
	}
	return 0;
}

/* Build a key of numbers only. All parts have fixed positions, so a key needs only a few stores. */
static int build_simple(const struct key_schema *s, struct key_scratch *k,
			const struct value *values, struct buf *out, struct reject *why)
{
	out->len = 0;
	uint8_t *to = buf_room(out, s->fixed + 8);
	if (!numbers_put(values, s, to))
		return number_fault(s, values, out, why);
	out->len = s->fixed;
	if (!s->one_salt)
		return s->nderived ? fill_derived(s, k, s->spans, values, out, why) : 0;
	salt_put(k, s, to);
	return 0;
}

static int put_step(const struct key_scratch *k, const struct key_step *step,
		    const struct value *values, struct buf *out, struct reject *why)
{
	const struct layout *l = &step->layout;

	if (step->kind == PART_KEY) {
		struct bytes row = k->rows ? k->rows[l->slot] : (struct bytes){0};

		buf_append(out, row.ptr, row.len);
		return RC_OK;
	}
	if (step->kind == PART_FIELD)
		return layout_put(l, &values[l->slot], out, why);
	uint8_t *to = buf_room(out, l->width + 1);
	if (step->kind == PART_CONST)
		copy_short(to, step->constant.ptr, l->width);
	else
		memset(to, 0, l->width);
	out->len += l->width;
	return 0;
}

int key_build(const struct key_schema *s, struct key_scratch *k, const struct value *values,
	      struct buf *out, struct reject *why)
{
	struct span *span = k->spans;

	if (s->simple)
		return build_simple(s, k, values, out, why);
	out->len = 0;
	buf_room(out, s->fixed + 8);
	for (const struct key_step *step = s->steps; step < s->steps + s->nsteps; step++, span++) {
		span->at = out->len;
		int rc = put_step(k, step, values, out, why);
		if (rc)
			return rc;
		span->len = out->len - span->at;
		if (step->layout.terminator != NO_TERMINATOR)
			buf_put(out, (uint8_t)step->layout.terminator);
	}
	return s->nderived ? fill_derived(s, k, k->spans, values, out, why) : 0;
}

int key_check_length(const char *table, size_t len, struct reject *why)
{
	if (len - 1 < ROW_KEY_MAX)
		return 0;
	if (len == 0)
		return reject_set(why, "empty_key", NULL,
				  "found an empty row key of table %s, expected at least one byte",
				  table);
	return reject_set(why, "key_too_long", NULL,
			  "found a row key of table %s with %zu bytes, expected at most %d", table,
			  len, ROW_KEY_MAX);
}

void key_scratch_init(struct key_scratch *k, const struct key_maker *m)
{
	*k = (struct key_scratch){.salted = mem_calloc(m->nsalts + 1, sizeof *k->salted),
				  .spans = mem_calloc(m->max_steps + 1, sizeof *k->spans)};
}

void key_scratch_release(struct key_scratch *k)
{
	mem_free(k->salted);
	mem_free(k->spans);
	buf_release(&k->hash_input);
	*k = (struct key_scratch){0};
}
