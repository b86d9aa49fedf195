#include "cli/reports.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"
#include "form.h"

struct failure_place {
	size_t file; /* length of the file name */
	unsigned long line, column;
};

/* Reads a place such as ":12: ", ":12:3: " or ":12 " at `s`. */
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

/*
 * Finds a place of the form FILE:LINE: at the start of the message. A network address is not a
 * place.
 */
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

struct failure_view {
	const char *command;
	int64_t status;
	unsigned kind;
	const char *error, *file;
	uint64_t line, column;
	const char *found, *expected;
	struct arena arena;
};

/* indexed by -code - 1 */
static const char *const kinds[] = {"io",     "memory",	 "data", "order", "limit",
				    "config", "stopped", "busy", NULL};
static const struct form_member failure_members[] = {
	{"command", FORM_TEXT, IN(failure_view, command), "the command that failed"},
	{"status", FORM_INT, IN(failure_view, status), "its exit status"},
	{"kind", FORM_CHOICE, IN(failure_view, kind), "kind of the error", .choices = kinds},
	{"error", FORM_TEXT, IN(failure_view, error), "the message, as without --json"},
	{"file", FORM_TEXT, IN(failure_view, file), "file, if the message begins with a place",
	 FORM_IF_ANY},
	{"line", FORM_COUNT, IN(failure_view, line), "line in the file, from 1", FORM_IF_ANY},
	{"column", FORM_COUNT, IN(failure_view, column), "column in the line, from 1", FORM_IF_ANY},
	{"found", FORM_TEXT, IN(failure_view, found), "the found value, if the message contains it",
	 FORM_IF_ANY},
	{"expected", FORM_TEXT, IN(failure_view, expected),
	 "the expected value, if the message contains it", FORM_IF_ANY},
};
const struct form failure_form =
	NAMED_FORM(failure_view, failure_members, "failure",
		   "the last line of standard error if a command fails with --json");

/*
 * Returns the character after the quoted text that starts at `s`, or s + 1 if there is none. A
 * quoted text is between two backquotes.
 */
static const char *behind_quote(const char *s)
{
	const char *end = *s == '`' ? strchr(s + 1, '`') : NULL;

	return end ? end + 1 : s + 1;
}

/* Finds a word outside quotes, at the start of the message or after a space. */
static const char *find_word(const char *sentence, const char *word)
{
	for (const char *s = sentence; *s; s = behind_quote(s))
		if ((s == sentence || s[-1] == ' ') && strncmp(s, word, strlen(word)) == 0)
			return s;
	return NULL;
}

/* Returns the number of characters before "; ". A remark begins there. */
static size_t clause(const char *text)
{
	const char *s = text;

	while (*s && *s != '\n' && strncmp(s, "; ", 2) != 0)
		s = behind_quote(s);
	return (size_t)(s - text);
}

/* Reads "found X, expected Y" from the message. */
static void find_found(struct failure_view *v)
{
	const char *found = find_word(v->error, "found ");
	const char *expected = find_word(v->error, "expected ");

	if (!expected)
		return;
	if (found && found < expected) {
		size_t len = (size_t)(expected - found) - strlen("found ");

		found += strlen("found ");
		while (len && strchr(" ,;:", found[len - 1]))
			len--;
		v->found = arena_strndup(&v->arena, found, len);
	}
	expected += strlen("expected ");
	v->expected = arena_strndup(&v->arena, expected, clause(expected));
}

void failure_report_json(struct buf *out, const char *command, int status, const struct error *err)
{
	struct failure_place p;
	struct failure_view v = {.command = command,
				 .status = status,
				 .kind = err->code < 0 && err->code >= RC_BUSY
						 ? (unsigned)-err->code - 1
						 : 0,
				 .error = err->msg};

	if (find_place(err->msg, &p)) {
		v.file = arena_strndup(&v.arena, err->msg, p.file);
		v.line = p.line;
		v.column = p.column;
	}
	find_found(&v);
	form_put(out, &failure_form, &v, FORM_LINE);
	arena_release(&v.arena);
}
