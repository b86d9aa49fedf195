/*
 * cmd_inspect.c - implements `saltmill inspect`, which prints the contents of HFiles, and saves the cells
 * of damaged HFiles
 *
 * The command prints each cell at once, because a file may contain many cells.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "hfile.h"
#include "io.h"
#include "cli/inspect.h"
#include "cli/reports.h"
#include "mem.h"
#include "bytes.h"

static void print(struct buf *text)
{
	/* ignore a write error here, because main reports it at the end */
	command_write(buf_bytes(text));
	buf_release(text);
}

static void print_text(struct buf *text)
{
	struct buf shown = {0};

	text_lines(&shown, buf_bytes(text));
	print(&shown);
	buf_release(text);
}

static void print_cell(const struct cell *c, int widths[2])
{
	struct buf line = {0};

	inspect_cell_text(&line, c, widths);
	print_text(&line);
}

static int print_cells(struct hfile *f, bool as_json, struct error *err)
{
	struct cell c;
	int rc, widths[2] = {3, 6};
	const char *between = "";

	if (!as_json)
		puts("cells");
	hfile_rewind(f);
	while ((rc = hfile_next_cell(f, &c, err)) == RC_OK && !ferror(stdout)) {
		if (!as_json) {
			print_cell(&c, widths);
			continue;
		}
		struct buf cell = {0};
		printf("%s\n    ", between);
		inspect_cell_json(&cell, &c);
		print(&cell);
		between = ",";
	}
	return rc < 0 ? rc : RC_OK;
}

/* Writes a key of the object, and the start of its value. */
static void print_key(const char *key, const char *value)
{
	struct buf text = {0};

	form_put_key(&text, &inspect_form, key);
	buf_append_str(&text, value);
	print(&text);
}

static void print_json_open(const struct inspection *d)
{
	struct buf text = {0};

	inspect_json(&text, d);
	print(&text);
}

static void print_json_error(const struct error *err)
{
	struct buf visible = {0}, text = {0};

	text_visible(&visible, bytes_str(err->msg));
	text_json(&text, buf_bytes(&visible));
	print_key("error", "");
	print(&text);
	buf_release(&visible);
}

static void print_description(const struct inspection *d, bool all)
{
	struct buf text = {0};

	inspect_text(&text, d, all);
	print_text(&text);
}

static int show_opened(struct inspection *d, struct hfile *f, const struct arguments *a,
		       struct error *err)
{
	int rc = inspect_file(d, f, a->blocks, err);

	if (a->run.json)
		print_json_open(d);
	else
		print_description(d, a->blocks);
	if (rc || !a->cells)
		return rc;
	if (a->run.json)
		print_key("cells", "[");
	rc = print_cells(f, a->run.json, err);
	if (a->run.json)
		fputs("\n  ]", stdout);
	return rc;
}

static int show_file(const char *path, const struct arguments *a, struct error *err)
{
	struct hfile *f = NULL;
	struct inspection *d = inspection_new(path);
	int rc = hfile_open(&f, path, err);

	if (rc == RC_OK)
		rc = show_opened(d, f, a, err);
	else if (a->run.json)
		print_json_open(d);
	if (rc && a->run.json)
		print_json_error(err);
	if (a->run.json)
		fputs("\n}", stdout);
	if (f)
		hfile_close(f);
	inspection_free(d);
	return rc;
}

/* --- salvage --- */

/* The file is TO.partial until it is whole. A killed run may have left such a file. */
static int salvage_file(const char *from, const char *to, struct salvage_report *report,
			struct hfile_salvaged *s, struct error *err)
{
	const char *slash = strrchr(to, '/');
	char *folder = slash ? mem_format("%.*s", (int)(slash - to) + 1, to) : mem_strdup(".");
	char *temp = mem_format("%s.partial", to);
	bool there;
	int rc = io_exists(to, &there, err);

	*s = (struct hfile_salvaged){0};
	if (rc == RC_OK && there)
		rc = error_set(err, RC_IO, "%s: found a file, expected a new name", to);
	if (rc == RC_OK && unlink(temp) < 0 && errno != ENOENT)
		rc = error_errno(err, "cannot remove %s", temp);
	if (rc == RC_OK)
		rc = hfile_salvage(from, temp, salvage_report_add, report, s, err);
	if (rc == RC_OK)
		rc = io_name_file(temp, to, folder, err);
	mem_free(temp);
	mem_free(folder);
	return rc;
}

static int salvage(const struct arguments *a)
{
	struct salvage_report *report = salvage_report_new(a->operand[0], a->salvage);
	struct hfile_salvaged s;
	struct buf out = {0};
	struct error err;
	int rc = salvage_file(a->operand[0], a->salvage, report, &s, &err);

	salvage_report_end(report, &s);
	if (!a->run.json)
		salvage_losses_text(&out, report);
	if (rc == RC_OK && a->run.json)
		salvage_json(&out, report);
	else if (rc == RC_OK)
		salvage_result_text(&out, report);
	int status = rc ? command_fail("inspect", &err) : EXIT_DONE;
	if (command_show("inspect", &out) != EXIT_DONE)
		status = EXIT_FAILED;
	if (status == EXIT_DONE && (s.ranges || s.expected != s.sum.cells))
		status = EXIT_REJECTS;
	buf_release(&out);
	hfile_summary_release(&s.sum);
	salvage_report_free(report);
	return status;
}

static int run(struct arguments *a)
{
	int status = EXIT_DONE;

	if (a->salvage && (a->noperands != 1 || a->cells || a->blocks))
		return arguments_refuse(a,
					"found --salvage with %zu files or another option, "
					"expected one FILE and no other option than --json",
					a->noperands);
	if (a->salvage)
		return salvage(a);
	if (a->run.json)
		putchar('[');
	for (size_t i = 0; i < a->noperands && !ferror(stdout); i++) {
		struct error err = {0};

		if (i)
			fputs(a->run.json ? ",\n" : "\n", stdout);
		if (show_file(a->operand[i], a, &err)) {
			fflush(stdout);
			command_fail("inspect", &err);
			status = EXIT_FAILED;
		}
	}
	if (a->run.json)
		puts("]");
	return status;
}

const struct command inspect_command = {
	.name = "inspect",
	.usage = "FILE... [--cells] [--blocks] [--json] | FILE --salvage OUT [--json]",
	.summary = "print the contents of HFiles",
	.least = 1,
	.most = ANY_NUMBER,
	.reads_here = true,
	.run = run,
	.decides = "inspect reads the trailer, the file info, the index and the bloom filter, and "
		   "counts the blocks. --blocks lists each block, and --cells each cell. For a "
		   "damaged file, inspect prints the readable parts, and then the damage. "
		   "`saltmill verify FILE` verifies every byte. --salvage writes the cells of all "
		   "data blocks with right checksums, and reports each lost range.",
	.statuses =
		"0 done; 1 failed, or a file is damaged; 2 wrong usage; 3 --salvage wrote OUT, but "
		"cells may be lost",
	.examples = {"saltmill inspect out/ratings/hfiles/f/*",
		     "saltmill inspect region.hfile --salvage whole.hfile"}};
