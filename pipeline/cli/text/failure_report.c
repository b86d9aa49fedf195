#include "cli/reports.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"
#include "show_json.h"

static const char *kind_of(int code)
{
	switch (code) {
	case RC_MEMORY: return "memory";
	case RC_DATA: return "data";
	case RC_ORDER: return "order";
	case RC_LIMIT: return "limit";
	case RC_CONFIG: return "config";
	case RC_STOPPED: return "stopped";
	case RC_BUSY: return "busy";
	default: return "io";
	}
}

struct failure_place {
	size_t file; /* characters */
	unsigned long line, column;
};

/* ":12: ", ":12:3: " or ":12 " at s. */
static bool read_place(const char *s, struct failure_place *p)
{
	char *end;

	if (*s != ':' || s[1] < '1' || s[1] > '9')
		return false;
	p->line = strtoul(s + 1, &end, 10);
	p->column = 0;
	if (*end == ':' && end[1] >= '0' && end[1] <= '9')
		p->column = strtoul(end + 1, &end, 10);
	return (*end == ':' && end[1] == ' ') || *end == ' ';
}

/* A place of the form FILE:LINE: at the start of the sentence; an address of the net is none. */
static bool find_place(const char *sentence, struct failure_place *p)
{
	for (const char *s = strchr(sentence, ':'); s; s = strchr(s + 1, ':')) {
		p->file = (size_t)(s - sentence);
		if (p->file && p->file < PATH_MAX && read_place(s, p)) {
			char *file = mem_format("%.*s", (int)p->file, sentence);
			bool there = access(file, F_OK) == 0;

			mem_free(file);
			return there;
		}
	}
	return false;
}

static void set_text(json_t *out, const char *key, const char *text, size_t len)
{
	char *copy = mem_format("%.*s", (int)len, text);

	json_object_set_new(out, key, show_string(copy));
	mem_free(copy);
}

/* Where what is quoted there ends: behind the second of two backquotes, else it is no quote. */
static const char *behind_quote(const char *s)
{
	const char *end = *s == '`' ? strchr(s + 1, '`') : NULL;

	return end ? end + 1 : s + 1;
}

/* The word, which begins the sentence or stands behind a space, and not in what is quoted. */
static const char *find_word(const char *sentence, const char *word)
{
	for (const char *s = sentence; *s; s = behind_quote(s))
		if ((s == sentence || s[-1] == ' ') && strncmp(s, word, strlen(word)) == 0)
			return s;
	return NULL;
}

/* Characters up to "; ", behind which stands what else there is to say. */
static size_t clause(const char *text)
{
	const char *s = text;

	while (*s && *s != '\n' && strncmp(s, "; ", 2) != 0)
		s = behind_quote(s);
	return (size_t)(s - text);
}

/* "found X, expected Y": as sentences of this program say it. */
static void set_found(json_t *out, const char *sentence)
{
	const char *found = find_word(sentence, "found ");
	const char *expected = find_word(sentence, "expected ");

	if (!expected)
		return;
	if (found && found < expected) {
		size_t len = (size_t)(expected - found) - strlen("found ");

		found += strlen("found ");
		while (len && (found[len - 1] == ' ' || found[len - 1] == ',' ||
			       found[len - 1] == ';' || found[len - 1] == ':'))
			len--;
		set_text(out, "found", found, len);
	}
	expected += strlen("expected ");
	set_text(out, "expected", expected, clause(expected));
}

void failure_report_json(struct buf *out, const char *command, int status, const struct error *err)
{
	struct failure_place p;
	json_t *all = json_pack("{s:s, s:i, s:s, s:o}", "command", command, "status", status,
				"kind", kind_of(err->code), "error", show_string(err->msg));

	if (find_place(err->msg, &p)) {
		set_text(all, "file", err->msg, p.file);
		json_object_set_new(all, "line", json_integer((json_int_t)p.line));
		if (p.column)
			json_object_set_new(all, "column", json_integer((json_int_t)p.column));
	}
	set_found(all, err->msg);
	show_json(out, all, JSON_COMPACT);
}
