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

static void read_piece(const uint8_t *piece, size_t secondary_bytes)
{
	struct piece_reader r = {0};
	struct piece_head h;
	struct ordered_record row;
	struct error err;
	uint64_t records = 0, sum = 0;
	int rc = piece_head_read(&h, piece, "fuzz", &err);

	if (rc == RC_OK)
		rc = piece_open(&r, &h, piece, piece + PIECE_HEAD_BYTES, secondary_bytes, "fuzz",
				&err);
	while (rc == RC_OK && (rc = piece_next(&r, &row, "fuzz", &err)) == RC_OK) {
		const struct record rec = row.rec;
		size_t len = rec.key.len + secondary_bytes;

		if (row.shared > len ||
		    memcmp(row.tail, rec.key.ptr + row.shared, len - row.shared) != 0)
			abort();
		for (size_t i = 0; i < row.shared; i++) /* a reader may read the padding */
			sum += row.tail[(ptrdiff_t)i - (ptrdiff_t)row.shared];
		if (rec.key.len == 0 || rec.key.len > ROW_KEY_MAX ||
		    rec.secondary != rec.key.ptr + rec.key.len)
			abort();
		for (size_t i = 0; i < rec.key.len + secondary_bytes; i++)
			sum += rec.key.ptr[i];
		for (size_t i = 0; i < rec.payload.len; i++)
			sum += rec.payload.ptr[i];
		records++;
	}
	expect_sentence(rc, &err);
	if (rc == RC_END && (records != h.records || sum == UINT64_MAX))
		abort();
	piece_reader_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct piece_head h;
	struct error err;

	if (size < PIECE_HEAD_BYTES)
		return 0;
	uint8_t *piece = mem_calloc(1, size + RECORD_ROOM_BYTES);
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
