/*
 * table_sample.c - sample the rows of a table
 *
 * A region is read at its start. Then the sampler reads at keys between the keys that it knows, so
 * that it also finds places in a region whose keys have a long common prefix.
 */
#include "table_sample.h"

#include <inttypes.h>
#include <string.h>

#include "hash.h"
#include "live_tables.h"

#define REGIONS_MOST   128 /* sampled regions of a table */
#define CALLS_MOST     384 /* reads of all regions together */
#define CALLS_A_REGION 48
#define ROWS_MOST      2048
#define ROWS_A_CALL    32
#define CELLS_A_CALL   20000 /* a row with more cells ends a read */
#define BYTES_MOST     (48u << 20)
#define BYTES_A_CALL   (1u << 20)
#define PATIENCE_MS    20000
#define ATTEMPTS       3

/* A read of some rows between two keys. */
struct sample_read {
	struct bytes start, stop;
	bool reversed;
	uint64_t rows;
};

/* The keys that the sampler knows in a region, in rising order. */
struct sampled_span {
	struct bytes first, last;
};

struct sampler {
	struct sampled_table *out;
	struct hbase *hbase;
	const struct hbase_region *region;
	const struct published *files;
	uint64_t bytes;		  /* of all sampled cells */
	size_t cells;		  /* of this read */
	struct bytes first, last; /* rows of this read; `ptr` NULL without a row */
	struct arena arena;
};

/* --- one read --- */

static int take_cell(void *ctx, const struct cell *c, struct error *err)
{
	struct sampler *s = ctx;

	(void)err;
	if (!s->last.ptr || !bytes_eq(s->last, c->row))
		s->last = arena_bytes(&s->arena, c->row);
	if (!s->first.ptr)
		s->first = s->last;
	table_sample_add(s->out, c);
	s->bytes += c->row.len + c->qualifier.len + c->value.len;
	return ++s->cells >= CELLS_A_CALL || s->bytes >= BYTES_MOST ? RC_END : RC_OK;
}

static int read_live(struct sampler *s, const struct sample_read *r, struct hbase_failure *why,
		     struct error *err)
{
	const struct filter columns = {.type = FILTER_COLUMN_PAGINATION, .limit = SAMPLE_CELLS};
	const struct hbase_scan scan = {.start = r->start,
					.stop = r->stop,
					.reversed = r->reversed,
					.leave_cache = true,
					.filter = &columns,
					.limit = r->rows,
					.rows_a_call = (uint32_t)r->rows,
					.bytes_a_call = BYTES_A_CALL,
					.patience_ms = PATIENCE_MS};
	struct hbase_attempts attempt = {0};
	int rc;

	do {
		s->cells = 0;
		rc = hbase_scan_region(s->hbase, s->region, &scan, take_cell, s, why, err);
	} while (rc && rc != RC_END && attempt.n + 1 < ATTEMPTS && hbase_retry(why, &attempt, err));
	return rc == RC_END ? RC_OK : rc;
}

static int read_files(struct sampler *s, const struct sample_read *r, struct error *err)
{
	const struct query q = {.start = r->start,
				.stop = r->stop,
				.reversed = r->reversed,
				.limit = r->rows,
				.max_columns = SAMPLE_CELLS,
				.now_ms = 0};
	struct query_scan *scan = NULL;
	struct cell c;
	int rc = query_open(&scan, s->files->families, s->files->nfamilies, s->files->files,
			    s->files->nfiles, &q, err);

	while (rc == RC_OK && (rc = query_next(scan, &c, err)) == RC_OK)
		rc = take_cell(s, &c, err);
	query_close(scan);
	return rc == RC_END ? RC_OK : rc;
}

static int read_rows(struct sampler *s, const struct sample_read *r, struct hbase_failure *why,
		     struct error *err)
{
	s->first = s->last = (struct bytes){0};
	s->cells = 0;
	return s->files ? read_files(s, r, err) : read_live(s, r, why, err);
}

/* --- places inside a region --- */

/* Return 8 bytes of a key from `at` on, as a number. */
static uint64_t word_at(struct bytes key, size_t at)
{
	uint8_t word[8] = {0};

	if (at < key.len)
		memcpy(word, key.ptr + at, key.len - at < 8 ? key.len - at : 8);
	return get_be64(word);
}

/* Return the distance of two keys, if the region's keys have `same` first bytes in common. */
static double distance(struct bytes low, struct bytes high, size_t same)
{
	return (double)(word_at(high, same) - word_at(low, same)) +
	       (double)(word_at(high, same + 8) - word_at(low, same + 8)) * 0x1p-64;
}

/* Choose the greatest gap in turn with any gap, because the keys may be in a small part of it. */
static size_t choose_gap(const struct sampled_span *spans, size_t n, uint32_t turn)
{
	struct bytes low = spans[0].first, high = spans[n - 1].last;
	size_t same = 0, best = 0;

	if (turn % 2)
		return murmur3_32(bytes_of(&turn, sizeof turn), 2) % (n - 1);
	while (same < low.len && same < high.len && low.ptr[same] == high.ptr[same])
		same++;
	for (size_t i = 1; i + 1 < n; i++)
		if (distance(spans[i].last, spans[i + 1].first, same) >
		    distance(spans[best].last, spans[best + 1].first, same))
			best = i;
	return best;
}

/* Make a key between two keys. Returns {0} if the keys are too near. */
static struct bytes between(struct arena *a, struct bytes low, struct bytes high, uint32_t draw)
{
	size_t same = 0;

