/*
 * rows.h - records that are kept, and given to a sorter as a load does it
 */
#ifndef SALTMILL_BENCH_ROWS_H
#define SALTMILL_BENCH_ROWS_H

#include "mem.h"
#include "sorter.h"

struct rows {
	struct record *record;
	size_t count, cap;
	struct arena arena;
};

/* A copy, with some bytes behind it that can be read. */
void keep_record(struct rows *rows, const struct record *r, size_t secondary_bytes);
void rows_release(struct rows *rows);

/* Add n <= RECORD_BATCH records, as a batch if they can be one. */
int add_records(struct run_builder *to, const struct record *r, size_t n, size_t secondary_bytes,
		struct error *err);

#endif
