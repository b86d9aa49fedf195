/* run_reader.c - read a run in order, and find a key in it */
#include "sorted_run.h"

#include <inttypes.h>

#include "io.h"

enum { STRINGS_MAX = 16, STRINGS_BYTES = 4096 };

const uint8_t codec_mask[2 * MERGED_BYTES] = {
#define ONES_8 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
	ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8,
#undef ONES_8
};

const uint8_t *packed_read_any(const struct run_codec *c, const uint8_t *p, const uint8_t *end,
			       const uint8_t *before, size_t before_bytes, uint8_t *string,
			       struct record_item *out)
{
	struct packed_head h;
	const uint8_t *tail = packed_read_header(c, p, end, &h);

	if (!tail || h.shared > before_bytes)
		return NULL;
	return packed_take(c, &h, tail, before, before_bytes, string, out);
}

/* Return how many strings fit in the first-level cache. A reader needs the previous string to read
 * a string. */
static unsigned strings_kept(size_t string_max)
{
	unsigned n = STRINGS_MAX;

	while (n > 2 && n * (string_max + SLACK_BYTES) > STRINGS_BYTES)
		n /= 2;
	return n;
}

size_t reader_strings_bytes(size_t string_max)
{
	return strings_kept(string_max) * (string_max + SLACK_BYTES);
}

void reader_start(struct run_reader *rd, const struct run *r)
{
	size_t string_max = r->codec.string_max, bytes = reader_strings_bytes(string_max);

	rd->run = r;
	rd->next = rd->end = NULL;
	rd->turn = 0;
	rd->nstrings = strings_kept(string_max);
	rd->string_cap = string_max + SLACK_BYTES;
	if (bytes <= rd->strings_bytes)
		return;
	mem_free(rd->strings);
	/* The function loads bytes after a string, but they have no effect. */
	rd->strings = mem_calloc(1, bytes);
	rd->strings_bytes = bytes;
}

void reader_release(struct run_reader *rd)
{
	mem_free(rd->strings);
	buf_release(&rd->blocks);
	*rd = (struct run_reader){0};
}

int reader_load(struct run_reader *rd, size_t first, size_t end, struct error *err)
{
	const struct run *r = rd->run;
	uint64_t at = r->blocks[first].offset;
	size_t len = (size_t)(r->blocks[end].offset - at);

	rd->last_bytes = 0;
	if (r->data) {
		rd->next = r->data + at;
		rd->end = rd->next + len;
		return RC_OK;
	}
	rd->blocks.len = 0;
	rd->next = buf_reserve(&rd->blocks, len + SLACK_BYTES);
	rd->end = rd->next + len;
	return io_pread(r->spill->fd, rd->blocks.ptr, len, r->spill_at + at, r->spill->dir, err);
}

int run_damaged(const struct run *r, struct error *err)
{
	return error_set(
		err, RC_IO,
		"%s: found damaged sorted rows, expected them unchanged; check this memory or "
		"disk, and run the command again",
		r->data ? "memory" : r->spill->dir);
}