	while (same < low.len && same < high.len && low.ptr[same] == high.ptr[same])
		same++;
	uint64_t from = word_at(low, same), to = word_at(high, same);
	if (to <= from + 2)
		return (struct bytes){0};
	double share = 0.2 + 0.6 * ((double)draw / UINT32_MAX);
	uint64_t mid = from + 1 + (uint64_t)((double)(to - from - 1) * share);
	uint8_t *key = arena_alloc(a, same + 8);
	memcpy(key, low.ptr, same);
	put_be64(key + same, mid < to ? mid : to - 1);
	return bytes_of(key, same + 8);
}

/* Read at a place after span `i`, and insert what was found. */
static int read_between(struct sampler *s, struct sampled_span *spans, size_t *n, size_t i,
			uint32_t draw, uint64_t rows, struct hbase_failure *why, struct error *err)
{
	struct bytes at = between(&s->arena, spans[i].last, spans[i + 1].first, draw);
	const struct sample_read read = {.start = at, .stop = spans[i + 1].first, .rows = rows};

	if (!at.len)
		return RC_OK;
	int rc = read_rows(s, &read, why, err);
	if (rc)
		return rc;
	memmove(&spans[i + 2], &spans[i + 1], (*n - i - 1) * sizeof *spans);
	spans[i + 1] = s->first.ptr ? (struct sampled_span){at, s->last}
				    : (struct sampled_span){at, spans[i + 1].first};
	++*n;
	return RC_OK;
}

/* Sample a region, whose bounds are empty at the ends of the table. */
static int read_region(struct sampler *s, struct bytes start, struct bytes end, unsigned calls,
		       uint64_t rows, struct hbase_failure *why, struct error *err)
{
	struct sampled_span spans[CALLS_A_REGION + 4];
	struct sample_read read = {.start = start, .stop = end, .rows = rows};
	size_t n = 2;
	int rc = read_rows(s, &read, why, err);

	if (rc || !s->first.ptr)
		return rc;
	spans[0] = (struct sampled_span){s->first, s->last};
	read = (struct sample_read){.start = end, .stop = s->last, .reversed = true, .rows = 1};
	rc = read_rows(s, &read, why, err);
	if (rc || !s->first.ptr)
		return rc;
	spans[1] = (struct sampled_span){s->first, s->first};
	for (uint32_t i = 0; rc == RC_OK && i + 2 < calls && s->bytes < BYTES_MOST; i++) {
		uint32_t draw = murmur3_32(bytes_of(&i, sizeof i), 1);
		size_t gap = choose_gap(spans, n, i);

		rc = read_between(s, spans, &n, gap, draw, rows, why, err);
	}
	return rc;
}

/* --- tables --- */

static unsigned calls_of(size_t regions)
{
	size_t calls = CALLS_MOST / regions;

	return (unsigned)(calls < 3 ? 3 : calls < CALLS_A_REGION ? calls : CALLS_A_REGION);
}

static uint64_t rows_of(size_t regions, unsigned calls)
{
	uint64_t rows = ROWS_MOST / (regions * calls);

	return rows < 2 ? 2 : rows < ROWS_A_CALL ? rows : ROWS_A_CALL;
}

static void add_doubt(struct buf *doubts, const struct hbase_region *r, const struct error *err)
{
	struct buf line = {0};

	buf_append_str(&line, "the region from ");
	bytes_escape(&line, r->start);
	buf_printf(&line, " on did not answer, so the sample lacks its rows: %s", err->msg);
	text_visible(doubts, buf_bytes(&line));
	buf_put(doubts, '\n');
	buf_release(&line);
}

static int read_regions(struct sampler *s, const struct hbase_regions *r, struct buf *doubts,
			struct error *err)
{
	size_t n = r->count < REGIONS_MOST ? r->count : REGIONS_MOST, answered = 0;
	unsigned calls = calls_of(n ? n : 1);
	int rc = RC_OK;

	for (size_t i = 0; i < n && s->bytes < BYTES_MOST; i++) {
		struct hbase_failure why = {.trouble = TROUBLE_NONE};

		s->region = &r->item[i * r->count / n];
		rc = read_region(s, s->region->start, s->region->end, calls, rows_of(n, calls),
				 &why, err);
		if (rc == RC_STOPPED || (rc && why.trouble == TROUBLE_REFUSED))
			return rc;
		answered += rc == RC_OK;
		if (rc)
			add_doubt(doubts, s->region, err);
	}
	return answered || n == 0 ? RC_OK : rc;
}

int table_sample_live(struct sampled_table *out, struct buf *doubts, struct hbase *h,
		      const char *table, struct error *err)
{
	struct sampler s = {.out = out, .hbase = h};
	struct hbase_regions regions = {0};
	int rc = live_tables_places(h, table, &regions, err);

	out->regions = regions.count;
	if (rc == RC_OK)
		rc = read_regions(&s, &regions, doubts, err);
	hbase_regions_release(&regions);
	arena_release(&s.arena);
	return rc;
}

int table_sample_offline(struct sampled_table *out, const struct published *p, struct error *err)
{
	struct sampler s = {.out = out, .files = p};
	const struct bytes open = {0};
	int rc = read_region(&s, open, open, CALLS_A_REGION, rows_of(1, CALLS_A_REGION), NULL, err);

	arena_release(&s.arena);
	return rc;
}
