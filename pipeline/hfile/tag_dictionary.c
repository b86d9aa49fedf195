/*
 * tag_dictionary.c - decode tags that a dictionary has compressed
 *
 *   new tag    FF | v7 bytes | type and value
 *   known tag  i16 its index
 */
#include "tag_dictionary.h"

#define NEW_TAG 0xff

/*
 * Add a tag. If the dictionary is full, the tag replaces the tag that has had no use for the
 * longest time.
 */
static void remember(struct tag_dictionary *d, size_t at, size_t bytes)
{
	size_t i = d->count;

	if (d->count < TAG_DICTIONARY_MAX) {
		d->count++;
	} else {
		i = 0;
		for (size_t k = 1; k < d->count; k++)
			if (d->entry[k].met < d->entry[i].met)
				i = k;
	}
	d->entry[i] = (struct tag_place){at, bytes, ++d->clock};
}

/* Append a tag's length. Returns false if the length or the tag is too long. */
static bool put_length(struct buf *out, size_t bytes, size_t *left)
{
	uint8_t length[2];

	if (bytes < 1 || *left < 2 || bytes > *left - 2)
		return false;
	put_be16(length, (uint16_t)bytes);
	buf_fill(out, length, sizeof length);
	*left -= 2 + bytes;
	return true;
}

static bool take_new(struct tag_dictionary *d, const uint8_t **p, const uint8_t *end, size_t *left,
		     struct buf *out)
{
	uint64_t bytes;
	size_t n = get_varint(*p, end, &bytes);

	if (n == 0 || bytes > (uint64_t)(end - *p) - n || !put_length(out, (size_t)bytes, left))
		return false;
	*p += n;
	remember(d, out->len, (size_t)bytes);
	buf_fill(out, *p, (size_t)bytes);
	*p += bytes;
	return true;
}

bool hfile_tags_unpack(struct tag_dictionary *d, const uint8_t **p, const uint8_t *end,
		       size_t bytes, struct buf *out)
{
	while (bytes) {
		if (*p == end)
			return false;
		uint8_t status = *(*p)++;
		if (status == NEW_TAG) {
			if (!take_new(d, p, end, &bytes, out))
				return false;
			continue;
		}
		size_t i = *p == end ? SIZE_MAX : (size_t)status << 8 | **p;
		if (i >= d->count || !put_length(out, d->entry[i].bytes, &bytes))
			return false;
		(*p)++;
		d->entry[i].met = ++d->clock;
		buf_fill(out, out->ptr + d->entry[i].at, d->entry[i].bytes);
	}
	return true;
}
