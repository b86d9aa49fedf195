/*
 * run_cursor.c - find the part of a run that a merge reads, and read its blocks
 */
#include "run_cursor.h"

static void hold_memory(struct run_cursor *c, struct budget *budget)
{
	uint64_t bytes = c->reader.blocks.cap + c->reader.strings_bytes;

	if (bytes > c->held_bytes)
		budget_force(budget, bytes - c->held_bytes);
	else
		budget_give(budget, c->held_bytes - bytes);
	c->held_bytes = bytes;
}

void run_cursor_release(struct run_cursor *c, struct budget *budget)
{
	reader_release(&c->reader);
	hold_memory(c, budget);
}

int run_cursor_refill(struct run_cursor *c, const struct sorter *s, struct error *err)
{
	struct run_reader *rd = &c->reader;
	const struct run *run = rd->run;
	uint64_t at = run->blocks[c->block].offset;
	size_t end = c->block + 1;

	if (run->data || c->block == run->nblocks || at >= c->stop) {
		c->done = true;
		return RC_OK;
	}
	while (end < run->nblocks && run->blocks[end].offset < c->stop &&
	       run->blocks[end + 1].offset - at <= s->read_bytes)
		end++;
	if (rd->blocks.cap > 2 * s->read_bytes)
		buf_release(&rd->blocks); /* free the memory of a huge record */
	int rc = reader_load(rd, c->block, end, err);
	hold_memory(c, s->opt.budget);
	if (rc)
		return rc;
	if (run->blocks[end].offset > c->stop)
		rd->end = rd->next + (c->stop - at);
	c->block = end;
	return RC_OK;
}

int run_cursor_open(struct run_cursor *c, const struct sorter *s, const struct run *run,
		    struct bytes lo, struct bytes hi, struct error *err)
{
	struct run_reader *rd = &c->reader;
	struct run_position from = {0}, to = {.offset = run->bytes};

	reader_start(rd, run);
	if (!run->data)
		buf_reserve(&rd->blocks, s->read_bytes + SLACK_BYTES);
	int rc = hi.len ? run_seek(rd, hi, NULL, &to, NULL, err) : RC_OK;
	if (rc == RC_OK)
		rc = run_seek(rd, lo, NULL, &from, NULL, err);
	hold_memory(c, s->opt.budget);
	if (rc)
		return rc;
	c->stop = from.offset < to.offset ? to.offset
					  : 0; /* 0 means that the run has no record in the range */
	c->block = from.block + (rd->next < rd->end ? 1 : 0);
	if (!c->stop)
		rd->end = rd->next;
	else if (run->data)
		rd->end = run->data + c->stop;
	else if (c->stop - from.offset < (size_t)(rd->end - rd->next))
		rd->end = rd->next + (c->stop - from.offset);
	return RC_OK;
}
