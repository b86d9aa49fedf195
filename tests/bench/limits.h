/*
 * limits.h - the stages of conf/ratings.yaml, hard-wired: what saltmill's general ones are held to
 *
 * The work is that of a program written for this one table: columns known, keys of 21 bytes, two
 * cells a row, nothing checked that the input does not violate.  No stage can do with much less.
 */
#ifndef SALTMILL_BENCH_LIMITS_H
#define SALTMILL_BENCH_LIMITS_H

#include <stddef.h>
#include <stdint.h>

enum { LIMIT_KEY = 21, LIMIT_TEXT = 10, LIMIT_SALTS = 16 };

struct limit_row {
	uint8_t key[LIMIT_KEY];
	uint8_t lengths; /* of the movie << 4 | of the rating */
	uint8_t text[LIMIT_TEXT];
};

struct limit_rows {
	struct limit_row *row;
	size_t count, cap;
};

/* Read and parse the CSV file and partition its rows by salt.  -1: errno, or not such a file. */
int limit_encode(const char *path, struct limit_rows out[LIMIT_SALTS]);
/* Sort one salt's rows into sorted[count]. */
void limit_sort(const struct limit_rows *rows, struct limit_row *sorted);
/* Expand rows to KeyValues in blocks of 64 KB; returns the bytes made. */
uint64_t limit_expand(const struct limit_row *rows, size_t count);
/* Hash the keys into the chunks of a ROW bloom filter; returns the number of chunks. */
size_t limit_bloom(const struct limit_row *rows, size_t count);

void limit_rows_release(struct limit_rows rows[LIMIT_SALTS]);

#endif
