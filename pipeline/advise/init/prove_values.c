/*
 * prove_values.c - compare each value that a job reads with the text of the file
 *
 * A second reader finds the lines (raw_lines.c), a second splitter their values (split_again.c), and
 * value_text.c reads numbers and times by the C library. So an error of the reader of a load, or a
 * wrong form in the job, shows as a difference.
 */
#include <inttypes.h>
#include <stdio.h>

#include "pattern.h"
#include "raw_lines.h"
#include "sniff_parts.h"
#include "value_proof.h"

struct value_proof {
	struct sniff_proof *proof;
	const struct job *job;
	const char *const *names;
	size_t nnames;
	size_t *column;	  /* by field: the column that it reads alone, or SIZE_MAX */
	size_t *position; /* by column: its place in the rows of the file */
	struct split_row split;
	struct buf text, row;
	struct json_proof *json; /* NULL for delimited text */
	struct pattern_scratch scratch;
	const char *file; /* the file of the last row */
	struct raw_lines *lines;
	uint64_t line; /* lines of the file so far */
	bool first;    /* no row of this file so far */
};

/* Return the column that the field reads without any change, or SIZE_MAX. */
static size_t column_of(const struct field *f, const char *const *names, size_t n)
{
	size_t i = 0;

	if (f->ncolumns != 1 || f->transform || f->fallback || f->first || f->codes)
		return SIZE_MAX;
	while (i < n && strcmp(names[i], f->columns[0]) != 0)
		i++;
	return i < n ? i : SIZE_MAX;
}

struct value_proof *value_proof_new(struct sniff_proof *proof, const struct job *job,
				    const char *const *names, size_t n)
{
	struct value_proof *p = mem_calloc(1, sizeof *p);

	*p = (struct value_proof){.proof = proof, .job = job, .names = names, .nnames = n};
	p->column = mem_calloc(job->nfields + 1, sizeof *p->column);
	p->position = mem_calloc(n + 1, sizeof *p->position);
	for (size_t i = 0; i < job->nfields; i++)
		p->column[i] = column_of(&job->fields[i], names, n);
	for (size_t i = 0; i < n; i++)
		p->position[i] = i;
	if (job->source == SOURCE_JSON)
		p->json = json_proof_new(job, names, n);
	return p;
}

/* Count a difference. The first one has its place and a sentence. */
static void differ(struct value_proof *p, uint64_t line, const char *what, struct bytes found,
		   struct bytes read)
{
	char a[80], b[80];

	if (p->proof->differs++)
		return;
	text_quote(a, 60, found);
	text_quote(b, 60, read);
	snprintf(p->proof->difference, sizeof p->proof->difference,
		 "line %" PRIu64 ": %.120s: the file has `%s`, the job reads `%s`", line, what, a,
		 b);
}

static struct bytes without_return(struct bytes t)
{
	t.len -= t.len && t.ptr[t.len - 1] == '\r';
	return t;
}

/* Return true if the job skips this line. */
static bool is_skipped(struct value_proof *p, struct bytes t)
{
	const struct csv_source *csv = &p->job->csv;

	return is_blank(t) || (csv->has_comment && t.ptr[0] == csv->comment) ||
	       (csv->skip_matching &&
		pattern_find(csv->skip_matching, &p->scratch, t, NULL) == PATTERN_FOUND);
}

static bool next_line(struct value_proof *p, struct bytes *t)
{
	if (!p->lines || !raw_lines_next(p->lines, t)) {
		raw_lines_close(p->lines);
		p->lines = NULL;
		return false;
	}
	p->line++;
	*t = without_return(*t);
	if (t->len && memchr(t->ptr, '\r', t->len)) {
		/* other line ends than those of this reader */
		raw_lines_close(p->lines);
		p->lines = NULL;
	}
	return p->lines != NULL;
}

/* Check the lines after the last row of a file, which are blank or a footer. */
static void end_file(struct value_proof *p)
{
	uint64_t footer = 0, line = 0;
	struct bytes t, last = bytes_of("", 0);

	while (next_line(p, &t))
		if (!is_skipped(p, t)) {
			footer++;
			line = line ? line : p->line;
			p->row.len = 0;
			buf_append(&p->row, t.ptr, t.len);
			last = buf_bytes(&p->row);
		}
	if (footer > p->job->csv.skip_footer && !p->proof->rejected)
		differ(p, line, "a line is in no row", last, bytes_of("", 0));
}

/* With columns: by_name, find the columns of this file in its header. */
static void place_columns(struct value_proof *p, struct bytes header)
{
	split_again(&p->split, &p->job->csv, SIZE_MAX, header);
	for (size_t k = 0; k < p->nnames; k++) {
		size_t i = 0;

		while (i < p->split.n &&
		       !bytes_eq(without_blanks(split_value(&p->split, i)), bytes_str(p->names[k])))
			i++;
		p->position[k] = i;
	}
}

