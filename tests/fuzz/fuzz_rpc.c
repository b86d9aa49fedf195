/*
 * fuzz_rpc.c - checks that any answer of a server gives an error, or no read past its end
 *
 * The first byte chooses the decoder. 0 is a whole frame, whose message then goes to all decoders.
 */
#include "memory_file.h"

#include "mem.h"
#include "pipeline/hbase/rpc/decode.h"
#include "pipeline/hbase/rpc/frames.h"
#include "pipeline/hbase/rpc/pb.h"
#include "pipeline/hbase/rpc/rpc.h"
#include "hbase.h"

/* The message may come from the server and have any length. */
static void expect_said(int rc, const struct error *err)
{
	if (rc < 0 && (err->code != rc || !memchr(err->msg, '\0', sizeof err->msg) || !err->msg[0]))
		abort();
}

static void read_cells(struct bytes block)
{
	struct hbase_regions regions = {0};
	struct meta_rows rows = {.out = &regions};
	struct cell c;
	struct error err = {0};
	int rc;

	while ((rc = decode_cell(&block, &c, &err)) == RC_OK) {
		struct error bad = {0};

		expect_sentence(meta_take(&rows, &c, &bad), &bad);
	}
	expect_sentence(rc, &err);
	rc = meta_finish(&rows, &err);
	expect_sentence(rc, &err);
	for (size_t i = 0; rc == RC_OK && i < regions.count; i++) {
		struct bytes next =
			i + 1 < regions.count ? regions.item[i + 1].start : (struct bytes){0};

		expect_same(regions.item[i].end, next);
	}
	hbase_regions_release(&regions);
}

static void read_status(struct bytes m)
{
	struct hbase_status s = {.version = ""};
	struct listener nobody = {0};
	struct error err = {0};
	int rc = decode_status(m, &s, &err);

	expect_sentence(rc, &err);
	if (rc == RC_OK) {
		precheck_table(&nobody, &s, "t", 0);
		rc = precheck_cluster(&nobody, &s, 0, &err);
		expect_sentence(rc, &err);
	}
	for (size_t i = 0; i < s.nstores; i++)
		if (rc == RC_OK && !hbase_status_stores(&s, s.stores[i].region))
			abort();
	hbase_status_release(&s);
}

static void read_message(unsigned kind, struct bytes m)
{
	struct error err = {0};
	struct hbase_failure why = {0};
	struct hbase_place at;
	struct region_info info;
	struct description d;
	struct scan_answer scan;
	struct hbase_tables names = {0};
	struct arena a = {0};
	struct bytes text;
	enum procedure_state state;
	enum hbase_table_state table;
	uint64_t number;
	bool yes;

	switch (kind) {
	case 1: expect_sentence(decode_bytes(m, &text, &err), &err); break;
	case 2: expect_sentence(decode_number(m, &number, &err), &err); break;
	case 3: expect_sentence(decode_master(m, &at, &err), &err); break;
	case 4: expect_sentence(decode_meta_place(m, &at, &err), &err); break;
	case 5: expect_sentence(decode_region_info(m, &info, &err), &err); break;
	case 6:
		expect_sentence(decode_table(m, &d, &a, &yes, &err), &err);
		expect_sentence(decode_table_names(m, &names, &err), &err);
		hbase_tables_release(&names);
		break;
	case 7: expect_sentence(decode_table_state(m, &table, &err), &err); break;
	case 8: expect_said(decode_procedure(m, &state, &why, &err), &err); break;
	case 9: expect_sentence(decode_scan(m, &scan, &err), &err); break;
	case 10: expect_said(exception_read(m, &why, &err), &err); break;
	case 11: read_cells(m); break;
	case 12: read_status(m); break;
	default: place_read(m, 16000, &at); break;
	}
	arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes message, cells;
	struct hbase_failure why = {0};
	struct error err = {0};

	if (size == 0)
		return 0;
	/* a heap copy, so that a sanitizer sees reads past its end */
	uint8_t *copy = mem_alloc(size > 1 ? size - 1 : 1);
	memcpy(copy, data + 1, size - 1);
	if (data[0] != 0) {
		read_message(data[0] % 14, bytes_of(copy, size - 1));
	} else {
		int rc = rpc_read_answer(bytes_of(copy, size - 1), 1, &message, &cells, &why, &err);

		expect_said(rc, &err);
		for (unsigned kind = 1; rc == RC_OK && kind <= 12; kind++)
			read_message(kind, message);
		if (rc == RC_OK)
			read_cells(cells);
	}
	mem_free(copy);
	return 0;
}
