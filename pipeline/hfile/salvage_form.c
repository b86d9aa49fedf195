/*
 * salvage_form.c - find the form of cells without trailer and file info
 *
 * The program tries each codec, and each combination of tags and mvcc after the cells. A wrong
 * combination misses the start of the next cell, so that the block does not parse to its end.
 */
#include "salvage.h"

#define BLOCKS_MOST 64

static const struct form {
	struct cell_tail tail;
	bool packed;
} forms[] = {{{false, false}, false}, {{false, true}, false}, {{true, false}, false},
	     {{true, true}, false},   {{true, false}, true},  {{true, true}, true}};
#define FORMS (sizeof forms / sizeof *forms)

/* The combinations that fit all blocks so far. */
struct alive {
	bool it[CODECS][FORMS];
	size_t n;
};

static bool is_data(const struct hblock *b)
{
	return hfile_reader_chain(b->type) == HBLOCK_DATA;
}

/* Take the encoding from the block. Returns false if the encoding is unknown. */
static bool take_encoding(struct hfile *f, const struct hblock *b)
{
	f->format.encoding = ENCODING_NONE;
	if (b->type != HBLOCK_ENCODED)
		return true;
	if (b->payload.len < 2)
		return false;
	f->format.encoding = (enum block_encoding)get_be16(b->payload.ptr);
	return f->format.encoding != ENCODING_NONE &&
	       strcmp(encoding_name(f->format.encoding), "unknown") != 0;
}

static bool fits(struct hfile *f, const struct hblock *b, const struct form *form)
{
	struct error err;
	struct bytes cells;
	struct cell first;

	f->format.tail = form->tail;
	f->format.packed_tags = form->packed;
	if (!take_encoding(f, b) || (form->packed && f->format.encoding == ENCODING_NONE))
		return false;
	return hfile_reader_block_cells(f, b, &cells, &err) == RC_OK &&
	       hfile_salvage_check(f, cells, &first, &err) == RC_OK;
}

/* Try the combinations on a block, which is packed. */
static void try_block(struct hfile *f, struct hblock *b, const struct alive *before,
		      struct alive *out)
{
	const struct bytes packed = b->payload;
	struct error err;

	*out = (struct alive){.n = 0};
	for (int c = 0; c < CODECS; c++) {
		f->in.codec = (enum codec)c;
		b->payload = packed;
		if ((c == CODEC_NONE && packed.len != b->place.plain_bytes) ||
		    hfile_block_unpack(&f->in, b, &err))
			continue;
		for (size_t i = 0; i < FORMS; i++) {
			out->it[c][i] = before->it[c][i] && fits(f, b, &forms[i]);
			out->n += out->it[c][i];
		}
	}
}

static int choose(struct hfile *f, const struct alive *a, struct error *err)
{
	const struct form *found = NULL;

	for (int c = 0; c < CODECS; c++)
		for (size_t i = 0; i < FORMS; i++) {
			if (!a->it[c][i])
				continue;
			/* without tags, packed tags are the same bytes */
			if (found && !(found->tail.tags && forms[i].packed &&
				       f->trailer.codec == (enum codec)c &&
				       found->tail.mvcc == forms[i].tail.mvcc))
				return error_set(err, RC_DATA,
						 "%s: found no file info, and several forms of "
						 "cells that fit the data blocks",
						 f->source.name);
			if (!found) {
				found = &forms[i];
				f->trailer.codec = (enum codec)c;
			}
		}
	if (!found)
		return error_set(err, RC_DATA, "%s: found no intact data block, expected one",
				 f->source.name);
	f->in.codec = f->trailer.codec;
	f->format.tail = found->tail;
	f->format.packed_tags = found->packed;
	return RC_OK;
}

int hfile_salvage_form(struct hfile *f, struct error *err)
{
	struct alive all = {.n = 0}, now;
	struct error why;
	uint64_t at = 0;
	int rc = RC_OK;

	memset(all.it, true, sizeof all.it);
	for (unsigned blocks = 0; blocks < BLOCKS_MOST && all.n != 1;) {
		f->in.codec = CODEC_ZSTD; /* any codec, because the blocks stay packed */
		rc = hfile_salvage_find(f, &at, &f->data, &why, err);
		if (rc)
			break;
		at += f->data.place.disk_bytes;
		if (!is_data(&f->data))
			continue;
		try_block(f, &f->data, &all, &now);
		if (now.n)
			all = now;
		blocks++;
	}
	if (all.n == 0)
		memset(all.it, false, sizeof all.it);
	return rc < 0 ? rc : choose(f, &all, err);
}
