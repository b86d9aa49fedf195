/*
 * Tests rows in batches. The sink gets each row of the text once, with its own fields, for any rows
 * in a batch and any bytes between them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "source.h"
#include "tests/unit/draw.h"
#include "tests/unit/temp_dir.h"

enum { ROWS = 5000, COLUMNS_MAX = 9 };

struct text {
	struct buf buf;
	size_t at[ROWS];  /* where row i starts */
	bool plain[ROWS]; /* true if the row has no quote */
	size_t ncolumns;
};

struct seen {
	const struct text *text;
	size_t rows[ROWS]; /* number of times that the sink got each row */
	size_t together;
	unsigned refuse; /* refuses one in this many batches, or none if 0 */
};

static void put_row(struct text *t, size_t i, unsigned odd, bool crlf)
{
	t->at[i] = t->buf.len;
	t->plain[i] = odd == 0 || draw() % odd > 0;
	for (size_t k = 0; k < t->ncolumns; k++) {
		if (k > 0)
			buf_put(&t->buf, ',');
		if (!t->plain[i] && k == 0)
			buf_append_str(&t->buf, "\"q\"");
		for (size_t n = draw() % 12 + (t->ncolumns == 1); (t->plain[i] || k > 0) && n > 0;
		     n--)
			buf_put(&t->buf, (uint8_t)('0' + draw() % 75));
	}
	buf_append_str(&t->buf, crlf ? "\r\n" : "\n");
	if (odd && draw() % odd == 0)
		buf_append_str(&t->buf, crlf ? "\r\n" : "\n"); /* a blank line */
}

/* One row in `odd` has quotes. Line ends change after `turn` rows. */
static void text_make(struct text *t, size_t ncolumns, unsigned odd, unsigned turn)
{
	*t = (struct text){.ncolumns = ncolumns};
	for (size_t i = 0; i < ROWS; i++)
		put_row(t, i, odd, turn && i / turn % 2);
}

static size_t row_at(const struct seen *s, uint64_t offset)
{
	size_t lo = 0, hi = ROWS;

	while (hi - lo > 1) {
		size_t half = (lo + hi) / 2;

		if (s->text->at[half] <= offset)
			lo = half;
		else
			hi = half;
	}
	assert_int_equal(s->text->at[lo], offset);
	return lo;
}

/* Checks that the field is the text at `at`. Returns the start of the next field. */
static size_t expect_field(const struct seen *s, size_t at, struct bytes field)
{
	const uint8_t *text = s->text->buf.ptr;
	size_t end = at;

	while (text[end] != ',' && text[end] != '\n' && text[end] != '\r')
		end++;
	assert_true(bytes_eq(field, bytes_of(text + at, end - at)));
	return end + 1;
}

static int on_rows(void *ctx, const struct event_rows *rows, bool *taken)
{
	struct seen *s = ctx;

	assert_in_range(rows->n, 1, EVENT_BATCH);
	assert_int_equal(rows->ncolumns, s->text->ncolumns);
	*taken = s->refuse == 0 || draw() % s->refuse > 0;
	for (size_t i = 0; i < rows->n; i++) {
		uint64_t start = rows->seq + rows_start(rows, i), at = start;
		size_t row = row_at(s, start);

		assert_true(s->text->plain[row]);
		for (size_t k = 0; k < rows->ncolumns; k++) {
			struct row_field f = row_field(rows->ends + i * rows->stride + k);

			at = expect_field(s, at, bytes_of(rows->text + f.at, f.len));
		}
		assert_true(at - 1 - start <= rows->longest);
		s->rows[row] += *taken;
	}
	s->together += *taken ? rows->n : 0;
	return RC_OK;
}

static int on_event(void *ctx, const struct event *e, struct reject *why)
{
	struct seen *s = ctx;
	size_t row = row_at(s, e->seq), at = s->text->at[row];

	(void)why;
	assert_int_equal(e->offset, e->seq);
	for (size_t k = 0; s->text->plain[row] && k < e->ncolumns; k++)
		at = expect_field(s, at, bytes_of(e->columns[k].ptr, e->columns[k].len));
	s->rows[row]++;
	return RC_OK;
}

static void check(struct text *t, size_t piece_bytes, unsigned refuse)
{
	static const char *names[COLUMNS_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
	const char *path = path_of("rows.csv");

	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(t->buf.ptr, 1, t->buf.len, f), t->buf.len);
	assert_int_equal(fclose(f), 0);
	const char *files[] = {path};
	struct job job = {.csv = {.delimiter = ',',
				  .quote = '"',
				  .max_row_bytes = 1 << 20,
				  .ncolumns = t->ncolumns,
				  .columns = names}};
	const struct input input = {.files = files, .nfiles = 1};
	struct source_options options = {.job = &job, .input = &input, .piece_bytes = piece_bytes};
	struct seen seen = {.text = t, .refuse = refuse};
	struct source_sink sink = {.ctx = &seen, .event = on_event, .rows = on_rows};
	struct source *s;
	struct error err;
	int rc = source_open(&s, &options, &err);
	assert_int_equal(rc, RC_OK);
	struct source_worker *w = source_worker_new(s);
	while (rc == RC_OK)
		rc = source_work(w, &sink, &err);
	assert_int_equal(rc, RC_END);
	for (size_t i = 0; i < ROWS; i++)
		assert_int_equal(seen.rows[i], 1);
	if (refuse != 1)
		assert_true(seen.together > ROWS / 4);
	else
		assert_int_equal(seen.together, 0);
	source_worker_free(w);
	source_close(s);
}

static void each_row_once(void **state)
{
	(void)state;
	random_state = 20261121;
	static const size_t columns[] = {1, 2, 4, COLUMNS_MAX}, pieces[] = {3000, 20000, 1 << 20};
	static const unsigned odds[] = {0, 40}, turns[] = {0, 1000, 30}, refuses[] = {0, 1, 3};
	for (unsigned i = 0; i < 4 * 3 * 2 * 3; i++) {
		struct text t;

		text_make(&t, columns[i % 4], odds[i / 4 % 2], turns[i / 8 % 3]);
		for (unsigned k = 0; k < 3; k++)
			check(&t, pieces[(i / 24 + k) % 3], refuses[k]);
		buf_release(&t.buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_row_once)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