static void open_file(struct value_proof *p, const char *file)
{
	if (p->file)
		end_file(p);
	raw_lines_close(p->lines);
	p->file = file;
	p->line = 0;
	p->first = true;
	p->lines = file ? raw_lines_open(file, p->job->csv.encoding) : NULL;
}

/* Compare the bytes of the row with the lines of the file. */
static void check_lines(struct value_proof *p, const struct event *ev)
{
	struct bytes t;

	while (p->lines && p->line + 1 < ev->line && next_line(p, &t)) {
		bool header = p->first && !is_skipped(p, t);

		if (header && p->job->csv.by_name)
			place_columns(p, t);
		if (!p->first && !is_skipped(p, t) && !p->proof->rejected)
			differ(p, p->line, "a line is in no row", t, bytes_of("", 0));
	}
	p->first = false;
	p->row.len = 0;
	for (uint64_t i = 0; i <= ev->more_lines && p->lines && next_line(p, &t); i++) {
		buf_append(&p->row, "\n", i > 0);
		buf_append(&p->row, t.ptr, t.len);
	}
	/* a value may contain \r\n, which `row` has as \n */
	if (p->lines && !ev->more_lines && !bytes_eq(buf_bytes(&p->row), without_return(ev->raw)))
		differ(p, ev->line, "the row", buf_bytes(&p->row), ev->raw);
}

static bool is_null_text(const struct value_proof *p, const struct field *f, struct bytes t)
{
	const char **nulls = f->nulls ? f->nulls : p->job->csv.nulls;
	size_t n = f->nulls ? f->nnulls : p->job->csv.nnulls;
	bool null = is_blank(t) || (p->job->csv.escapes && bytes_eq(t, bytes_str("\\N")));

	for (size_t i = 0; i < n; i++)
		null = null || bytes_eq(without_blanks(t), bytes_str(nulls[i]));
	return null;
}

/* Compare the value of a field with the text `t` of its column. */
static void check_value(struct value_proof *p, const struct event *ev, const struct field *f,
			struct bytes t, bool quoted, const struct value *v)
{
	enum trim trim = p->job->csv.trim;

	if (!v->text.ptr) {
		if (!is_null_text(p, f, t))
			differ(p, ev->line, f->name, t, bytes_str("no value"));
		return;
	}
	if (trim == TRIM_ALL || (trim && !quoted) || p->job->csv.nwidths || f->type != FIELD_TEXT)
		t = without_blanks(t);
	p->proof->values++;
	if (value_compare(f, &p->job->csv, t, v, &p->text) == PROOF_DIFFERS)
		differ(p, ev->line, f->name, t, buf_bytes(&p->text));
}

static struct bytes column_text(const struct event *ev, size_t i)
{
	const struct column *c = i < ev->ncolumns ? &ev->columns[i] : NULL;

	return c && !c->absent ? bytes_of(c->ptr, c->len) : bytes_of("", 0);
}

void value_proof_see(struct value_proof *p, const struct event *ev, const struct row_encoder *e)
{
	bool text = p->job->source == SOURCE_CSV && !p->job->csv.pairs;

	if (ev->file != p->file && p->job->source == SOURCE_CSV)
		open_file(p, ev->file);
	if (p->job->source == SOURCE_CSV)
		check_lines(p, ev);
	if (text)
		split_again(&p->split, &p->job->csv, p->nnames, ev->raw);
	if (p->json) {
		const char *why = json_proof_see(p->json, ev, &p->text);

		if (why)
			differ(p, ev->line, why, ev->raw, buf_bytes(&p->text));
	}
	for (size_t i = 0; i < p->job->nfields; i++) {
		const struct value *v = row_encoder_value(e, i);
		size_t k = p->column[i];

		if (k == SIZE_MAX || !v)
			continue;
		check_value(p, ev, &p->job->fields[i],
			    text ? split_value(&p->split, p->position[k]) : column_text(ev, k),
			    text && p->position[k] < p->split.n &&
				    p->split.value[p->position[k]].quoted,
			    v);
	}
}

void value_proof_end(struct value_proof *p, bool whole)
{
	if (!p)
		return;
	if (whole && p->file)
		end_file(p);
	raw_lines_close(p->lines);
	json_proof_free(p->json);
	pattern_scratch_release(&p->scratch);
	split_release(&p->split);
	buf_release(&p->text);
	buf_release(&p->row);
	mem_free(p->column);
	mem_free(p->position);
	mem_free(p);
}
