/*
 * builder.c - one thread's buffer of records, sorted into runs
 *
 * The builder reuses the buffer, the sort entries and the write buffer for every run, because new
 * memory costs more than sorting. It allocates each of them once at the largest size, but touches
 * only the used part, which the budget counts. So a small table takes little of the budget, and no
 * buffer moves.
 */
#include "parts.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "pool.h"

enum { BUFFER_START_BYTES = 1 << 20, HUGE_PAGE_BYTES = 2 << 20 };

static const size_t record_limit_bytes = (size_t)1 << 30;

/* Allocate at the border of a huge page, so that huge pages can hold all of it. */
static void *alloc_aligned(size_t bytes)
{
	void *p = NULL;

	if (bytes < HUGE_PAGE_BYTES || posix_memalign(&p, HUGE_PAGE_BYTES, bytes) != 0)
		p = mem_alloc(bytes);
	return p;
}

/*
 * Request huge pages for [from, to) of the memory at `ptr`, to have fewer page faults. The function
 * leaves out a huge page if records will fill less than half of the page.
 */
static void advise_huge(uint8_t *ptr, size_t from, size_t to)
{
	from = (from + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
	to = (to + HUGE_PAGE_BYTES / 2) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
	if (from < to && (uintptr_t)ptr % HUGE_PAGE_BYTES == 0)
		(void)madvise(ptr + from, to - from, MADV_HUGEPAGE);
}

static void hold(struct run_builder *b, uint64_t bytes)
{
	budget_force(b->sorter->opt.budget, bytes);
	b->held_bytes += bytes;
}

static void grow_buffer(struct run_builder *b, size_t need)
{
	const size_t run_bytes = b->sorter->opt.run_bytes;
	size_t cap = b->cap ? 2 * b->cap : BUFFER_START_BYTES, from = b->cap;

	if (cap > run_bytes)
		cap = run_bytes;
	if (cap < need)
		cap = need;
	hold(b, cap - b->cap);
	b->cap = cap;
	if (!b->data)
		b->data = alloc_aligned((cap > run_bytes ? cap : run_bytes) + SLACK_BYTES);
	else if (cap > run_bytes)
		b->data = mem_realloc(b->data, cap + SLACK_BYTES);
	if (cap <= run_bytes)
		advise_huge(b->data, from, cap);
}

static void reserve_entries(struct run_builder *b)
{
	const size_t each = sizeof(struct sort_entry);

	if (!b->radix) {
		b->radix = mem_calloc(1, sizeof *b->radix);
		b->radix->entries = alloc_aligned(b->records_max * each);
		b->radix->other = alloc_aligned(b->records_max * each);
		hold(b, sizeof *b->radix);
	}
	if (b->records <= b->entries_cap)
		return;
	size_t cap = b->records +
		     b->records / 16; /* the number of records differs a little from run to run */
	if (cap > b->records_max)
		cap = b->records_max;
	hold(b, 2 * each * (cap - b->entries_cap));
	advise_huge((uint8_t *)b->radix->entries, b->entries_cap * each, cap * each);
	advise_huge((uint8_t *)b->radix->other, b->entries_cap * each, cap * each);
	b->entries_cap = cap;
}

void run_builder_release(struct run_builder *b)
{
	budget_give(b->sorter->opt.budget, b->held_bytes);
	if (b->radix) {
		mem_free(b->radix->entries);
		mem_free(b->radix->other);
	}
	mem_free(b->radix);
	mem_free(b->data);
	mem_free(b->spill_buf);
	stretch_release(b);
	b->radix = NULL;
	b->data = b->spill_buf = NULL;
	b->cap = b->used = b->records = b->entries_cap = 0;
	b->held_bytes = 0;
}

void run_list_add(struct run ***runs, size_t *nruns, struct run *run)
{
	*runs = mem_grow(*runs, *nruns, sizeof **runs);
	(*runs)[(*nruns)++] = run;
}

int run_builder_begin(struct run_builder *b, struct run_writer *w, struct run *run, size_t most,
		      struct error *err)
{
	struct sorter *s = b->sorter;

	*w = (struct run_writer){.budget = s->opt.budget, .weigher = sorter_weigher(s)};
	bool fits = budget_take(s->opt.budget, most);
	if (!fits) {
		int rc = run_builder_compact(b, err);

		if (rc)
			return rc;
		fits = budget_take(s->opt.budget, most);
	}
	if (fits) {
		run_writer_memory(w, run, most);
		return RC_OK;
	}
	if (!b->spill_buf) {
		b->spill_buf = mem_alloc(SPILL_BUFFER_BYTES + SLACK_BYTES);
		hold(b, SPILL_BUFFER_BYTES);
	}
	return run_writer_spill(w, run, b->spill, b->spill_buf, SPILL_BUFFER_BYTES, err);
}

static struct record_codec builder_codec(const struct run_builder *b)
{
	return (struct record_codec){.seq_base =
					     b->any_seq ? 0 : b->first_seq & ~(uint64_t)UINT32_MAX,
				     .high_bytes = b->any_seq ? 4 : 0,
				     .secondary_bytes = b->sorter->opt.secondary_bytes};
}

/* Shrink the buffer after a huge record, so that later runs do not grow to the size of this record.
 */
static void shrink_buffer(struct run_builder *b)
{
	if (b->cap <= b->sorter->opt.run_bytes)
		return;
	budget_give(b->sorter->opt.budget, b->cap);
	b->held_bytes -= b->cap;
	mem_free(b->data);
	b->data = NULL;
	b->cap = 0;
}

/*
 * Watch the strings that came a little earlier. A load stalls soon after a write of its bytes in
 * other pieces.
 */
static inline void watch_unseen(struct run_builder *b)
{
	watch_strings(&b->watch, b->data, b->unseen, b->nunseen);
	b->nunseen = 0;
}

/* Remember a new string, for watch_unseen. */
static inline void watch_later(struct run_builder *b, const uint8_t *string, size_t key_len)
{
	if (b->nunseen == UNSEEN_MAX)
		watch_unseen(b);
	watch_key_len(&b->watch, key_len);
	b->unseen[b->nunseen++] = (uint32_t)(string - b->data);
}

int run_builder_flush(struct run_builder *b, struct error *err)
{
	int rc = stop_check(err);

	if (rc == RC_OK)
		rc = stretch_end(b, err);
	if (rc || b->records == 0)
		return rc;
	struct run *run = mem_calloc(1, sizeof *run);
	run_list_add(&b->runs, &b->nruns, run);
	reserve_entries(b);
	watch_unseen(b);
	b->radix->base = b->data;
	b->radix->codec = builder_codec(b);
	b->radix->seq_rises = b->seq_rises;
	radix_sort(b->radix, b->records, &b->watch, &run->span);
	run_codec_init(&run->codec, &run->span, b->sorter->opt.secondary_bytes, b->least_seq,
		       b->largest_seq);
	struct run_writer w;
	rc = run_builder_begin(b, &w, run, b->used + PACKED_EXTRA_BYTES * b->records, err);
	if (rc == RC_OK)
		rc = run_writer_put_sorted(&w, b->radix, b->records, err);
	if (rc == RC_OK)
		rc = run_writer_end(&w, err);
	run_writer_release(&w);
	b->spilled_bytes += run->data ? 0 : run->bytes;
	b->used = 0;
	b->records = 0;
	shrink_buffer(b);
	return rc;
}

int run_builder_evict(struct run_builder *b, uint64_t room, struct error *err)
{
	struct budget *budget = b->sorter->opt.budget;
	int rc = RC_OK;

	while (rc == RC_OK && atomic_load(&budget->used) + room > budget->limit) {
		rc = large_evict(b->large, budget, b->spill, err);
		if (rc != RC_END)
			continue;
		while (b->evicted < b->nruns && !b->runs[b->evicted]->data)
			b->evicted++;
		if (b->evicted == b->nruns)
			return RC_OK;
		b->spilled_bytes += b->runs[b->evicted]->bytes;
		rc = run_evict(b->runs[b->evicted], b->spill, budget, err);
	}
	return rc;
}

bool run_builder_full(const struct run_builder *b)
{
	return b->used >= b->sorter->opt.run_bytes || b->records >= b->records_max;
}

static inline uint8_t *append_short(uint8_t *to, const uint8_t *from, size_t n)
{
	copy_short(to, from, n);
	return to + n;
}

static inline void write_strings(uint8_t *p, const struct record *r, size_t secondary_bytes)
{
	p = append_short(p, r->key.ptr, r->key.len);
	p = append_short(p, r->secondary, secondary_bytes);
	append_short(p, r->payload.ptr, r->payload.len);
}

static inline size_t bytes_in_buffer(const struct run_builder *b, const struct record *r)
{
	struct record_codec codec = builder_codec(b);

	return record_bytes(&codec, r);
}

static inline bool other_half(const struct run_builder *b, uint64_t seq)
{
	return seq >> 32 != b->first_seq >> 32 && !b->any_seq;
}

/*
 * Make room for a record. All records of a buffer share the high half of seq, which the first
 * record sets. In input order, the high half changes a few times, and each change ends a run. In
 * sorted records of a large slice, and in cells of a huge row, the high half changes often. So
 * after the high half has become lower once, each record stores its own high half.
 */
static int make_room(struct run_builder *b, const struct record *r, size_t len, struct error *err)
{
	if (r->key.len > ROW_KEY_MAX)
		return error_set(err, RC_LIMIT, "found a row key of %zu bytes, expected at most %d",
				 r->key.len, ROW_KEY_MAX);
	if (len > record_limit_bytes)
		return error_set(err, RC_LIMIT,
				 "found a row record of %zu bytes, expected at most %zu", len,
				 record_limit_bytes);
	bool other = b->records > 0 && other_half(b, r->seq), falls = r->seq < b->last_seq;
	bool over = b->used + len > b->sorter->opt.run_bytes || b->records >= b->records_max;
	if (other || (over && b->records > 0)) {
		int rc = run_builder_flush(b, err);

		if (rc)
			return rc;
	}
	b->any_seq |= other && falls;
	len = bytes_in_buffer(b, r);
	if (b->used + len > b->cap)
		grow_buffer(b, b->used + len);
	return RC_OK;
}

static inline int add(struct run_builder *b, const struct record *r, bool large, struct error *err)
{
	size_t len = bytes_in_buffer(b, r);

	if (b->used + len > b->cap || b->records >= b->records_max || r->key.len > ROW_KEY_MAX ||
	    other_half(b, r->seq)) {
		int rc = make_room(b, r, len, err);

		if (rc)
			return rc;
		len = bytes_in_buffer(b, r);
	}
	if (b->records == 0) {
		b->first_seq = b->last_seq = b->least_seq = b->largest_seq = r->seq;
		b->seq_rises = true;
	}
	b->seq_rises &= r->seq >= b->last_seq;
	b->last_seq = r->seq;
	b->least_seq = r->seq < b->least_seq ? r->seq : b->least_seq;
	b->largest_seq = r->seq > b->largest_seq ? r->seq : b->largest_seq;
	const struct record_codec codec = builder_codec(b);
	uint8_t *string = record_write_header(&codec, r, large, b->data + b->used);
	write_strings(string, r, codec.secondary_bytes);
	if (b->records == 0)
		watch_start(&b->watch, string, r->key.len, codec.secondary_bytes);
	watch_later(b, string, r->key.len);
	b->used += len;
	b->records++;
	return RC_OK;
}

/* Store a large payload separately. The payload may take memory that the builder needs. */
static int add_aside(struct run_builder *b, const struct record *r, struct error *err)
{
	struct sorter *s = b->sorter;
	uint8_t ref[LARGE_REF_BYTES];
	uint64_t weight = s->opt.weigh ? s->opt.weigh(s->opt.weigh_ctx, r) : 1;
	struct record small = *r;

	if (r->payload.len > record_limit_bytes)
		return error_set(err, RC_LIMIT,
				 "found a row record of %zu bytes, expected at most %zu",
				 r->payload.len, record_limit_bytes);
	if (r->payload.len > b->largest)
		b->largest = r->payload.len;
	int rc = stretch_end(b,
			     err); /* the bytes of a run must be contiguous in the temporary file */
	if (rc == RC_OK)
		rc = run_builder_evict(b, 0, err);
	if (rc == RC_OK)
		rc = large_put(b->large, (uint32_t)(b - s->builders), r->payload, weight,
			       s->opt.budget, b->spill, ref, err);
	small.payload = bytes_of(ref, sizeof ref);
	return rc ? rc : add(b, &small, true, err);
}

int run_builder_add(struct run_builder *b, const struct record *r, struct error *err)
{
	if (__builtin_expect(r->payload.len >= b->sorter->large_bytes, 0))
		return add_aside(b, r, err);
	return add(b, r, false, err);
}

static bool goes_behind(const struct run_builder *b, uint64_t first_seq, uint64_t last_seq)
{
	return !b->any_seq && first_seq >> 32 == last_seq >> 32 &&
	       (b->records == 0 ||
		(first_seq >= b->last_seq && first_seq >> 32 == b->first_seq >> 32));
}

int run_builder_room(struct run_builder *b, size_t bytes, uint64_t first_seq, uint64_t last_seq,
		     uint8_t **to, struct error *err)
{
	const size_t run_bytes = b->sorter->opt.run_bytes;

	*to = NULL;
	if (bytes > run_bytes || b->records_max < RECORD_BATCH ||
	    !goes_behind(b, first_seq, last_seq))
		return RC_OK;
	if (b->used + bytes > run_bytes || b->records + RECORD_BATCH > b->records_max) {
		int rc = run_builder_flush(b, err);

		if (rc)
			return rc;
	}
	if (b->used + bytes > b->cap)
		grow_buffer(b, b->used + bytes);
	*to = b->data + b->used;
	return RC_OK;
}

void run_builder_take(struct run_builder *b, const struct record_batch *r)
{
	_Static_assert(RECORD_BATCH <= UNSEEN_MAX && RECORD_SLACK <= SLACK_BYTES &&
			       (unsigned)LARGE_BYTES_LEAST >= RECORD_PAYLOAD,
		       "a batch fits, and needs no separate payload");
	const uint32_t string = (uint32_t)(b->used + r->head);
	if (b->records == 0) {
		b->first_seq = b->least_seq = r->first_seq;
		b->seq_rises = true;
		watch_start(&b->watch, b->data + string, r->key_len,
			    b->sorter->opt.secondary_bytes);
	}
	watch_unseen(b);
	watch_key_len(&b->watch, r->key_len);
	for (size_t i = 0; i < r->n; i++)
		b->unseen[i] = string + r->at[i];
	b->nunseen = r->n;
	b->used += r->at[r->n];
	b->records += r->n;
	b->last_seq = r->last_seq;
	b->largest_seq =
		b->records == r->n || r->last_seq > b->largest_seq ? r->last_seq : b->largest_seq;
}
