/*
 * print.c - print to standard error and standard output
 *
 * Names, values and sentences may contain untrusted bytes: text_lines escapes them before they
 * reach a terminal.  JSON is escaped where it is made (base/json_writer.c).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "cli/reports.h"
#include "terminal.h"
#include "bytes.h"

void command_say(const char *name, const char *fmt, ...)
{
	struct buf text = {0}, shown = {0};
	char sentence[8192];

	va_list ap;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof sentence, fmt, ap);
	va_end(ap);
	buf_printf(&text, "saltmill%s%s: %s\n", *name ? " " : "", name, sentence);
	text_lines(&shown, buf_bytes(&text));
	terminal_print(stderr, buf_bytes(&shown));
	buf_release(&shown);
	buf_release(&text);
}

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

void command_left_out(const char *name, uint64_t bad, uint64_t events)
{
	char few[28], all[28];

	command_say(name, "%s of %s events are bad and were ignored; `saltmill load` prints which",
		    format_count(few, bad), format_count(all, events));
}

int command_print(const char *name, const struct buf *text)
{
	if ((!text->len || fwrite(text->ptr, 1, text->len, stdout) == text->len) && !fflush(stdout))
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
