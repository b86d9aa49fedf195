/*
 * key_shape.c - the parts of a row key
 */
#include "splits.h"

size_t shape_part_end(uint32_t width, int terminator, struct bytes key, size_t at)
{
	if (width)
		return width <= key.len - at ? at + width : SIZE_MAX;
	if (terminator < 0)
		return key.len;
	const uint8_t *end = at < key.len ? memchr(key.ptr + at, terminator, key.len - at) : NULL;
	return end ? (size_t)(end - key.ptr) + 1 : SIZE_MAX;
}

size_t shape_ends(const struct key_shape *shape, struct bytes key, size_t ends[SHAPE_MAX_PARTS])
{
	size_t at = 0, n = 0;

	for (; n < shape->nparts; n++) {
		at = shape_part_end(shape->parts[n].width, shape->parts[n].terminator, key, at);
		if (at == SIZE_MAX)
			break;
		ends[n] = at;
	}
	return n;
}

unsigned shape_depth(const struct key_shape *shape, struct bytes below, struct bytes key)
{
	size_t ends[SHAPE_MAX_PARTS], n = shape_ends(shape, key, ends);
	size_t len = shortest_separator(below, key).len;
	unsigned depth = 0;

	while (depth < n && ends[depth] < len)
		depth++;
	return depth;
}
