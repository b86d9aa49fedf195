/*
 * test_input_source_pieces.c - tests that the events are the same for any pieces, parser and
 * threads
 *
 * The three oracles are a generator that knows the fields it has written (RFC 4180), a plain count
 * of line ends, and libcsv alone (libcsv_only).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pattern.h"
#include "tests/unit/draw.h"
#include "tests/unit/source_rig.h"

static void expect_same(const struct setup *setup, struct bytes text, const struct outcome *want)
{
	struct outcome o = run_text(*setup, text.ptr, text.len);

	if (o.rc != want->rc || strcmp(LOG(o), LOG(*want)) != 0 ||
	    o.counts.blank_lines != want->counts.blank_lines ||
	    o.counts.filtered != want->counts.filtered ||
	    o.counts.filtered_lines != want->counts.filtered_lines ||
	    o.counts.rejected_lines != want->counts.rejected_lines) {
		struct buf b = {0};
		show(&b, text);
		buf_put(&b, 0);
		fail_msg("input <%s> pieces of %zu: %d\n%s\nexpected %d\n%s", (char *)b.ptr,
			 setup->piece_bytes, o.rc, LOG(o), want->rc, LOG(*want));
	}
	/* apart from the name, which changes each time */
	if (o.rc < 0)
		assert_string_equal(strchr(o.err.msg, ':'), strchr(want->err.msg, ':'));
	drop(&o);
}

#ifdef __SANITIZE_THREAD__ /* one thread reads these inputs */
#define ROUNDS(n)     ((n) / 200)
#define WINDOW_ROUNDS 2
#elif defined(__SANITIZE_ADDRESS__) /* make fuzz T=pieces and T=csv look for more */
#define ROUNDS(n)     ((n) / 10)
#define WINDOW_ROUNDS 20
#else
#define ROUNDS(n)     (n)
#define WINDOW_ROUNDS 20
#endif

/*
 * For any input, valid or malformed, the fast path, libcsv alone and pieces of all sizes give the
 * same events. Some inputs are long runs of text, so that they cross blocks of 64 bytes.
 */
static void test_random(void **state)
{
	static const char alphabet[] = "a,\"\n\r bx,\"\n\"a,";
	struct buf text = {0};
	struct arena arena = {0};
	struct pattern *skip;
	struct error err;

	assert_int_equal(pattern_new(&skip, &arena, "^[ab]", &err), RC_OK);
	(void)state;
	for (unsigned round = 0; round < ROUNDS(30000); round++) {
		unsigned len = pick(round % 8 ? 24 : 300), calm = pick(4);

		text.len = 0;
		for (unsigned i = 0; i < len; i++)
			buf_put(&text, (uint8_t)alphabet[calm && pick(4) ? 0 : pick(15)]);
		struct setup setup = {.ncolumns = 1 + pick(3), .libcsv_only = true};
		setup.piece_bytes = 1000;
		setup.max_row_bytes = pick(20) ? 0 : 10;
		setup.skip = round % 3 ? NULL : skip;
		struct outcome want = run_text(setup, text.ptr, text.len);
		setup.libcsv_only = false;
		expect_same(&setup, buf_bytes(&text), &want);
		setup.piece_bytes = 1 + pick(9);
		expect_same(&setup, buf_bytes(&text), &want);
		setup.libcsv_only = true;
		expect_same(&setup, buf_bytes(&text), &want);
		drop(&want);
	}
	buf_release(&text);
	arena_release(&arena);
}

/* Writes one random field to `text`, and the field's expected log. */
static void random_field(struct buf *text, struct buf *log)
{
	static const char plain[] = "ab c\tz", quoted[] = "ab ,\"\n\r\"";
	bool in_quotes = pick(3) == 0;
	unsigned len = pick(10) ? pick(6) : pick(150);
	struct buf value = {0};

	for (unsigned i = 0; i < len; i++)
		buf_put(&value, (uint8_t)(in_quotes ? quoted[pick(8)] : plain[pick(6)]));
	buf_append_str(log, in_quotes ? " Q[" : " [");
	show(log, buf_bytes(&value));
	buf_put(log, ']');
	if (in_quotes)
		buf_put(text, '"');
	for (size_t i = 0; i < value.len; i++) {
		if (value.ptr[i] == '"')
			buf_put(text, '"');
		buf_put(text, value.ptr[i]);
	}
	if (in_quotes)
		buf_put(text, '"');
	buf_release(&value);
}

