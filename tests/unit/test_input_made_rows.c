/* Tests JSON lines in batches. The sink gets each line once, with its own fields and bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "source.h"
#include "tests/unit/draw.h"
#include "tests/unit/temp_dir.h"

enum { LINES = 4000 };

struct line {
	uint64_t at, number;
	char n[24], t[64]; /* the fields of the line; an empty `t` is a null */
	unsigned seen;
};

struct seen {
	struct line lines[LINES];
	struct bytes text;
	size_t together, apart;
	unsigned refuse; /* refuses one in this many batches, or never if 0 */
};

/* Blank lines, nulls, escapes and invalid JSON lie between the lines. */
static void write_lines(struct seen *s, struct buf *out)
{
	uint64_t number = 0;

	for (size_t i = 0; i < LINES; i++) {
		struct line *l = &s->lines[i];
		unsigned odd = (unsigned)(draw() % 300);

		*l = (struct line){.at = out->len, .number = ++number};
		snprintf(l->n, sizeof l->n, "%u", (unsigned)(draw() % 100000));
		if (odd != 1)
			snprintf(l->t, sizeof l->t, "text %s of %zu", odd == 2 ? "\"\n" : "", i);
		buf_printf(out, "{\"x\": [%zu], \"n\": %s, \"t\": ", i, l->n);
		if (odd == 1)
			buf_append_str(out, "null}\n");
		else
			buf_printf(out, "\"text %s of %zu\"}\n", odd == 2 ? "\\\"\\u000a" : "", i);
		if (odd == 3 || odd == 4)
			buf_append_str(out, "\n");
		number += odd == 3 || odd == 4;
	}
}

static struct line *line_at(struct seen *s, uint64_t at)
{
	size_t lo = 0, hi = LINES;

	while (hi - lo > 1) {
		size_t half = (lo + hi) / 2;

		if (s->lines[half].at <= at)
			lo = half;
		else
			hi = half;
	}
	assert_int_equal(s->lines[lo].at, at);
	return &s->lines[lo];
}

static bool is_text(const struct column *c, const char *text)
{
	return bytes_eq(bytes_of(c->ptr, c->len), bytes_str(text));
}

static void check_raw(const struct seen *s, const struct line *l, struct bytes raw)
{
	assert_memory_equal(raw.ptr, s->text.ptr + l->at, raw.len);
	assert_int_equal(s->text.ptr[l->at + raw.len], '\n');
}

static int on_rows(void *ctx, const struct event_rows *rows, bool *taken)
{
	struct seen *s = ctx;
	const struct event_made *made = rows->made;
	size_t bytes = 0;

	assert_non_null(made);
	assert_in_range(rows->n, 1, EVENT_BATCH);
	*taken = s->refuse == 0 || draw() % s->refuse > 0;
	for (size_t i = 0; i < rows->n; i++) {
		struct line *l = line_at(s, row_seq(rows, i));
		const struct column *n = made->texts + i, *t = n + EVENT_BATCH;

		assert_true(is_text(n, l->n) && is_text(t, l->t));
		assert_false(n->absent || t->absent);
		assert_int_equal(l->number, rows->line + i);
		assert_true(n->len + t->len <= rows->longest);
		check_raw(s, l, made->raws[i]);
		bytes += n->len + t->len;
		l->seen += *taken;
	}
	assert_int_equal(bytes, made->bytes);
	s->together += *taken ? rows->n : 0;
	return RC_OK;
}

static int on_event(void *ctx, const struct event *e, struct reject *why)
{
	struct seen *s = ctx;
	struct line *l = line_at(s, e->seq);

	(void)why;
	assert_true(is_text(&e->columns[0], l->n));
	assert_int_equal(e->columns[1].absent, l->t[0] == 0);
	assert_true(e->columns[1].absent || is_text(&e->columns[1], l->t));
	assert_int_equal(l->number, e->line);
	check_raw(s, l, e->raw);
	l->seen++;
	s->apart++;
	return RC_OK;
}

static void read_all(struct seen *s, size_t piece_bytes, const uint8_t *uses)
{
	static const char *names[] = {"n", "t"};
	struct field fields[2] = {0};

	for (size_t i = 0; i < 2; i++)
		fields[i] = (struct field){.name = names[i],
					   .columns = &names[i],
					   .ncolumns = 1,
					   .type = FIELD_TEXT};
	const char *files[] = {path_of("lines.json")};
	struct job job = {.source = SOURCE_JSON, .fields = fields, .nfields = 2};
	job.csv.max_row_bytes = 1 << 20;
	const struct input input = {.files = files, .nfiles = 1};
	struct source_options options = {.job = &job, .input = &input, .piece_bytes = piece_bytes};
	struct source_sink sink = {.ctx = s, .event = on_event, .rows = on_rows, .uses = uses};
	struct source *source;
	struct error err;
	int rc = source_open(&source, &options, &err);
	assert_int_equal(rc, RC_OK);
	struct source_worker *w = source_worker_new(source);
	while (rc == RC_OK)
		rc = source_work(w, &sink, &err);
	assert_int_equal(rc, RC_END);
	source_worker_free(w);
	source_close(source);
}

static void each_line_once(void **state)
{
	static const uint8_t uses[] = {USE_NUMBER, USE_TEXT};
	static const size_t pieces[] = {3000, 1 << 20};
	static struct seen s;
	struct buf text = {0};

	(void)state;
	random_state = 20261122;
	write_lines(&s, &text);
	s.text = buf_bytes(&text);
	FILE *f = fopen(path_of("lines.json"), "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(text.ptr, 1, text.len, f), text.len);
	assert_int_equal(fclose(f), 0);
	for (unsigned i = 0; i < 8; i++) {
		bool wanted = i / 2 != 3;

		s.refuse = i / 2 == 1 ? 1 : i / 2 == 2 ? 3 : 0;
		s.together = s.apart = 0;
		read_all(&s, pieces[i % 2], wanted ? uses : NULL);
		for (size_t k = 0; k < LINES; k++, s.lines[k - 1].seen = 0)
			assert_int_equal(s.lines[k].seen, 1);
		if (s.refuse == 1 || !wanted)
			assert_int_equal(s.together, 0);
		else
			assert_true(s.together > (s.refuse ? LINES / 8 : LINES / 2));
	}
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_line_once)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