size_t run_blocks_below(const struct run *r, struct bytes key, bool or_equal)
{
	size_t lo = 0, hi = r->nblocks;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = bytes_cmp(run_block_key(r, mid), key);

		if (c < 0 || (c == 0 && or_equal))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void keep_larger(struct buf *below, struct bytes key)
{
	if (bytes_cmp(key, buf_bytes(below)) <= 0)
		return;
	below->len = 0;
	buf_append(below, key.ptr, key.len);
}

/*
 * Read the block in memory, and stop before the first record with a key >= the wanted key.
 */
static int scan_in_full(struct run_reader *rd, struct bytes key, const struct weigher *w,
			uint64_t *weight, struct error *err)
{
	while (rd->next < rd->end) {
		const uint8_t *here = rd->next;
		size_t bytes = rd->last_bytes;
		int rc = reader_read(rd, err);

		if (rc)
			return rc;
		const struct record_item *it = reader_item(rd, rd->turn);
		if (bytes_cmp(it->rec.key, key) >= 0) {
			rd->next = here;
			rd->last_bytes = bytes;
			rd->turn--;
			return RC_OK;
		}
		*weight += w ? weigh_item(w, it) : 0;
	}
	return RC_OK;
}

/* Return true if a record's key is below `key`. The record's key begins with the first *match bytes
 * of `key` and continues with `rest`. */
static bool rest_is_below(struct bytes rest, struct bytes key, size_t *match)
{
	struct bytes want = bytes_of(key.ptr + *match, key.len - *match);
	size_t n = rest.len < want.len ? rest.len : want.len, i = 0;

	while (n - i >= 8 && differing_bits(rest.ptr + i, want.ptr + i) == 0)
		i += 8;
	while (i < n && rest.ptr[i] == want.ptr[i])
		i++;
	*match += i;
	return i < n ? rest.ptr[i] < want.ptr[i] : rest.len < want.len;
}

/*
 * Do the work of scan_in_full with few comparisons (offset-value coding; Conner, IBM TDB 20(7),
 * 1977). The last record is below the key, and their first `match` bytes are equal. A record that
 * shares more bytes with the last record is also below the key. A record that shares fewer bytes is
 * above the key. The function compares only a record that shares exactly `match` bytes, from the
 * next byte on.
 *
 * This function cannot read keys of several lengths with secondaries, because a secondary may be at
 * the place of another record's key.
 */
static int scan_by_match(struct run_reader *rd, struct bytes key, const struct weigher *w,
			 uint64_t *weight, struct error *err)
{
	const struct run_codec *c = &rd->run->codec;
	struct record_item *it = reader_item(rd, rd->turn);
	uint8_t *string = reader_string(rd, rd->turn);
	size_t match = 0, passed = 0; /* bytes of the string */

	while (rd->next < rd->end) {
		struct packed_head h;
		const uint8_t *tail = packed_read_header(c, rd->next, rd->end, &h);

		if (!tail || h.shared > passed)
			return run_damaged(rd->run, err);
		size_t bytes = h.shared + h.tail, key_len = bytes - c->secondary_bytes;
		if (h.shared < match)
			break;
		if (h.shared == match &&
		    !rest_is_below(bytes_of(tail, key_len - match), key, &match))
			break;
		copy_with_slack(string + h.shared, tail, h.tail);
		it->large = h.large;
		it->rec = (struct record){.key = bytes_of(string, key_len),
					  .secondary = string + key_len,
					  .seq = h.seq,
					  .payload = bytes_of(tail + h.tail, h.payload)};
		*weight += w ? weigh_item(w, it) : 0;
		rd->next = tail + h.tail + h.payload;
		passed = bytes;
	}
	rd->last_bytes = passed;
	return RC_OK;
}

int run_seek(struct run_reader *rd, struct bytes key, const struct weigher *w,
	     struct run_position *out, struct buf *below, struct error *err)
{
	/* The last block that starts below `key` may end with records equal to `key`, so read this
	 * block. */
	const struct run *r = rd->run;
	size_t block = run_blocks_below(r, key, false);

	*out = (struct run_position){0};
	if (block == 0)
		return r->nblocks ? reader_load(rd, 0, 1, err) : RC_OK;
	block--;
	int rc = reader_load(rd, block, block + 1, err);
	if (rc)
		return rc;
	const uint8_t *start = rd->next;
	out->weight_below = r->blocks[block].weight;
	if (r->codec.fixed || r->codec.secondary_bytes == 0)
		rc = scan_by_match(rd, key, w, &out->weight_below, err);
	else
		rc = scan_in_full(rd, key, w, &out->weight_below, err);
	if (rc)
		return rc;
	if (below)
		keep_larger(below, rd->next == start ? run_block_key(r, block)
						     : reader_item(rd, rd->turn)->rec.key);
	out->offset = r->blocks[block].offset + (uint64_t)(rd->next - start);
	out->block = rd->next < rd->end ? block : block + 1;
	return RC_OK;
}
