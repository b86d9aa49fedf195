/*
 * scanner.c - a scan of one region, call by call (Client.proto, RSRpcServices.scan)
 *
 * The first call opens a scanner. The numbers of later calls start from 0 (next_call_seq), so that
 * the server detects a repeated call. The scanner accepts partial rows and heartbeats without
 * cells.
 */
#include "decode.h"
#include "encode.h"
#include "pb.h"
#include "session.h"

#define SCAN_ROWS 1000
#define CACHING	  100
#define CLOSE_MS  1000

static void put_columns(struct buf *b, const struct hbase_scan *scan)
{
	for (size_t i = 0; i < scan->ncolumns; i++) {
		const struct hbase_columns *c = &scan->columns[i];
		size_t column = pb_open(b, 1);

		pb_bytes(b, 1, c->family);
		for (size_t k = 0; k < c->nqualifiers; k++)
			pb_bytes(b, 2, c->qualifiers[k]);
		pb_close(b, column);
	}
	if (!scan->family)
		return;
	size_t column = pb_open(b, 1);
	pb_text(b, 1, scan->family);
	pb_close(b, column);
}

static void put_time_range(struct buf *b, const struct hbase_scan *scan)
{
	if (!scan->from_ms && !scan->to_ms)
		return;
	size_t range = pb_open(b, 6);
	pb_uint(b, 1, (uint64_t)scan->from_ms);
	pb_uint(b, 2, (uint64_t)scan->to_ms);
	pb_close(b, range);
}

/* Append a Scan field. */
static void put_scan(struct buf *b, unsigned field, const struct hbase_scan *scan)
{
	size_t at = pb_open(b, field);

	put_columns(b, scan);
	if (scan->raw) { /* the value of Scan.RAW_ATTR is Java's `true` */
		size_t attribute = pb_open(b, 2);
		pb_text(b, 1, "_raw_");
		pb_bytes(b, 2, bytes_of("\xff", 1));
		pb_close(b, attribute);
	}
	if (scan->start.len)
		pb_bytes(b, 3, scan->start);
	if (scan->stop.len)
		pb_bytes(b, 4, scan->stop);
	if (scan->filter)
		put_filter(b, 5, scan->filter);
	put_time_range(b, scan);
	pb_uint(b, 7, scan->versions ? scan->versions : 1);
	if (scan->raw || scan->leave_cache)
		/*
		 * skip the block cache, because a scan of all data must not evict blocks that
		 * others need
		 */
		pb_uint(b, 8, 0);
	if (scan->bytes_a_call)
		pb_uint(b, 10, scan->bytes_a_call);
	/* in a reversed scan, servers reject the option to load families on demand */
	if (scan->filter)
		pb_uint(b, 13, 0);
	if (scan->reversed)
		pb_uint(b, 15, 1);
	pb_uint(b, 17, CACHING);
	if (scan->start_exclusive)
		pb_uint(b, 21, 0);
	if (scan->stop_inclusive)
		pb_uint(b, 22, 1);
	pb_close(b, at);
}

static uint64_t rows_of_call(uint32_t rows, uint64_t limit)
{
	return limit && limit < rows ? limit : rows;
}

static uint32_t rows_a_call(const struct hbase_scan *scan)
{
	return scan->rows_a_call ? scan->rows_a_call : SCAN_ROWS;
}

void put_scan_open(struct buf *b, struct bytes region, const struct hbase_scan *scan)
{
	put_region(b, 1, region);
	put_scan(b, 2, scan);
	pb_uint(b, 4, rows_of_call(rows_a_call(scan), scan->limit));
	pb_uint(b, 7, 1); /* accept partial rows */
	pb_uint(b, 8, 1); /* accept heartbeats */
	if (scan->limit)
		pb_uint(b, 11, scan->limit < INT32_MAX ? scan->limit : INT32_MAX);
}

void put_scan_next(struct buf *b, uint64_t scanner, uint32_t rows, uint64_t sequence,
		   uint64_t limit)
{
	pb_uint(b, 3, scanner);
	pb_uint(b, 4, rows_of_call(rows, limit));
	pb_uint(b, 6, sequence);
	pb_uint(b, 7, 1);
	pb_uint(b, 8, 1);
	if (limit)
		pb_uint(b, 11, limit < INT32_MAX ? limit : INT32_MAX);
}

void put_scan_renew(struct buf *b, uint64_t scanner, uint64_t sequence)
{
	pb_uint(b, 3, scanner);
	pb_uint(b, 4, 0);
	pb_uint(b, 6, sequence);
	pb_uint(b, 7, 1);
	pb_uint(b, 8, 1);
	pb_uint(b, 10, 1);
}

void put_scan_close(struct buf *b, uint64_t scanner)
{
	pb_uint(b, 3, scanner);
	pb_uint(b, 4, 0);
	pb_uint(b, 5, 1);
}

/* Send a request, release it, and read the scanner's data from the answer. */
static int call(struct hbase *h, struct hbase_scanner *s, struct buf *request, int64_t patience_ms,
		struct hbase_batch *out, struct scan_answer *got, struct hbase_failure *why,
		struct error *err)
{
	struct rpc_answer answer;

