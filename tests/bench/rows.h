/*
 * rows.h - keeps records and passes them to a sorter as a load does
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

/* Makes a copy. A reader may also read some bytes after the copy. */
void keep_record(struct rows *rows, const struct record *r, size_t secondary_bytes);
void rows_release(struct rows *rows);

/* Adds n <= RECORD_BATCH records, as one batch if possible. */
int add_records(struct run_builder *to, const struct record *r, size_t n, size_t secondary_bytes,
		struct error *err);

#endif
