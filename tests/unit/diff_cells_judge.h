/*
 * diff_cells_judge.h - the cells of hfile_diff_cells against those of the careful decoder, for the
 * unit test and the fuzz target
 *
 * hfile_diff_cells may refuse any block. If it accepts a block, the careful decoder has the same
 * cells, and each cell is valid and in order.
 */
#ifndef SALTMILL_DIFF_CELLS_JUDGE_H
#define SALTMILL_DIFF_CELLS_JUDGE_H

#include "mem.h"
#include "pipeline/hfile/block.h"
#include "pipeline/hfile/block_encode.h"
#include "pipeline/hfile/diff_cells.h"

/* Return the step between two cells of the careful decoder, or -1 if they are not in order. */
static int judge_step(const struct cell *before, const struct cell *c)
{
	if (cell_key_cmp(before, c) > 0)
		return -1;
	if (!bytes_eq(before->row, c->row))
		return HFILE_NEW_ROW;
	return bytes_eq(before->qualifier, c->qualifier) ? HFILE_SAME_COLUMN : HFILE_NEW_COLUMN;
}

static bool judge_same(const struct block_cells *found, struct bytes plain)
{
	const uint8_t *p = plain.ptr, *end = p + plain.len;
	struct cell before = {0}, c;
	struct kv kv;
	bool puts = true;

	for (size_t i = 0; i < found->n; i++, p += kv.size, before = c) {
		const struct cell *f = &found->cell[i];

		if (!hfile_kv_parse(p, end, &kv) || !hfile_kv_key_parse(kv.key, &c))
			return false;
		if (c.row.len == 0 || c.ts < 0 || !cell_type_known(c.type) ||
		    (i && judge_step(&before, &c) != found->step[i]))
			return false;
		if (!bytes_eq(f->row, c.row) || !bytes_eq(f->family, c.family) ||
		    !bytes_eq(f->qualifier, c.qualifier) || !bytes_eq(f->value, kv.value) ||
		    f->ts != c.ts || f->type != c.type || f->tags.len || f->mvcc)
			return false;
		puts &= c.type == CELL_PUT;
	}
	return p == end && found->plain == puts;
}

/* Decode a copy of the payload, whose slack has only the byte `slack`. */
static bool judge_decode(struct bytes payload, uint8_t slack, uint8_t **copy, struct buf *keys,
			 struct block_cells *out)
{
	*copy = mem_alloc(payload.len + HBLOCK_SLACK);
	if (payload.len)
		memcpy(*copy, payload.ptr, payload.len);
	memset(*copy + payload.len, slack, HBLOCK_SLACK);
	return hfile_diff_cells(bytes_of(*copy, payload.len), keys, out);
}

/* Return false if the two decoders differ. Sets *accepted if hfile_diff_cells accepts the block. */
static bool diff_cells_judge(struct bytes payload, bool *accepted)
{
	const struct block_format format = {.encoding = ENCODING_DIFF, .careful = true};
	struct block_cells cells[2] = {{0}};
	struct buf keys[2] = {{0}}, store = {0};
	uint8_t *copy[2];
	struct bytes plain;
	struct error err;
	bool ok = true;

	*accepted = judge_decode(payload, 0, &copy[0], &keys[0], &cells[0]);
	ok = judge_decode(payload, 0xa5, &copy[1], &keys[1], &cells[1]) == *accepted;
	int rc = hfile_block_decode(&format, payload, &store, &plain, &err);
	if (*accepted)
		ok = ok && rc == 0 && cells[0].n && judge_same(&cells[0], plain) &&
		     judge_same(&cells[1], plain);
	else
		ok = ok && cells[0].n == 0 && cells[1].n == 0;
	for (int i = 0; i < 2; i++) {
		hfile_block_cells_release(&cells[i]);
		buf_release(&keys[i]);
		mem_free(copy[i]);
	}
	buf_release(&store);
	return ok;
}

#endif
