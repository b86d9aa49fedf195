/*
 * block_walk.c - check that all blocks from offset 0 on agree with each other and with the trailer
 *
 * Checksums prove that a block is unchanged, but not that it is at the right place. The trailer has
 * no checksum. So a walk over all blocks also checks that each block is in its section and links to
 * its previous block. The sums must equal the trailer's sums.
 */
#include "reader.h"

/*
 * Count a block for the trailer's totals (README.md 8), and check that a block of its type may be
 * at this offset.
 */
static int count_block(struct hfile *f, struct error *err)
{
	struct block_sums *s = &f->sums;
	const struct hblock *b = &f->walk;
	bool tail = b->place.offset >= f->trailer.load_on_open_offset;
	bool data_root = b->place.offset == f->root_place.offset;

	if ((b->type <= HBLOCK_INTERMEDIATE) == tail)
		return error_set(
			err, RC_DATA,
			"found a block of type %s, expected it %s the load-on-open offset %llu",
			hfile_block_magic(b->type), tail ? "before" : "after",
			(unsigned long long)f->trailer.load_on_open_offset);
	if (!data_root && b->type != HBLOCK_INTERMEDIATE)
		s->total_bytes += HBLOCK_HEADER + (uint64_t)b->place.plain_bytes;
	if (data_root || b->type == HBLOCK_INTERMEDIATE || b->type == HBLOCK_LEAF)
		s->index_bytes += b->place.plain_bytes;
	if (b->type == HBLOCK_BLOOM)
		s->bloom_bytes += b->place.plain_bytes;
	s->blocks[hfile_reader_chain(b->type)]++;
	return 0;
}

static int check_link(struct hfile *f, struct error *err)
{
	const struct hblock *b = &f->walk;
	int64_t *previous = &f->sums.previous[hfile_reader_chain(b->type)];

	if (*previous != HFILE_NOT_KNOWN && b->previous != *previous)
		return error_set(err, RC_DATA, "found prevBlockOffset %lld, expected %lld",
				 (long long)b->previous, (long long)*previous);
	if (*previous == -1 && hfile_reader_chain(b->type) == HBLOCK_DATA)
		f->sums.first_data = b->place.offset;
	*previous = (int64_t)b->place.offset;
	return 0;
}

static void forget_links(struct block_sums *s, int64_t previous)
{
	for (int t = 0; t < HBLOCK_TYPES; t++)
		s->previous[t] = previous;
}

static void start(struct block_sums *s)
{
	*s = (struct block_sums){.whole = true, .first_data = UINT64_MAX};
	forget_links(s, -1);
}

int hfile_check_numbers(const struct hfile *f, const struct hfile_number *n, size_t count,
			struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (n[i].found != n[i].expected)
			return error_set(err, RC_DATA, "%s: %s: found %llu, expected %llu",
					 f->source.name, n[i].what, (unsigned long long)n[i].found,
					 (unsigned long long)n[i].expected);
	return 0;
}

/* Check that the trailer has the number of levels from the root to the first data block. */
static int check_levels(struct hfile *f, struct error *err)
{
	const struct hfile_trailer *t = &f->trailer;
	struct hindex_entry e;
	struct hindex_node node;
	struct bytes key;
	int rc = 0;

	if (f->root.count == 0)
		return 0;
	e = f->root.entry[0];
	for (uint32_t level = 1; rc == RC_OK && level < t->index_levels; level++) {
		rc = hfile_reader_load_node(f, level, &e, &f->node, &node, err);
		if (rc == RC_OK)
			rc = hfile_index_node_entry(&node, 0, &e, &key, err);
	}
	const struct hfile_number n = {"the first data block in the index", e.offset,
				       f->sums.first_data};
	return rc ? rc : hfile_check_numbers(f, &n, 1, err);
}

static int finish(struct hfile *f, struct error *err)
{
	const struct hfile_trailer *t = &f->trailer;
	const struct block_sums *s = &f->sums;
	const struct hfile_number all[] = {
		{"the trailer's file info offset", t->file_info_offset, f->info_place.offset},
		{"the trailer's index bytes", t->uncompressed_index_bytes, s->index_bytes},
		{"the trailer's uncompressed bytes", t->total_uncompressed_bytes,
		 s->total_bytes + t->trailer_bytes},
		{"the trailer's meta block count", t->meta_index_count, s->blocks[HBLOCK_META]},
		{"the trailer's first data block", t->first_data_block, s->first_data},
		{"the trailer's last data block", t->last_data_block,
		 (uint64_t)s->previous[HBLOCK_DATA]},
	};
	/* the last two checks need data blocks */
	size_t count = sizeof all / sizeof *all - (s->blocks[HBLOCK_DATA] ? 0 : 2);
	int rc = s->whole ? hfile_check_numbers(f, all, count, err) : 0;

	if (rc == RC_OK && s->whole)
		rc = check_levels(f, err);
	return rc ? rc : RC_END;
}

int hfile_next_block(struct hfile *f, uint64_t *at, struct hfile_block *out, struct error *err)
{
	uint64_t offset = *at;

	if (offset == 0)
		start(&f->sums);
	if (offset >= f->in.limit)
		return finish(f, err);
	int rc = hfile_block_read(&f->in, offset, 0, &f->walk, err);
	/* Skip a damaged block if its header is sound. */
	*at += f->walk.place.disk_bytes;
	if (rc == RC_OK) {
		rc = count_block(f, err);
		if (rc == RC_OK)
			rc = check_link(f, err);
		if (rc)
			error_prefix(err, "%s: block at %llu: ", f->source.name,
				     (unsigned long long)offset);
	}
	if (rc) {
		f->sums.whole = false;
		forget_links(&f->sums, HFILE_NOT_KNOWN);
		return rc;
	}
	*out = (struct hfile_block){.offset = offset,
				    .disk_bytes = f->walk.place.disk_bytes,
				    .plain_bytes = f->walk.place.plain_bytes,
				    .previous = f->walk.previous,
				    .payload = f->walk.payload};
	memcpy(out->type, hfile_block_magic(f->walk.type), sizeof out->type);
	return 0;
}
