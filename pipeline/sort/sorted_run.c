/*
 * sorted_run.c - write a run and its seek index
 */
#include "sorted_run.h"
#include "radix.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "io.h"
#include "bytes.h"

enum { PREFETCH_ENTRIES = 20 };

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
		return error_set(
			err, RC_LIMIT,
			"temporary files: found %s of sorted rows and more to write, expected at most %s "
			"(--temp-quota); raise --temp-quota, or raise --memory to spill less",
			format_bytes(used, atomic_load(&s->quota->used)),
			format_bytes(limit, s->quota->limit));
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
			return error_errno(
				err,
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
	/*
	 * If the file system cannot release the bytes, they stay until the close of the file. Such
	 * a failure is not an error.
	 */
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
	w->last = mem_calloc(1, run->codec.string_max + SLACK_BYTES);
	w->last_bytes = 0;
}

void run_writer_memory(struct run_writer *w, struct run *run, size_t bytes)
{
	writer_init(w, run);
	w->spill = NULL;
	w->cap = bytes;
	/*
	 * Use pages of the usual size. Huge pages save up to 3 % of a load's time if memory is
	 * free. They cost 3 to 10 % on a virtual machine if its host reclaims free huge pages.
	 */
	w->buf = run->data = mem_alloc(bytes + SLACK_BYTES);
	run->held_bytes = bytes;
}

int run_writer_spill(struct run_writer *w, struct run *run, struct spill *spill, uint8_t *buf,
		     size_t cap, struct error *err)
{
	writer_init(w, run);
	w->spill = spill;
	w->buf = buf;
	w->cap = cap;
	int rc = spill_open(spill, err);
	if (rc)
		return rc;
	run->spill = spill;
	run->spill_at = spill->end;
	return RC_OK;
}

