/*
 * tag_dictionary.h - decode tags that a dictionary has compressed (COMPRESS_TAGS; README.md 4)
 *
 * TagCompressionContext over LRUDictionary: one dictionary for a block, with 127 tags. When it is
 * full, a new tag replaces the tag that has had no use for the longest time.
 */
#ifndef SALTMILL_HFILE_TAG_DICTIONARY_H
#define SALTMILL_HFILE_TAG_DICTIONARY_H

#include "bytes.h"

#define TAG_DICTIONARY_MAX 127 /* Byte.MAX_VALUE */

/* The dictionary. {0} is empty. A tag is an offset in the buffer of decoded tags. */
struct tag_dictionary {
	struct tag_place {
		size_t at, bytes;
		uint64_t met; /* number of the tag's last use */
	} entry[TAG_DICTIONARY_MAX];
	size_t count;
	uint64_t clock;
};

/*
 * Read tags of `bytes` decoded bytes from `*p`, and append these tags to `out`, which must have
 * room. Moves `*p` past the tags. Returns false if the tags are damaged.
 */
bool hfile_tags_unpack(struct tag_dictionary *d, const uint8_t **p, const uint8_t *end,
		       size_t bytes, struct buf *out);

#endif
