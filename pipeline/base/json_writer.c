/* json_writer.c - see json_writer.h */
#include "json_writer.h"

#include <stdio.h>

#include "bytes.h"

static bool is_indented(const struct json_writer *w)
{
	return w->style == FORM_FILE || w->style == FORM_REPORT || w->style == FORM_NARROW;
}

static void new_line(struct json_writer *w)
{
	buf_put(w->out, '\n');
	for (unsigned i = 0; i < w->depth; i++)
		buf_append_str(w->out, w->style == FORM_NARROW ? " " : "  ");
}

void json_next(struct json_writer *w)
{
	if (w->more)
		buf_append_str(w->out, w->style == FORM_SPACED ? ", " : ",");
	if (is_indented(w))
		new_line(w);
	w->more = true;
}

void json_key(struct json_writer *w, const char *key)
{
	bool is_tight = w->style == FORM_LINE || w->style == FORM_FILE_LINE;

	json_next(w);
	json_text(w, bytes_str(key));
	buf_append_str(w->out, is_tight ? ":" : ": ");
}

void json_open(struct json_writer *w, char bracket)
{
	buf_put(w->out, (uint8_t)bracket);
	w->depth++;
	w->more = false;
}

void json_close(struct json_writer *w, char bracket)
{
	w->depth--;
	if (w->more && is_indented(w))
		new_line(w);
	buf_put(w->out, (uint8_t)bracket);
	w->more = true;
}

void json_word(struct json_writer *w, const char *word)
{
	buf_append_str(w->out, word);
}

void json_text(struct json_writer *w, struct bytes text)
{
	if (w->style == FORM_FILE || w->style == FORM_FILE_LINE || w->style == FORM_NARROW)
		text_json(w->out, text);
	else
		text_json_shown(w->out, text);
}

void json_int(struct json_writer *w, int64_t v)
{
	if (v < 0)
		buf_put(w->out, '-');
	buf_digits(w->out, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/*
 * Write a real number, for example 1e+05 as 1e5 and 7 as 7.0, so that readers recognise a real
 * number.
 */
void json_float(struct json_writer *w, double v)
{
	char text[40];

	snprintf(text, sizeof text, "%.*g", w->digits ? (int)w->digits : 17, v);
	char *e = strchr(text, 'e');

	buf_append(w->out, text, e ? (size_t)(e - text) : strlen(text));
	if (!e) {
		buf_append_str(w->out, strchr(text, '.') ? "" : ".0");
		return;
	}
	buf_append_str(w->out, e[1] == '-' ? "e-" : "e");
	e += 2;
	while (*e == '0')
		e++;
	buf_append_str(w->out, e);
}
