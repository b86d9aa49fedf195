/*
 * live_scan.c - scans of a live table, that of hbase:meta first of all
 *
 * The first call opens a scanner; those that follow count from 0 (next_call_seq), so that a
 * repeated one would be noticed.  Partial rows and heartbeats are taken as they come: cells are
 * handed on one by one.
 */
#include "decode.h"
#include "encode.h"
#include "pb.h"
#include "session.h"

#define META_NAME "hbase:meta,,1"
#define META_ROWS 1000
#define SCAN_ROWS 1000
#define CACHING	  100

void put_scan_open(struct buf *b, struct bytes region, const struct hbase_scan *scan)
{
	put_region(b, 1, region);
	size_t at = pb_open(b, 2);
	if (scan->family) {
		size_t column = pb_open(b, 1);
		pb_text(b, 1, scan->family);
		pb_close(b, column);
	}
	if (scan->raw) { /* Scan.RAW_ATTR is Java's `true` */
		size_t attribute = pb_open(b, 2);
		pb_text(b, 1, "_raw_");
		pb_bytes(b, 2, bytes_of("\xff", 1));
		pb_close(b, attribute);
	}
	if (scan->start.len)
		pb_bytes(b, 3, scan->start);
	if (scan->stop.len)
		pb_bytes(b, 4, scan->stop);
	pb_uint(b, 7, scan->versions ? scan->versions : 1);
	if (scan->raw)
		pb_uint(b, 8, 0); /* who reads everything leaves the cache to others */
	if (scan->bytes_a_call)
		pb_uint(b, 10, scan->bytes_a_call);
	pb_uint(b, 17, CACHING);
	pb_close(b, at);
	pb_uint(b, 4, scan->rows_a_call ? scan->rows_a_call : SCAN_ROWS);
	pb_uint(b, 7, 1); /* partial rows are taken */
	pb_uint(b, 8, 1); /* heartbeats too */
}

void put_scan_next(struct buf *b, uint64_t scanner, uint32_t rows, uint64_t sequence)
{
	pb_uint(b, 3, scanner);
	pb_uint(b, 4, rows);
	pb_uint(b, 6, sequence);
	pb_uint(b, 7, 1);
	pb_uint(b, 8, 1);
}

void put_scan_close(struct buf *b, uint64_t scanner)
{
	pb_uint(b, 3, scanner);
	pb_uint(b, 4, 0);
	pb_uint(b, 5, 1);
}

/* Hand on what an answer brought. */
static int take_answer(const struct rpc_answer *answer, struct scan_answer *scan,
		       hbase_take_cell *take, void *ctx, struct error *err)
{
	struct bytes block = answer->cells;
	struct cell c;
	int rc = decode_scan(answer->message, scan, err);

	while (rc == RC_OK && (rc = decode_cell(&block, &c, err)) == RC_OK)
		rc = take(ctx, &c, err);
	return rc < 0 ? rc : RC_OK;
}

static void close_scanner(struct hbase *h, const struct hbase_place *at, uint64_t scanner)
{
	struct buf b = {0};
	struct rpc_answer answer;
	struct hbase_failure ignored;
	struct error unheard;

	put_scan_close(&b, scanner);
	if (session_call(h, at, SERVICE_REGION, "Scan", &b, CALL_MS, &answer, &ignored, &unheard) ==
	    RC_OK)
		rpc_answer_release(&answer);
	buf_release(&b);
}

static int scan_at(struct hbase *h, const struct hbase_place *at, struct bytes region,
		   const struct hbase_scan *scan, hbase_take_cell *take, void *ctx,
		   struct hbase_failure *why, struct error *err)
{
	struct scan_answer got = {0};
	struct buf b = {0};
	uint64_t scanner = 0, sequence = 0;
	bool open = false;
	int rc = RC_OK;

	put_scan_open(&b, region, scan);
	while (rc == RC_OK && !got.last) {
		struct rpc_answer answer;
		rc = session_call(h, at, SERVICE_REGION, "Scan", &b, CALL_MS, &answer, why, err);
		if (rc)
			break;
		rc = take_answer(&answer, &got, take, ctx, err);
		rpc_answer_release(&answer);
		if (rc)
			why->trouble = TROUBLE_REFUSED;
		if (!open && got.has_scanner)
			scanner = got.scanner;
		else if (!open && rc == RC_OK && !got.last)
			rc = error_set(err, RC_DATA, "an open scan without a scanner's number");
		open = true;
		b.len = 0;
		put_scan_next(&b, scanner, scan->rows_a_call ? scan->rows_a_call : SCAN_ROWS,
			      sequence++);
	}
	buf_release(&b);
	if (scanner && rc && rc != RC_STOPPED && why->trouble == TROUBLE_REFUSED)
		close_scanner(h, at, scanner);
	if (rc && why->trouble == TROUBLE_NONE)
		why->trouble = TROUBLE_REFUSED;
	return rc;
}

int hbase_scan_region(struct hbase *h, const struct hbase_region *r, const struct hbase_scan *scan,
		      hbase_take_cell *take, void *ctx, struct hbase_failure *why,
		      struct error *err)
{
	*why = (struct hbase_failure){.trouble = TROUBLE_GONE};
	if (!r->place.host[0])
		return error_set(err, RC_IO, "the region is on no server at the moment");
	return scan_at(h, &r->place, r->name, scan, take, ctx, why, err);
}

void meta_range(const char *table, char **start, char **stop)
{
	static const char space[] = "default:"; /* whose tables have no such name in hbase:meta */
	size_t n = sizeof space - 1;

	if (strncmp(table, space, n) == 0)
		table += n;
	/* compared part by part: the first region has an empty key, and a blank is the next name */
	*start = mem_format("%s,,", table);
	*stop = mem_format("%s ,,", table);
}

int hbase_regions(struct hbase *h, const char *table, struct hbase_regions *out,
		  struct hbase_failure *why, struct error *err)
{
	struct hbase_place meta;
	struct meta_rows rows = {.out = out};

	*out = (struct hbase_regions){0};
	int rc = session_find_meta(h, &meta, why, err);
	if (rc)
		return rc;
	char *start, *stop;
	meta_range(table, &start, &stop);
	const struct hbase_scan scan = {.family = "info",
					.start = bytes_str(start),
					.stop = bytes_str(stop),
					.rows_a_call = META_ROWS};
	rc = scan_at(h, &meta, bytes_str(META_NAME), &scan, meta_take, &rows, why, err);
	mem_free(start);
	mem_free(stop);
	if (rc)
		return rc;
	rc = meta_finish(&rows, err);
	if (rc == RC_END) {
		why->trouble = TROUBLE_MISSING;
		return error_set(err, RC_IO, "hbase:meta has no regions of table %s", table);
	}
	if (rc)
		why->trouble = TROUBLE_BUSY;
	return rc ? error_prefix(err, "table %s: ", table) : RC_OK;
}
