/*
 * limits.h - the stages of conf/ratings.yaml, hard-wired, for a comparison with saltmill's general
 * stages
 *
 * A program for this one table would do the same work. It knows the columns, the keys have 21
 * bytes, each row has two cells, and it makes only the checks that the input needs. No stage can
 * work with much less.
 */
#ifndef SALTMILL_BENCH_LIMITS_H
#define SALTMILL_BENCH_LIMITS_H

#include <stddef.h>
#include <stdint.h>

enum { LIMIT_KEY = 21, LIMIT_TEXT = 10, LIMIT_SALTS = 16 };

struct limit_row {
	uint8_t key[LIMIT_KEY];
	uint8_t lengths; /* the movie << 4 | the rating */
	uint8_t text[LIMIT_TEXT];
};

struct limit_rows {
	struct limit_row *row;
	size_t count, cap;
};

/* Reads and parses the CSV file and partitions its rows by salt. Returns -1 and errno on failure,
 * or if the file has another format. */
int limit_encode(const char *path, struct limit_rows out[LIMIT_SALTS]);
/* Sorts one salt's rows into sorted[count]. */
void limit_sort(const struct limit_rows *rows, struct limit_row *sorted);
/* Expands rows to KeyValues in blocks of 64 KB. Returns the number of bytes. */
uint64_t limit_expand(const struct limit_row *rows, size_t count);
/* Hashes the keys into the chunks of a ROW bloom filter. Returns the number of chunks. */
size_t limit_bloom(const struct limit_row *rows, size_t count);

void limit_rows_release(struct limit_rows rows[LIMIT_SALTS]);

#endif