	*out = (struct hbase_batch){0};
	int rc = session_call(h, &s->place, SERVICE_REGION, "Scan", request, patience_ms, &answer,
			      why, err);
	buf_release(request);
	if (rc && why->may_pass)
		why->trouble = TROUBLE_BUSY;
	if (rc == RC_OK) {
		rc = decode_scan(answer.message, got, err);
		if (rc)
			why->trouble = TROUBLE_REFUSED;
		*out = (struct hbase_batch){answer.frame, answer.cells};
	}
	if (rc == RC_OK)
		return RC_OK;
	hbase_batch_release(out);
	s->open = false;
	return rc;
}

static int64_t patience(const struct hbase_scanner *s)
{
	return s->patience_ms ? s->patience_ms : CALL_MS;
}

int hbase_scanner_open(struct hbase *h, struct hbase_scanner *s, const struct hbase_region *r,
		       const struct hbase_scan *scan, struct hbase_batch *out,
		       struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};
	struct scan_answer got = {0};

	*s = (struct hbase_scanner){.place = r->place,
				    .limit = scan->limit,
				    .rows_a_call = rows_a_call(scan),
				    .patience_ms = scan->patience_ms};
	*why = (struct hbase_failure){.trouble = TROUBLE_GONE};
	if (!r->place.host[0])
		return error_set(err, RC_IO, "the region is on no server at the moment");
	put_scan_open(&b, r->name, scan);
	int rc = call(h, s, &b, patience(s), out, &got, why, err);
	if (rc)
		return rc;
	s->ended = got.last;
	s->open = !got.last;
	s->id = got.scanner;
	s->lease_ms = got.lease_ms < INT32_MAX ? (int64_t)got.lease_ms : 0;
	if (s->ended || got.has_scanner)
		return RC_OK;
	s->open = false;
	hbase_batch_release(out);
	why->trouble = TROUBLE_REFUSED;
	return error_set(err, RC_DATA,
			 "found an open scan without a scanner id in the answer, expected one");
}

int hbase_scanner_next(struct hbase *h, struct hbase_scanner *s, struct hbase_batch *out,
		       struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};
	struct scan_answer got = {0};

	put_scan_next(&b, s->id, s->rows_a_call, s->sequence++, s->limit);
	int rc = call(h, s, &b, patience(s), out, &got, why, err);
	if (rc == RC_OK && got.last) {
		s->ended = true;
		s->open = false; /* the server has closed the scanner */
	}
	return rc;
}

int hbase_scanner_renew(struct hbase *h, struct hbase_scanner *s, struct hbase_failure *why,
			struct error *err)
{
	struct buf b = {0};
	struct scan_answer got;
	struct hbase_batch nothing;

	put_scan_renew(&b, s->id, s->sequence++);
	int rc = call(h, s, &b, CALL_MS, &nothing, &got, why, err);
	if (rc == RC_OK)
		hbase_batch_release(&nothing);
	return rc;
}

void hbase_scanner_close(struct hbase *h, struct hbase_scanner *s)
{
	struct buf b = {0};
	struct scan_answer got;
	struct hbase_batch nothing;
	struct hbase_failure ignored;
	struct error unheard;

	if (!s->open)
		return;
	put_scan_close(&b, s->id);
	if (call(h, s, &b, CLOSE_MS, &nothing, &got, &ignored, &unheard) == RC_OK)
		hbase_batch_release(&nothing);
	s->open = false;
}

int hbase_batch_cell(struct bytes *cells, struct cell *out, struct error *err)
{
	return decode_cell(cells, out, err);
}

void hbase_batch_release(struct hbase_batch *b)
{
	buf_release(&b->frame);
	*b = (struct hbase_batch){0};
}

/* --- a whole region --- */

static int take_batch(const struct hbase_batch *b, hbase_take_cell *take, void *ctx,
		      struct error *err)
{
	struct bytes cells = b->cells;
	struct cell c;
	int rc;

	while ((rc = decode_cell(&cells, &c, err)) == RC_OK && (rc = take(ctx, &c, err)) == RC_OK)
		;
	return rc < 0 ? rc : RC_OK;
}

int hbase_scan_region(struct hbase *h, const struct hbase_region *r, const struct hbase_scan *scan,
		      hbase_take_cell *take, void *ctx, struct hbase_failure *why,
		      struct error *err)
{
	struct hbase_scanner s;
	struct hbase_batch b;
	int rc = hbase_scanner_open(h, &s, r, scan, &b, why, err);

	while (rc == RC_OK) {
		rc = take_batch(&b, take, ctx, err);
		hbase_batch_release(&b);
		if (rc)
			why->trouble = TROUBLE_REFUSED;
		if (rc || !s.open)
			break;
		rc = hbase_scanner_next(h, &s, &b, why, err);
	}
	if (rc != RC_STOPPED)
		hbase_scanner_close(h, &s);
	if (rc && why->trouble == TROUBLE_NONE)
		why->trouble = TROUBLE_REFUSED;
	return rc;
}
