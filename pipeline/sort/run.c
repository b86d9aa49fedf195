/*
 * run.c - write a run, its seek index, and find a key in it again
 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io.h"
#include "units.h"

void spill_close(struct spill *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	if (s->quota)
		budget_give(s->quota, s->held_bytes);
	s->held_bytes = 0;
}

int spill_open(struct spill *s, struct error *err)
{
	if (s->fd < 0)
		s->fd = io_open_temp(s->dir, err);
	return s->fd < 0 ? RC_IO : RC_OK;
}

static int take_quota(struct spill *s, size_t len, struct error *err)
{
	char limit[16], used[16];
	if (!s->quota)
		return RC_OK;
	if (!budget_take(s->quota, len))
		return error_set(err, RC_LIMIT,
				 "the temporary files may hold %s (--temp-quota), %s of sorted rows are in them and "
				 "more are to come: raise --temp-quota, or --memory so that less is spilled",
				 format_bytes(limit, s->quota->limit),
				 format_bytes(used, atomic_load(&s->quota->used)));
	s->held_bytes += len;
	return RC_OK;
}

int spill_write(struct spill *s, const uint8_t *p, size_t len, struct error *err)
{
	int rc = take_quota(s, len, err);
	if (rc)
		return rc;
	while (len > 0) {
		ssize_t n = pwrite(s->fd, p, len, (off_t)s->end);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err,
					   "cannot write %zu more bytes of sorted rows to a temporary file in "
					   "%s, after %" PRIu64 " bytes",
					   len, s->dir, s->end);
		p += n;
		len -= (size_t)n;
		s->end += (uint64_t)n;
	}
	return RC_OK;
}

void run_free(struct run *r, struct budget *budget)
{
	if (!r)
		return;
	budget_give(budget, r->held_bytes);
	span_release(&r->span);
	buf_release(&r->keys);
	mem_free(r->blocks);
	mem_free(r->data);
	mem_free(r);
}

void run_punch(const struct run *r)
{
	/* A file system that cannot do it keeps the bytes until the file is closed: no fault. */
	struct spill *s = r->spill;
	if (r->data || r->bytes == 0 ||
	    fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)r->spill_at,
		      (off_t)r->bytes) < 0)
		return;
	if (s->quota)
		budget_give(s->quota, r->bytes);
	s->held_bytes -= s->quota ? r->bytes : 0;
}

int run_evict(struct run *r, struct spill *spill, struct budget *budget, struct error *err)
{
	int rc = spill_open(spill, err);
	uint64_t at = spill->end;
	if (rc == RC_OK)
		rc = spill_write(spill, r->data, r->bytes, err);
	if (rc)
		return rc;
	mem_free(r->data);
	r->data = NULL;
	r->spill = spill;
	r->spill_at = at;
	budget_give(budget, r->bytes);
	r->held_bytes -= r->bytes;
	return RC_OK;
}

static void writer_init(struct run_writer *w, struct run *run)
{
	w->run = run;
	w->used = 0;
	w->flushed = 0;
	w->weight = 0;
	w->block_end = 0;
}

/*
 * Huge pages cost a fault where others cost 512 (speed.md 7).  The start is aligned, and what does
 * not fill a huge page at the end stays in small ones: nothing is touched in vain.
 */
static void *alloc_in_huge_pages(size_t bytes)
{
	void *p = NULL;
	if (bytes < HUGE_PAGE_BYTES || posix_memalign(&p, HUGE_PAGE_BYTES, bytes) != 0)
		return mem_alloc(bytes);
	(void)madvise(p, bytes / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES, MADV_HUGEPAGE);
	return p;
}

void run_writer_memory(struct run_writer *w, struct run *run, size_t bytes)
{
	writer_init(w, run);
	w->spill = NULL;
	w->buf = run->data = alloc_in_huge_pages(bytes + SLACK_BYTES);
	w->cap = bytes;
	run->held_bytes = bytes;
}

int run_writer_spill(struct run_writer *w, struct run *run, struct spill *spill, uint8_t *buf,
		     size_t cap, struct error *err)
{
	writer_init(w, run);
	int rc = spill_open(spill, err);
	if (rc)
		return rc;
	w->spill = spill;
	w->buf = buf;
	w->cap = cap;
	run->spill = spill;
	run->spill_at = spill->end;
	return RC_OK;
}

static void index_add(struct run_writer *w, uint64_t offset, struct bytes key)
{
	struct run *run = w->run;
	if (run->nblocks == run->blocks_cap) {
		run->blocks_cap = run->blocks_cap ? 2 * run->blocks_cap : 64;
		run->blocks = mem_realloc(run->blocks, run->blocks_cap * sizeof(*run->blocks));
	}
	if (run->nblocks > 0 && offset - run->blocks[run->nblocks - 1].offset > run->widest)
		run->widest = offset - run->blocks[run->nblocks - 1].offset;
	run->blocks[run->nblocks++] = (struct block){offset, w->weight, run->keys.len};
	buf_append(&run->keys, key.ptr, key.len);
}

