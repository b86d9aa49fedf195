/*
 * tag_dictionary.h - tags that were compressed by a dictionary (COMPRESS_TAGS; README.md 4)
 *
 * TagCompressionContext over LRUDictionary: one dictionary a block, of 127 tags; when it is full
 * the tag that was not met for longest makes room.
 */
#ifndef SALTMILL_HFILE_TAG_DICTIONARY_H
#define SALTMILL_HFILE_TAG_DICTIONARY_H

#include "bytes.h"

#define TAG_DICTIONARY_MAX 127 /* Byte.MAX_VALUE */

/* {0} is empty.  Tags are places in the buffer that they were unpacked to. */
struct tag_dictionary {
	struct tag_place {
		size_t at, bytes;
		uint64_t met; /* when it was met last */
	} entry[TAG_DICTIONARY_MAX];
	size_t count;
	uint64_t clock;
};

/*
 * Read tags of `bytes` bytes, unpacked, from *p on and append them to out, where there is room;
 * advances *p.  False when they are damaged.
 */
bool hfile_tags_unpack(struct tag_dictionary *d, const uint8_t **p, const uint8_t *end,
		       size_t bytes, struct buf *out);

#endif
