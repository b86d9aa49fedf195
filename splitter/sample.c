/*
 * sample.c - a sample, which is a sketch of the rows and the shape of their keys
 *
 * The file has a frame with magic "SMsample", version 2, then the frame of the sketch. The content
 * of the first frame, big-endian, is 4 salt bytes, 4 buckets, 4 parts, and for each part 4 width, 4
 * terminator. FFFFFFFF means no terminator.
 */
#include "sample.h"

#include "frame.h"
#include "sketch_state.h"

#define VERSION 2

static const char magic[8] = {'S', 'M', 's', 'a', 'm', 'p', 'l', 'e'};

struct sample *sample_new(uint32_t k, uint64_t seed, const struct key_shape *shape)
{
	struct sample *s = mem_calloc(1, sizeof *s);

	if (shape)
		s->shape = *shape;
	s->sketch = sketch_new(k, seed);
	return s;
}

void sample_free(struct sample *s)
{
	if (!s)
		return;
	sketch_free(s->sketch);
	mem_free(s);
}

void sample_add(struct sample *s, struct bytes key, uint64_t bytes)
{
	sketch_add(s->sketch, key, bytes);
}

static bool same_shape(const struct key_shape *a, const struct key_shape *b)
{
	if (a->nparts != b->nparts || a->salt_bytes != b->salt_bytes || a->buckets != b->buckets)
		return false;
	for (size_t i = 0; i < a->nparts; i++)
		if (a->parts[i].width != b->parts[i].width ||
		    a->parts[i].terminator != b->parts[i].terminator)
			return false;
	return true;
}

int sample_merge(struct sample *into, const struct sample *from, struct error *err)
{
	if (!same_shape(&into->shape, &from->shape))
		return error_set(
			err, RC_CONFIG,
			"found samples with different row keys, expected the same parts and salt");
	sketch_merge(into->sketch, from->sketch);
	return RC_OK;
}

struct sketch *sample_sketch(struct sample *s)
{
	return s->sketch;
}

void sample_save(const struct sample *s, struct buf *out)
{
	size_t start = frame_begin(out, magic, VERSION);

	buf_be32(out, s->shape.salt_bytes);
	buf_be32(out, s->shape.buckets);
	buf_be32(out, (uint32_t)s->shape.nparts);
	for (size_t i = 0; i < s->shape.nparts; i++) {
		buf_be32(out, s->shape.parts[i].width);
		buf_be32(out, (uint32_t)s->shape.parts[i].terminator);
	}
	frame_end(out, start);
	sketch_save(s->sketch, out);
}

static int take_shape(struct key_shape *shape, const char *name, struct bytes *file,
		      struct error *err)
{
	struct frame_reader c = {0};

	int rc = frame_take(file, magic, VERSION, name, &c.rest, err);
	if (rc)
		return rc;
	shape->salt_bytes = frame_be32(&c);
	shape->buckets = frame_be32(&c);
	shape->nparts = frame_be32(&c);
	for (size_t i = 0; i < shape->nparts && i < SHAPE_MAX_PARTS; i++) {
		shape->parts[i].width = frame_be32(&c);
		shape->parts[i].terminator = (int)frame_be32(&c);
	}
	if (c.bad || c.rest.len || shape->nparts > SHAPE_MAX_PARTS || shape->salt_bytes > 8)
		return error_set(
			err, RC_DATA,
			"%s: found an inconsistent key shape, expected that of a sample; the file is damaged",
			name);
	return RC_OK;
}

int sample_load(struct sample **out, const char *name, struct bytes file, struct error *err)
{
	struct sample *s = mem_calloc(1, sizeof *s);

	*out = NULL;
	int rc = take_shape(&s->shape, name, &file, err);
	if (rc == RC_OK)
		rc = sketch_take(&s->sketch, name, &file, err);
	if (rc == RC_OK && file.len)
		rc = error_set(err, RC_DATA,
			       "%s: found %zu extra bytes at the end, expected the end of the file",
			       name, file.len);
	if (rc) {
		sample_free(s);
		return rc;
	}
	*out = s;
	return RC_OK;
}