static int writer_flush(struct run_writer *w, struct error *err)
{
	int rc = spill_write(w->spill, w->buf, w->used, err);
	w->flushed += w->used;
	w->used = 0;
	return rc;
}

/* A record that is larger than the buffer. */
static int put_giant(struct run_writer *w, const struct record *r, size_t body, struct error *err)
{
	uint8_t *end = record_write_header(&w->run->codec, r, w->buf);
	w->used = (size_t)(end - w->buf);
	int rc = writer_flush(w, err);
	w->flushed += body;
	return rc ? rc : spill_write(w->spill, r->key.ptr, body, err);
}

int run_writer_put(struct run_writer *w, const struct record *r, struct error *err)
{
	const struct record_codec *codec = &w->run->codec;
	size_t body = record_body_bytes(codec, r);
	size_t len = record_header_bytes(codec, r) + body;
	uint64_t offset = w->flushed + w->used;
	if (offset + len > w->block_end) {
		index_add(w, offset, r->key);
		w->block_end = offset + BLOCK_BYTES;
	}
	w->weight += weigh_record(&w->weigher, r);
	w->run->records++;
	if (w->used + len > w->cap) {
		int rc = writer_flush(w, err);
		if (rc)
			return rc;
		if (len > w->cap)
			return put_giant(w, r, body, err);
	}
	uint8_t *p = record_write_header(codec, r, w->buf + w->used);
	if (__builtin_expect(record_is_aside(r), 0))
		record_mark_aside(codec, w->buf + w->used);
	copy_with_slack(p, r->key.ptr, body);
	w->used += len;
	return RC_OK;
}

int run_writer_end(struct run_writer *w, struct error *err)
{
	struct run *run = w->run;
	int rc = w->spill ? writer_flush(w, err) : RC_OK;
	run->bytes = w->flushed + w->used;
	index_add(w, run->bytes, bytes_of(NULL, 0));
	run->nblocks--;
	run->blocks_cap = run->nblocks + 1;
	run->blocks = mem_realloc(run->blocks, run->blocks_cap * sizeof(*run->blocks));
	uint64_t index_bytes = sizeof(*run) + run->blocks_cap * sizeof(*run->blocks) +
			       run->keys.cap + run->span.sample.cap;
	budget_force(w->budget, index_bytes);
	run->held_bytes += index_bytes;
	return rc;
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

int run_load(const struct run *r, size_t first, size_t end, struct buf *buf, const uint8_t **out,
	     struct error *err)
{
	uint64_t at = r->blocks[first].offset;
	size_t len = (size_t)(r->blocks[end].offset - at);
	if (r->data) {
		*out = r->data + at;
		return RC_OK;
	}
	buf->len = 0;
	*out = buf_reserve(buf, len + SLACK_BYTES);
	return io_pread(r->spill->fd, buf->ptr, len, r->spill_at + at, r->spill->dir, err);
}

int run_damaged(const struct run *r, struct error *err)
{
	return error_set(err, RC_IO,
			 "a temporary file in %s does not hold the sorted rows that were written to it",
			 r->data ? "memory" : r->spill->dir);
}

static void keep_larger(struct buf *below, struct bytes key)
{
	if (bytes_cmp(key, buf_bytes(below)) <= 0)
		return;
	below->len = 0;
	buf_append(below, key.ptr, key.len);
}

int run_seek(const struct run *r, struct bytes key, const struct weigher *w, struct buf *scratch,
	     struct run_position *out, struct buf *below, struct error *err)
{
	/* Records equal to key may end the last block that starts below it: look there. */
	size_t block = run_blocks_below(r, key, false);
	*out = (struct run_position){0};
	if (block == 0)
		return RC_OK;
	block--;
	const uint8_t *p;
	int rc = run_load(r, block, block + 1, scratch, &p, err);
	if (rc)
		return rc;
	const uint8_t *start = p, *end = p + (r->blocks[block + 1].offset - r->blocks[block].offset);
	struct bytes last = run_block_key(r, block);
	uint64_t weight = r->blocks[block].weight;
	while (p < end) {
		struct record rec;
		const uint8_t *next = record_read(&r->codec, p, &rec);
		if ((size_t)(next - p) > (size_t)(end - p))
			return run_damaged(r, err);
		if (bytes_cmp(rec.key, key) >= 0)
			break;
		last = rec.key;
		weight += w ? weigh_record(w, &rec) : 0;
		p = next;
	}
	if (below)
		keep_larger(below, last);
	out->offset = r->blocks[block].offset + (uint64_t)(p - start);
	out->block = p < end ? block : block + 1;
	out->weight_below = weight;
	return RC_OK;
}
