/* markdown_table.c - folds lines and prints tables (markdown_parts.h) */
#include "markdown_parts.h"

enum { COLUMNS = 8, LONG_WORD = 28 };

/*
 * Returns the length of the code at the start of `s`, such as `a b`. Returns 0 if there is no code,
 * or if the code is long.
 */
static size_t code_length(struct bytes s)
{
	size_t end = text_begins(s, "`") ? text_find(s, 1, "`") : s.len;

	return end < s.len && end < LONG_WORD ? end + 1 : 0;
}

/*
 * Takes the next word. Short code is one word, together with the characters up to the next blank.
 */
static struct bytes take_word(struct bytes *s)
{
	*s = text_trimmed(*s);
	struct bytes word = bytes_of(s->ptr, text_find(*s, code_length(*s), " "));

	s->ptr += word.len, s->len -= word.len;
	return word;
}

void fold(struct buf *out, struct bytes s, size_t indent, size_t width)
{
	size_t column = indent;

	for (struct bytes word = take_word(&s); word.len; word = take_word(&s)) {
		size_t len = text_columns(word);

		if (column > indent && column + 1 + len > width) {
			buf_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			buf_append_str(out, " ");
			column++;
		}
		buf_append(out, word.ptr, word.len);
		column += len;
	}
}

/* --- tables --- */

struct table_row {
	struct buf cell[COLUMNS];
	size_t n;
};

/* Reads the cells of a line "| a | b \| c |". */
static void take_row(struct table_row *r, struct bytes line)
{
	struct buf cell = {0};

	*r = (struct table_row){0};
	for (size_t i = 1; i < line.len && r->n < COLUMNS; i++) {
		if (line.ptr[i] == '|') {
			append_inline(&r->cell[r->n++], text_trimmed(buf_bytes(&cell)), false);
			cell.len = 0;
		} else {
			i += line.ptr[i] == '\\' && i + 1 < line.len && line.ptr[i + 1] == '|';
			buf_put(&cell, line.ptr[i]);
		}
	}
	buf_release(&cell);
}

static void release_row(struct table_row *r)
{
	for (size_t i = 0; i < r->n; i++)
		buf_release(&r->cell[i]);
}

static bool is_rule(struct bytes line)
{
	for (size_t i = 0; i < line.len; i++)
		if (!strchr("|-: ", line.ptr[i]))
			return false;
	return true;
}

struct column_widths {
	size_t whole[COLUMNS]; /* width of the longest cell on one line */
	size_t least[COLUMNS]; /* width of the longest word of the column */
	size_t want[COLUMNS], n;
};

static void measure_row(struct column_widths *w, const struct table_row *r)
{
	w->n = r->n > w->n ? r->n : w->n;
	for (size_t i = 0; i < r->n; i++) {
		struct bytes rest = buf_bytes(&r->cell[i]);
		size_t whole = text_columns(rest);

		w->whole[i] = whole > w->whole[i] ? whole : w->whole[i];
		for (struct bytes word = take_word(&rest); word.len; word = take_word(&rest)) {
			size_t len = text_columns(word);

			len = len < LONG_WORD ? len : LONG_WORD;
			w->least[i] = len > w->least[i] ? len : w->least[i];
		}
	}
}

/*
 * Makes the widest columns narrower until the table fits. No column becomes narrower than its
 * longest word.
 */
static void fit(struct column_widths *w, size_t width)
{
	memcpy(w->want, w->whole, sizeof w->want);
	for (;;) {
		size_t all = w->n ? 2 * (w->n - 1) : 0, widest = COLUMNS;

		for (size_t i = 0; i < w->n; i++) {
			all += w->want[i];
			if (w->want[i] > w->least[i] &&
			    (widest == COLUMNS || w->want[i] > w->want[widest]))
				widest = i;
		}
		if (all <= width || widest == COLUMNS)
			return;
		w->want[widest]--;
	}
}

static void append_cell_line(struct buf *out, struct bytes *rest, size_t width, bool last)
{
	const uint8_t *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
	struct bytes line = bytes_of(rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len);
	size_t len = text_columns(line), used = line.len + (end != NULL);

	buf_append(out, line.ptr, line.len);
	rest->ptr += used, rest->len -= used;
	if (!last)
		buf_printf(out, "%*s", (int)(len < width ? width - len + 2 : 2), "");
}

static void drop_blanks(struct buf *out)
{
	while (out->len && out->ptr[out->len - 1] == ' ')
		out->len--;
}

static void append_row(struct buf *out, const struct table_row *r, const struct column_widths *w)
{
	struct buf folded[COLUMNS] = {0};
	struct bytes rest[COLUMNS] = {0};
	bool more = true;

	for (size_t i = 0; i < r->n; i++) {
		fold(&folded[i], buf_bytes(&r->cell[i]), 0, w->want[i]);
		rest[i] = buf_bytes(&folded[i]);
	}
	while (more) {
		more = false;
		for (size_t i = 0; i < w->n; i++) {
			append_cell_line(out, &rest[i], w->want[i], i + 1 == w->n);
			more |= rest[i].len > 0;
		}
		drop_blanks(out);
		buf_append_str(out, "\n");
	}
	for (size_t i = 0; i < r->n; i++)
		buf_release(&folded[i]);
}

static void append_rule(struct buf *out, const struct column_widths *w)
{
	for (size_t i = 0; i < w->n; i++) {
		for (size_t k = 0; k < w->want[i]; k++)
			buf_append_str(out, "-");
		buf_append_str(out, i + 1 < w->n ? "  " : "\n");
	}
}

static bool is_folded(const struct column_widths *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->want[i] < w->whole[i])
			return true;
	return false;
}

void table_append(struct buf *out, const char *text, size_t width)
{
	struct column_widths w = {0};
	struct table_row r;
	size_t n = 0; /* rows below the header */

	for (const char *at = text; *at; at = line_after(at, line_at(at))) {
		if (is_rule(line_at(at)))
			continue;
		take_row(&r, line_at(at));
		measure_row(&w, &r);
		release_row(&r);
	}
	fit(&w, width);
	for (const char *at = text; *at; at = line_after(at, line_at(at))) {
		if (is_rule(line_at(at))) {
			append_rule(out, &w);
			n = 0;
			continue;
		}
		if (n++ && is_folded(&w))
			buf_append_str(out, "\n");
		take_row(&r, line_at(at));
		append_row(out, &r, &w);
		release_row(&r);
	}
}
