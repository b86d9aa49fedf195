/* cmd_drop.c - `saltmill drop REGEX --hbase HOST`, which drops tables of a live HBase */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "cli/reports.h"
#include "hbase.h"
#include "live_tables.h"
#include "pool.h"

/* --- the question --- */

#define WAIT_MS 100

/*
 * Reads the answer. Only `y` and `yes` are true. A read would continue after a signal, and so would
 * a poll without a limit if the signal arrives before it.
 */
static int read_answer(bool *yes, struct error *err)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	char text[8] = "";

	*yes = false;
	for (int ready = 0; ready <= 0;) {
		if (stop_check(err))
			return RC_STOPPED;
		ready = poll(&in, 1, WAIT_MS);
		if (ready < 0 && errno != EINTR)
			return error_errno(err, "standard input");
	}
	ssize_t n = read(STDIN_FILENO, text, sizeof text - 1);
	text[n > 0 && text[n - 1] == '\n' ? n - 1 : n > 0 ? n : 0] = 0;
	*yes = strcmp(text, "y") == 0 || strcmp(text, "yes") == 0;
	return RC_OK;
}

/*
 * Prints the tables, and on a terminal waits for a confirmation. Returns RC_CONFIG if there is no
 * terminal and no --yes.
 */
static int ask(const struct arguments *a, const struct hbase_tables *t, bool *yes,
	       struct error *err)
{
	struct buf list = {0};

	*yes = a->yes;
	if (a->yes)
		return RC_OK;
	tables_report_text(&list, t);
	command_warn("drop", &list);
	buf_release(&list);
	if (!isatty(STDIN_FILENO))
		return error_set(err, RC_CONFIG,
				 "found no terminal to ask on, expected --yes; saltmill dropped "
				 "nothing");
	fprintf(stderr, "Drop the above %zu table%s with all %s data (y/n)? ", t->count,
		t->count == 1 ? "" : "s", t->count == 1 ? "its" : "their");
	fflush(stderr);
	return read_answer(yes, err);
}

/* --- dropping --- */

/* Drops all tables. A table that fails does not stop the others; a signal does. */
static int drop_all(struct hbase *h, const struct hbase_tables *t, struct dropped_tables *done)
{
	struct error err;
	int status = EXIT_DONE;

	for (size_t i = 0; i < t->count && status <= EXIT_FAILED; i++) {
		const char *name = t->item[i].name;

		if (live_tables_drop(h, name, &err) == RC_OK) {
			done->dropped[done->ndropped++] = name;
			continue;
		}
		done->failed[done->nfailed++] = name;
		status = command_fail("drop", &err);
	}
	return status;
}

static int drop_listed(const struct arguments *a, struct hbase *h, const struct hbase_tables *t)
{
	struct arena arena = {0};
	struct dropped_tables done = {.dropped = arena_alloc(&arena,
							     (t->count + 1) * sizeof(const char *)),
				      .failed = arena_alloc(&arena,
							    (t->count + 1) * sizeof(const char *))};
	struct buf out = {0};
	int status = drop_all(h, t, &done);

	if (a->run.json)
		dropped_report_json(&out, &done);
	else
		dropped_report_text(&out, &done);
	int shown = (a->run.json ? command_print : command_show)("drop", &out);
	buf_release(&out);
	arena_release(&arena);
	return status ? status : shown;
}

static int run(struct arguments *a)
{
	struct error err;
	struct hbase *h;
	struct hbase_tables tables = {0};
	bool yes = true;

	if (!live_tables_asked(a))
		return EXIT_USAGE;
	int rc = live_tables_open(&h, a, &err), status;
	if (rc == RC_OK)
		rc = live_tables_read(h, a->operand[0], &tables, &err);
	if (rc == RC_OK && tables.count)
		rc = ask(a, &tables, &yes, &err);
	else if (rc == RC_OK)
		command_say("drop", "no table matches `%.200s`", a->operand[0]);
	if (rc == RC_OK && !yes)
		rc = error_set(&err, RC_IO,
			       "found another answer than y; saltmill dropped nothing");
	status = rc ? command_fail("drop", &err) : drop_listed(a, h, &tables);
	hbase_tables_release(&tables);
	hbase_close(h);
	return status;
}

const struct command drop_command = {
	.name = "drop",
	.usage = "REGEX --hbase HOST[:PORT],... [--yes] [--json]",
	.summary = "drop the tables of a live HBase whose names match a regular expression",
	.least = 1,
	.most = 1,
	.run = run,
	.decides = "drop lists the tables and asks on the terminal. After `y`, it disables and "
		   "drops exactly the listed tables. `saltmill tables REGEX` prints the same list "
		   "and changes nothing. If no table matches, the status is 0.",
	.operands = {{"REGEX", "a regular expression of Java that matches whole names, as for "
			       "`drop_all` of HBase's shell"}},
	.statuses = "0 done; 1 failed, or the answer is not y; " STATUS_USAGE
		    "; 130 or 143 stopped by SIGINT or SIGTERM, and may have dropped some tables",
	.examples = {"saltmill drop 'test_.*' --hbase hbase1,hbase2",
		     "saltmill drop 'shop:orders_2024' --hbase hbase1 --yes"}};