/* Valid input (RFC 4180, and single \r) gives exactly the written fields. */
static void test_well_formed(void **state)
{
	static const char *const ends[] = {"\n", "\r\n", "\r"};
	struct buf text = {0}, log = {0};

	(void)state;
	for (unsigned round = 0; round < ROUNDS(10000); round++) {
		unsigned rows = pick(8);

		text.len = log.len = 0;
		for (unsigned i = 0; i < rows; i++) {
			buf_printf(&log, "%llu:%zu",
				   (unsigned long long)naive_line(buf_bytes(&text), text.len),
				   text.len);
			for (int k = 0; k < 3; k++) {
				random_field(&text, &log);
				if (k < 2)
					buf_put(&text, ',');
			}
			buf_put(&log, '\n');
			if (i + 1 < rows || pick(2))
				buf_append_str(&text, ends[pick(3)]);
		}
		buf_put(&log, 0);
		struct outcome want = {.log = log};
		struct setup setup = {.ncolumns = 3};
		setup.piece_bytes = pick(2) ? 2000 : 1 + pick(100);
		setup.libcsv_only = pick(4) == 0;
		expect_same(&setup, buf_bytes(&text), &want);
	}
	buf_release(&text);
	buf_release(&log);
}

/* Writes a row of `n` plain fields, and the row's expected log. If `odd`, a field is missing. */
static void plain_row(struct buf *text, struct buf *log, size_t line, unsigned n, unsigned most,
		      bool odd)
{
	struct buf fields = {0};
	size_t start = text->len;

	for (unsigned k = odd; k < n; k++) {
		unsigned len = pick(most) + (n - odd == 1);

		buf_append_str(&fields, " [");
		for (unsigned i = 0; i < len; i++) {
			uint8_t c = (uint8_t) "ab c\tz"[pick(6)];

			buf_put(text, c);
			show(&fields, bytes_of(&c, 1));
		}
		buf_put(&fields, ']');
		if (k + 1 < n)
			buf_put(text, ',');
	}
	buf_printf(log, "%zu:%zu", line, start);
	if (odd) {
		buf_printf(log, " field_count (found %u field%s, expected %u) <", n - 1,
			   n == 2 ? "" : "s", n);
		show(log, bytes_of(text->ptr + start, text->len - start));
		buf_put(log, '>');
	} else {
		buf_append(log, fields.ptr, fields.len);
	}
	buf_put(log, '\n');
	buf_release(&fields);
}

/*
 * Rows split in batches. Windows of marks end anywhere, also inside a line end. Some rows
 * exceed a window, and some need the slow path.
 */
static void test_windows(void **state)
{
	static const char *const ends[] = {"\n", "\r\n", "\r"};
	struct buf text = {0}, log = {0};

	(void)state;
	for (unsigned round = 0; round < WINDOW_ROUNDS; round++) {
		unsigned n = 1 + pick(6), most = round % 10 ? 2 + pick(12) : 5000, end = pick(3),
			 mix = pick(2);
		size_t lines = 0;
		struct outcome want = {0};

		text.len = log.len = 0;
		while (text.len < 20000) {
			plain_row(&text, &log, lines + 1, n, most, n > 1 && mix && pick(40) == 0);
			for (unsigned blank = mix && pick(60) == 0 ? 0 : 1; blank < 2; blank++) {
				const char *e = ends[mix && pick(9) == 0 ? pick(3) : end];
				bool joins = *e == '\n' && text.ptr[text.len - 1] == '\r';

				buf_append_str(&text, joins ? "\r" : e);
				lines++;
				if (blank == 0)
					want.counts.blank_lines++;
			}
		}
		const uint8_t *last = text.ptr + text.len - 2;
		if (last[1] == '\n' && last[0] != '\n' && last[0] != '\r' && pick(2))
			text.len--;
		buf_put(&log, 0);
		want.log = log;
		struct setup setup = {.ncolumns = n};
		for (setup.piece_bytes = 100000; setup.piece_bytes > 50; setup.piece_bytes /= 7)
			expect_same(&setup, buf_bytes(&text), &want);
		setup.libcsv_only = true;
		expect_same(&setup, buf_bytes(&text), &want);
	}
	buf_release(&text);
	buf_release(&log);
}

static void test_threads(void **state)
{
	struct buf text = many_rows(20000);
	struct setup setup = {.ncolumns = 2, .nfiles = 1};

	(void)state;
	setup.files[0] = put_file("plain", text.ptr, text.len);
	struct outcome want = run(&setup);
	for (unsigned threads = 2; threads <= 4; threads++) {
		for (size_t piece = 200; piece < 100000; piece *= 9) {
			setup.threads = threads;
			setup.piece_bytes = piece;
			struct outcome o = run(&setup);
			assert_string_equal(LOG(o), LOG(want));
			assert_int_equal(o.counts.events, 20000);
			assert_int_equal(o.file[0].rows, 20000);
			drop(&o);
		}
	}
	drop(&want);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_well_formed),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_threads),
	};

	random_state = 20240229;
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
