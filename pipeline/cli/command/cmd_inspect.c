/*
 * cmd_inspect.c - `saltmill inspect FILE...`
 *
 * Each file is described as JSON (inspect.h), which is printed as it is or as text.  Cells are
 * printed as they are read, because there may be many.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "hfile.h"
#include "cli/inspect.h"
#include "mem.h"
#include "bytes.h"

enum { OPT_CELLS = 1, OPT_BLOCKS };

struct inspect_options {
	bool cells, blocks, json;
};

static void print_text(struct buf *text)
{
	struct buf shown = {0};

	text_lines(&shown, buf_bytes(text));
	fwrite(shown.ptr, 1, shown.len, stdout);
	buf_release(&shown);
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
		json_t *cell = inspect_cell(&c);
		printf("%s\n    ", between);
		json_dumpf(cell, stdout, 0);
		json_decref(cell);
		between = ",";
	}
	return rc < 0 ? rc : RC_OK;
}

/* Without the closing brace, so that cells and an error can follow. */
static void print_json_open(json_t *d)
{
	char *text = json_dumps(d, JSON_INDENT(2));

	if (!text)
		return;
	struct buf shown = {0};
	text_harmless_json(&shown, bytes_of(text, strlen(text) - strlen("\n}")));
	fwrite(shown.ptr, 1, shown.len, stdout);
	buf_release(&shown);
	free(text);
}

static void print_json_error(const struct error *err)
{
	struct buf utf8 = {0};

	text_visible(&utf8, bytes_str(err->msg));
	json_t *text = json_stringn((const char *)utf8.ptr, utf8.len);
	fputs(",\n  \"error\": ", stdout);
	json_dumpf(text, stdout, JSON_ENCODE_ANY);
	json_decref(text);
	buf_release(&utf8);
}

static void print_description(json_t *d, bool all)
{
	struct buf text = {0};

	inspect_text(&text, d, all);
	print_text(&text);
}

static int show_opened(json_t *d, struct hfile *f, const struct inspect_options *o,
		       struct error *err)
{
	int rc = inspect_file(d, f, o->blocks, err);

	if (o->json)
		print_json_open(d);
	else
		print_description(d, o->blocks);
	if (rc || !o->cells)
		return rc;
	if (o->json)
		fputs(",\n  \"cells\": [", stdout);
	rc = print_cells(f, o->json, err);
	if (o->json)
		fputs("\n  ]", stdout);
	return rc;
}

static int show_file(const char *path, const struct inspect_options *o, struct error *err)
{
	struct hfile *f = NULL;
	json_t *name = json_string(path), *d = json_object();

	json_object_set_new(d, "path", name ? name : inspect_bytes(bytes_str(path)));
	int rc = hfile_open(&f, path, err);
	if (rc == RC_OK)
		rc = show_opened(d, f, o, err);
	else if (o->json)
		print_json_open(d);
	if (rc && o->json)
		print_json_error(err);
	if (o->json)
		fputs("\n}", stdout);
	if (f)
		hfile_close(f);
	json_decref(d);
	return rc;
}

static int take(void *ctx, int opt, const char *arg, struct error *err)
{
	(void)arg;
	(void)err;
	struct inspect_options *o = ctx;
	if (opt == OPT_CELLS)
		o->cells = true;
	else
		o->blocks = true;
	return RC_OK;
}

static int show_files(int n, char **paths, const struct inspect_options *o)
{
	int status = EXIT_DONE;

	if (o->json)
		putchar('[');
	for (int i = 0; i < n && !ferror(stdout); i++) {
		struct error err = {0};

		if (i)
			fputs(o->json ? ",\n" : "\n", stdout);
		if (show_file(paths[i], o, &err)) {
			fflush(stdout);
			command_fail("inspect", &err);
			status = EXIT_FAILED;
		}
	}
	if (o->json)
		puts("]");
	return status;
}

int cmd_inspect(int argc, char **argv)
{
	static const struct option own[] = {{"cells", no_argument, NULL, OPT_CELLS},
					    {"blocks", no_argument, NULL, OPT_BLOCKS},
					    {0}};
	struct run_options shared;
	struct inspect_options o = {0};
	int first;
	int rc = options_parse(argc, argv, &shared, own, NULL, take, &o, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	o.json = shared.json;
	if (first == argc) {
		return command_misused("inspect", "no file named; expected one or more HFiles");
	}
	return show_files(argc - first, argv + first, &o);
}
