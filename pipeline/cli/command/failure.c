/*
 * failure.c - prints a failure as a sentence, or with --json as an object
 *
 * The object is the last line of standard error. It contains the exit status, so the program keeps
 * the failure until the command ends.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "cli/reports.h"
#include "pool.h"
#include "terminal.h"

void command_say(const char *name, const char *fmt, ...)
{
	struct buf text = {0}, shown = {0};
	char sentence[8192];

	va_list ap;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof sentence, fmt, ap);
	va_end(ap);
	buf_printf(&text, "saltmill%s%s: %s", *name ? " " : "", name, sentence);
	buf_put(&text, 0);
	/* One line, even if a file name has a line feed. Only the usage of a command follows. */
	const char *line = (const char *)text.ptr, *usage = strstr(line, "\nusage: saltmill ");
	text_visible(&shown, bytes_of(line, usage ? (size_t)(usage - line) : strlen(line)));
	text_lines(&shown, bytes_str(usage ? usage : ""));
	buf_put(&shown, '\n');
	terminal_print(stderr, buf_bytes(&shown));
	buf_release(&shown);
	buf_release(&text);
}

static struct {
	bool json, told;
	char command[16];
	struct error err; /* the first failure, because it causes the others */
} failure;

void command_failures_as_json(void)
{
	failure.json = true;
}

static void tell(const char *name, const struct error *err)
{
	if (!failure.json) {
		command_say(name, "%s", err->msg);
	} else if (!failure.told) {
		failure.told = true;
		snprintf(failure.command, sizeof failure.command, "%s", name);
		failure.err = *err;
	}
}

int command_fail(const char *name, const struct error *err)
{
	tell(name, err);
	if (err->code == RC_STOPPED && stop_flag)
		return EXIT_SIGNAL + stop_flag;
	return err->code == RC_CONFIG || err->code == RC_BUSY ? EXIT_USAGE : EXIT_FAILED;
}

int command_misused(const char *name, const char *fmt, ...)
{
	struct error err = {.code = RC_CONFIG};

	va_list ap;
	va_start(ap, fmt);
	vsnprintf(err.msg, sizeof err.msg, fmt, ap);
	va_end(ap);
	return command_fail(name, &err);
}

/* Report a failure whose problem the command printed as its result. */
static void find_it_in_the_result(const char *name)
{
	struct error err;

	error_set(&err, RC_DATA, "see standard output for the problem");
	tell(name, &err);
}

void command_ends(const char *name, int status)
{
	struct buf text = {0};

	if (!failure.json)
		return;
	failure.json = status != EXIT_DONE && status != EXIT_REJECTS;
	if (failure.json && !failure.told)
		find_it_in_the_result(name);
	if (failure.json)
		failure_report_json(&text, failure.command, status, &failure.err);
	else if (failure.told)
		command_say(failure.command, "%s", failure.err.msg);
	if (text.len)
		fwrite(text.ptr, 1, text.len, stderr);
	buf_release(&text);
}
