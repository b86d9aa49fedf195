/* key_cost_report.c - prints what the row key of a table costs */
#include <stdio.h>

#include "cli/reports.h"

#define ADVISED 16 /* bytes of a key; HBase's guide and books advise short keys */
#define USUAL	100

static void put_advice(struct buf *out, const struct key_cost *c)
{
	char each[16];

	format_bytes(each, (uint64_t)(c->rows * c->cells));
	if (c->key_bytes <= ADVISED)
		buf_printf(out,
			   "  the key is short, because 10 to 100 bytes are usual. At most 16 "
			   "bytes are good. A further byte costs %s\n",
			   each);
	else
		buf_printf(out,
			   "  %s, because 10 to 100 bytes are usual, and at most 16 are good. Each "
			   "byte less saves %s before encoding. A key of 16 bytes saves %.0f %% "
			   "of the key's bytes\n",
			   c->key_bytes > USUAL ? "the key is very long" : "the key is long", each,
			   100 * (1 - ADVISED / c->key_bytes));
}

void key_cost_report(struct buf *out, const struct key_cost *c)
{
	char stored[16], encoded[16], disk[16], size[16], rows[28];

	buf_printf(out, "  for %s rows: the key has %.1f bytes, in each of %.0f cells of a row\n",
		   format_count(rows, (uint64_t)c->rows), c->key_bytes, c->cells);
	buf_printf(
		out,
		"  the keys are %s in KeyValues, %.0f %% of the memstore; with FAST_DIFF at most %s\n",
		format_bytes(stored, (uint64_t)c->stored), 100 * c->share,
		format_bytes(encoded, (uint64_t)c->encoded));
	buf_printf(out, "  %s on disk; %llu regions, and map tasks, of %s\n",
		   format_bytes(disk, (uint64_t)c->disk), (unsigned long long)c->regions,
		   format_bytes(size, c->region_bytes));
	put_advice(out, c);
}

static const struct form_member cost_members[] = {
	{"rows", FORM_RATIO, IN(key_cost, rows), "rows of --rows"},
	{"key_bytes", FORM_RATIO, IN(key_cost, key_bytes), "mean bytes of a row key"},
	{"cells", FORM_RATIO, IN(key_cost, cells),
	 "cells of a row: those that the job lists, for each of its events"},
	{"row_bytes", FORM_RATIO, IN(key_cost, row_bytes), "mean bytes of a row's KeyValues"},
	{"key_bytes_stored", FORM_RATIO, IN(key_cost, stored), "bytes of all keys in KeyValues"},
	{"memstore_share", FORM_RATIO, IN(key_cost, share), "their share of the KeyValues"},
	{"key_bytes_encoded", FORM_RATIO, IN(key_cost, encoded),
	 "bytes of all keys with FAST_DIFF or PREFIX, at most"},
	{"disk_bytes", FORM_RATIO, IN(key_cost, disk), "bytes of the table on disk"},
	{"region_bytes", FORM_COUNT, IN(key_cost, region_bytes), "size of a region"},
	{"regions", FORM_COUNT, IN(key_cost, regions), "regions, and map tasks over the table"},
};
const struct form key_cost_form = FORM(key_cost, cost_members);