void run_writer_index(struct run_writer *w, uint64_t offset, struct bytes key)
{
	struct run *run = w->run;

	run->blocks =
		mem_reserve(run->blocks, &run->blocks_cap, run->nblocks + 1, sizeof *run->blocks);
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

/* Write a record that is larger than the buffer, without a copy of the payload. */
static int put_large(struct run_writer *w, struct bytes payload, uint8_t *end, struct error *err)
{
	w->used = (size_t)(end - w->buf);
	int rc = writer_flush(w, err);
	w->flushed += payload.len;
	return rc ? rc : spill_write(w->spill, payload.ptr, payload.len, err);
}

static void start_block(struct run_writer *w, uint64_t offset, struct bytes key)
{
	run_writer_index(w, offset, key);
	w->block_end = offset + BLOCK_BYTES;
}

/*
 * Write a record without counting it. `tail` is the part of its string that differs from the
 * previous string.
 */
static __attribute__((noinline)) int put(struct run_writer *w, const struct run_codec *codec,
					 const struct record_item *it, struct bytes string,
					 size_t shared, const uint8_t *tail, struct error *err)
{
	const struct record *r = &it->rec;
	size_t code = it->large ? 0 : r->payload.len + 1, tail_bytes = string.len - shared;
	size_t len =
		packed_header_bytes(codec, shared, tail_bytes, code) + tail_bytes + r->payload.len;

	if (w->flushed + w->used + len > w->block_end) {
		start_block(w, w->flushed + w->used, r->key);
		shared = 0;
		tail = string.ptr;
		tail_bytes = string.len;
		len = packed_header_bytes(codec, 0, tail_bytes, code) + tail_bytes + r->payload.len;
	}
	w->weight += weigh_item(&w->weigher, it);
	if (w->used + len > w->cap) {
		int rc = writer_flush(w, err);

		if (rc)
			return rc;
	}
	uint8_t *p = packed_write_header(codec, shared, tail_bytes, code, r->seq, w->buf + w->used);
	copy_with_slack(p, tail, tail_bytes);
	if (len > w->cap)
		return put_large(w, r->payload, p + tail_bytes, err);
	copy_with_slack(p + tail_bytes, r->payload.ptr, r->payload.len);
	w->used += len;
	return RC_OK;
}

static inline struct bytes string_of(const struct run_codec *codec, const struct record *r)
{
	return bytes_of(r->key.ptr, r->key.len + codec->secondary_bytes);
}

int run_writer_put(struct run_writer *w, const struct record_item *it, struct error *err)
{
	const struct run_codec *codec = &w->run->codec;
	struct bytes string = string_of(codec, &it->rec);
	size_t shared = shared_bytes(bytes_of(w->last, w->last_bytes), string);
	int rc = put(w, codec, it, string, shared, string.ptr + shared, err);

	w->run->records++;
	copy_with_slack(w->last, string.ptr, string.len);
	w->last_bytes = string.len;
	return rc;
}

/* Prefetch the cache lines of a record. A short record is in one or two cache lines. */
static inline void prefetch_record(const uint8_t *p)
{
	__builtin_prefetch(p);
	__builtin_prefetch(p + 48);
}

/* Return the number of bytes up to which records fit in the buffer and the open block. */
static size_t put_limit(const struct run_writer *w)
{
	uint64_t block = w->block_end > w->flushed ? w->block_end - w->flushed : 0;

	return block < w->cap ? (size_t)block : w->cap;
}

/*
 * The loop handles usual records itself, with the writer's lengths and sums in registers. `put`
 * handles a record that begins a block or has a long part.
 */
int run_writer_put_sorted(struct run_writer *w, const struct radix *x, size_t n, struct error *err)
{
	/* copies, because a store to the run may not change them */
	const struct run_codec codec = w->run->codec;
	const struct record_codec from = x->codec;
	const struct usual_weight usual = w->weigher.usual;
	const uint8_t *base = x->base;
	const struct sort_entry *e = x->entries;
	struct bytes last = {w->last, 0};
	uint8_t *buf = w->buf;
	size_t used = w->used, limit = put_limit(w),
	       fixed = (codec.fixed ? 2 : 3) + codec.seq_bytes;
	uint64_t weight = w->weight;

	w->run->records += n;
	for (size_t i = 0; i < n; i++) {
		if (i + PREFETCH_ENTRIES < n)
			prefetch_record(base + e[i + PREFETCH_ENTRIES].at);
		const uint8_t *p = base + e[i].at;
		struct record r;
		record_read(&from, p, &r);
		struct bytes string = string_of(&codec, &r);
		size_t shared = shared_bytes(last, string), tail = string.len - shared;
		size_t code = r.payload.len + 1, len = fixed + tail + r.payload.len;

		last = string;
		if (__builtin_expect((shared | tail | code) < 0x80 && used + len <= limit &&
					     weight_is_usual(&usual, &r) && !record_is_aside(p),
				     1)) {
			uint8_t *to =
				packed_write_header(&codec, shared, tail, code, r.seq, buf + used);

			copy_with_slack(to, string.ptr + shared, tail);
			copy_with_slack(to + tail, r.payload.ptr, r.payload.len);
			weight += weigh_usual(&usual, &r);
			used += len;
			continue;
		}
		struct record_item it = {.rec = r, .large = record_is_aside(p)};
		w->used = used;
		w->weight = weight;
		int rc = put(w, &codec, &it, string, shared, string.ptr + shared, err);
		if (rc)
			return rc;
		used = w->used;
		weight = w->weight;
		limit = put_limit(w);
	}
	w->used = used;
	w->weight = weight;
	return RC_OK;
}

int run_writer_append(struct run_writer *w, struct bytes packed, struct error *err)
{
	int rc = RC_OK;

	if (w->spill) {
		rc = spill_write(w->spill, packed.ptr, packed.len, err);
		w->flushed += packed.len;
		return rc;
	}
	memcpy(w->buf + w->used, packed.ptr, packed.len);
	w->used += packed.len;
	return rc;
}

/* Return the unused rest of the buffer to the budget, which counted the whole buffer. */
static void give_rest(struct run_writer *w)
{
	struct run *run = w->run;

	run->data = mem_realloc(run->data, run->bytes + SLACK_BYTES);
	budget_give(w->budget, w->cap - run->bytes);
	run->held_bytes -= w->cap - run->bytes;
}

void run_writer_release(struct run_writer *w)
{
	mem_free(w->last);
	w->last = NULL;
}

int run_writer_end(struct run_writer *w, struct error *err)
{
	struct run *run = w->run;
	int rc = w->spill ? writer_flush(w, err) : RC_OK;

	run->bytes = w->flushed + w->used;
	if (!w->spill)
		give_rest(w);
	run_writer_index(w, run->bytes, bytes_of(NULL, 0));
	run->nblocks--;
	run->blocks_cap = run->nblocks + 1;
	run->blocks = mem_realloc(run->blocks, run->blocks_cap * sizeof *run->blocks);
	uint64_t index_bytes = sizeof *run + run->blocks_cap * sizeof *run->blocks + run->keys.cap +
			       run->span.sample.cap;
	budget_force(w->budget, index_bytes);
	run->held_bytes += index_bytes;
	return rc;
}
