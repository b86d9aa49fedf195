/*
 * print.c - prints to standard error and standard output
 *
 * Names, values and messages may contain untrusted bytes. text_lines escapes them before they reach
 * a terminal. base/json_writer.c escapes JSON when it writes it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "cli/reports.h"
#include "terminal.h"
#include "bytes.h"

static void hear(void *name, const char *sentence)
{
	command_say(name, "%s", sentence);
}

struct listener command_listener(const char *name)
{
	return (struct listener){hear, (void *)(uintptr_t)name};
}

void command_warn(const char *name, const struct buf *lines)
{
	for (size_t i = 0; i < lines->len;) {
		const char *line = (const char *)lines->ptr + i;
		const char *end = memchr(line, '\n', lines->len - i);
		size_t n = end ? (size_t)(end - line) : lines->len - i;

		command_say(name, "%.*s", (int)n, line);
		i += n + 1;
	}
}

void command_warn_framing(const char *name, const struct job_table *tables, size_t n)
{
	struct buf warnings = {0};

	for (size_t i = 0; i < n; i++)
		report_framing(&warnings, &tables[i].schema);
	command_warn(name, &warnings);
	buf_release(&warnings);
}

void command_warn_design(const char *name, const struct job *job,
			 const struct existing_regions *live)
{
	struct lint found = {0};
	struct buf warnings = {0};

	lint_job(&found, job, live);
	lint_report_always(&warnings, job, &found);
	command_warn(name, &warnings);
	buf_release(&warnings);
	lint_release(&found);
}

void command_left_out(const char *name, uint64_t bad, uint64_t events)
{
	char few[28], all[28];

	command_say(name,
		    "ignored %s of %s events because they are bad; `saltmill check` and "
		    "`saltmill load` print the reasons",
		    format_count(few, bad), format_count(all, events));
}

bool command_write(struct bytes text)
{
	struct buf shown = {0};

	if (isatty(STDOUT_FILENO)) {
		text_lines(&shown, text);
		text = buf_bytes(&shown);
	}
	bool good = !text.len || fwrite(text.ptr, 1, text.len, stdout) == text.len;
	buf_release(&shown);
	return good;
}

int command_print(const char *name, const struct buf *text)
{
	if (command_write(buf_bytes(text)) && !fflush(stdout))
		return EXIT_DONE;
	struct error err;
	error_errno(&err, "standard output");
	return command_fail(name, &err);
}

int command_show(const char *name, const struct buf *text)
{
	struct buf shown = {0};

	text_lines(&shown, buf_bytes(text));
	int status = command_print(name, &shown);
	buf_release(&shown);
	return status;
}

int command_print_load(const char *name, const struct buf *text, bool json, const char *dir)
{
	int status = (json ? command_print : command_show)(name, text);

	if (status)
		command_say(name, "cannot print the report; the load is published as %s", dir);
	return status;
}
