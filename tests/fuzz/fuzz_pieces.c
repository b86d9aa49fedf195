/* fuzz_pieces.c - reads pieces of sorted rows with any content to the end, or gets an error */
#include "memory_file.h"

#include "mem.h"
#include "pipeline/load/map_reduce/pieces.h"
#include "hash.h"

/* Corrects the digest, so that the reader also reads the bytes after the digest. */
static void mend_digest(uint8_t *piece, size_t stored)
{
	XXH3_state_t x;

	XXH3_64bits_reset(&x);
	XXH3_64bits_update(&x, piece, PIECE_HEAD_BYTES - 8);
	XXH3_64bits_update(&x, piece + PIECE_HEAD_BYTES, stored);
	uint64_t digest = XXH3_64bits_digest(&x);
	for (size_t i = 0; i < 8; i++)
		piece[PIECE_HEAD_BYTES - 8 + i] = (uint8_t)(digest >> 8 * i);
}

/* Reads all records of a finished sorter. */
static void read_all(struct sorter *s, uint64_t records, size_t secondary_bytes)
{
	struct record_iter rows;
	struct record r;
	struct error err;
	uint64_t sum = 0;

	if (sorter_finish(s, &err) ||
	    sorter_range(s, bytes_of(NULL, 0), bytes_of(NULL, 0), &rows, &err))
		abort();
	for (; rows.next(rows.self, &r, &err) == RC_OK; records--) {
		if (r.key.len == 0 || r.key.len > ROW_KEY_MAX ||
		    r.secondary != r.key.ptr + r.key.len)
			abort();
		for (size_t i = 0; i < r.key.len + secondary_bytes; i++)
			sum += r.key.ptr[i];
		for (size_t i = 0; i < r.payload.len; i++)
			sum += r.payload.ptr[i];
	}
	if (records != 0 || sum == UINT64_MAX)
		abort();
	rows.close(rows.self);
}

/* A sorter that accepts a piece returns all its records, whether it merges or sorts them. */
static void sort_piece(const struct packed_records *p, bool in_order)
{
	struct budget budget = {.limit = 64u << 20};
	struct sorter_options opt = {.budget = &budget,
				     .temp_dir = "/tmp",
				     .threads = 1,
				     .secondary_bytes = p->codec.secondary_bytes,
				     .run_bytes = 1 << 20};
	struct sorter *s = sorter_new(&opt);
	struct run_builder *b = sorter_builder(s, 0);
	struct error err;
	int rc = run_builder_stretch(b, in_order ? UINT64_MAX : 0, false, &err);

	if (rc == RC_OK)
		rc = run_builder_add_packed(b, p, &err);
	expect_sentence(rc, &err);
	if (rc == RC_OK)
		read_all(s, p->records, opt.secondary_bytes);
	sorter_free(s);
}

static void read_piece(const uint8_t *piece, size_t secondary_bytes)
{
	struct piece_reader r = {0};
	struct packed_records p;
	struct piece_head h;
	struct error err;
	int rc = piece_head_read(&h, piece, "fuzz", &err);

	if (rc == RC_OK)
		rc = piece_open(&r, &h, piece, piece + PIECE_HEAD_BYTES, secondary_bytes, &p,
				"fuzz", &err);
	expect_sentence(rc, &err);
	if (rc == RC_OK) {
		sort_piece(&p, false);
		sort_piece(&p, true);
	}
	piece_reader_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct piece_head h;
	struct error err;

	if (size < PIECE_HEAD_BYTES)
		return 0;
	uint8_t *piece = mem_calloc(1, size + PACKED_ROOM_BYTES);
	memcpy(piece, data, size);
	size_t stored = size - PIECE_HEAD_BYTES;
	if (piece_head_read(&h, piece, "fuzz", &err) == RC_OK && h.stored <= stored) {
		read_piece(piece, 0);
		mend_digest(piece, (size_t)h.stored);
		read_piece(piece, 0);
		read_piece(piece, 8);
	}
	mem_free(piece);
	return 0;
}
