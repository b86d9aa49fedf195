/*
 * sketch_file.c - a sketch in a file
 *
 * A frame (frame.h) with magic "SMsketch", version 2.  Content, big-endian:
 *
 *   4  k                          8  a picker's widest window
 *   4  k_now                      8  the window's start
 *   4  base                       8  the sampled byte
 *   4  top                        4  log2 of its width
 *   8  bytes                      8  state of the random numbers
 *   8  bytes of the stream        8  variance, an IEEE 754 double
 *   8  rows of the stream
 *   then for each level from base to 63: 4 count, and for each item
 *   4  rows, an IEEE 754 float    2  length of the key, key
 */
#include "sketch_state.h"

#include <math.h>

#include "frame.h"
#include "mem.h"

static const char magic[8] = {'S', 'M', 's', 'k', 'e', 't', 'c', 'h'};
#define VERSION 2

void sketch_save(const struct sketch *s, struct buf *out)
{
	uint64_t variance;
	size_t start = frame_begin(out, magic, VERSION);

	memcpy(&variance, &s->variance, sizeof variance);
	buf_be32(out, s->k);
	buf_be32(out, s->k_now);
	buf_be32(out, s->base);
	buf_be32(out, s->top);
	buf_be64(out, s->bytes);
	buf_be64(out, s->all);
	buf_be64(out, s->rows);
	buf_be64(out, s->picked);
	buf_be64(out, s->window);
	buf_be64(out, s->next);
	buf_be32(out, s->stride);
	buf_be64(out, s->random);
	buf_be64(out, variance);
	for (unsigned e = s->base; e < SKETCH_LEVELS; e++) {
		const struct level *l = &s->level[e];

		buf_be32(out, (uint32_t)l->count);
		for (size_t i = 0; i < l->count; i++) {
			const struct sketch_item *it = &l->items[i];
			uint32_t rows;

			memcpy(&rows, &it->rows, sizeof rows);
			buf_be32(out, rows);
			put_be16(buf_reserve(out, 2), it->len);
			out->len += 2;
			buf_append(out, l->keys + it->offset, it->len);
		}
	}
	frame_end(out, start);
}

static void read_head(struct sketch *s, struct frame_reader *c)
{
	uint64_t variance;

	s->k = frame_be32(c);
	s->k_now = frame_be32(c);
	s->base = frame_be32(c);
	s->top = frame_be32(c);
	s->bytes = frame_be64(c);
	s->all = frame_be64(c);
	s->rows = frame_be64(c);
	s->picked = frame_be64(c);
	s->window = frame_be64(c);
	s->next = frame_be64(c);
	s->stride = frame_be32(c);
	s->random = frame_be64(c);
	variance = frame_be64(c);
	memcpy(&s->variance, &variance, sizeof variance);
}

/*
 * Check the numbers. Because the checksum is right, only another program can have written wrong
 * numbers.
 */
static bool head_is_sane(const struct sketch *s)
{
	return s->k >= SKETCH_K_MIN && s->k <= SKETCH_K_MAX && s->k_now >= SKETCH_K_MIN / 2 &&
	       s->k_now <= s->k && s->top < SKETCH_LEVELS - 1 && s->base <= s->top &&
	       s->stride <= s->base && s->next >= s->window && isfinite(s->variance) &&
	       s->variance >= 0;
}

static void read_levels(struct sketch *s, struct frame_reader *c)
{
	for (unsigned e = s->base; e < SKETCH_LEVELS && !c->bad; e++) {
		uint32_t count = frame_be32(c);

		for (uint32_t i = 0; i < count && !c->bad; i++) {
			uint32_t bits = frame_be32(c);
			struct bytes key = frame_bytes(c, frame_be16(c));
			float rows;

			memcpy(&rows, &bits, sizeof rows);
			if (!c->bad && isfinite(rows) && rows >= 0)
				sketch_append(s, e, key, rows);
			else
				c->bad = true;
		}
	}
}

int sketch_take(struct sketch **out, const char *name, struct bytes *file, struct error *err)
{
	struct frame_reader c = {0};

	*out = NULL;
	int rc = frame_take(file, magic, VERSION, name, &c.rest, err);
	if (rc)
		return rc;
	struct sketch *s = mem_calloc(1, sizeof *s);
	read_head(s, &c);
	if (!c.bad && head_is_sane(s))
		read_levels(s, &c);
	else
		c.bad = true;
	if (c.bad || c.rest.len) {
		sketch_free(s);
		return error_set(
			err, RC_DATA,
			"%s: found an inconsistent sketch, expected a file that saltmill wrote",
			name);
	}
	sketch_set_limit(s);
	*out = s;
	return RC_OK;
}
