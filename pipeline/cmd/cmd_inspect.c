/*
 * cmd_inspect.c - `saltmill inspect FILE...`
 *
 * Each file is described as JSON (inspect.c); the text form prints that: an object as aligned
 * names and values, an array of objects as a table.  Cells are printed as they are read, because
 * there may be many.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "hfile.h"
#include "inspect.h"
#include "mem.h"

enum { OPT_CELLS = 1, OPT_BLOCKS };
enum { MAX_COLUMNS = 8, VALUE_SHOWN = 64, ROWS_SHOWN = 10 };

struct inspect_options {
	bool cells, blocks, json;
};

/* A value as text; scratch holds it when it is none yet. */
static const char *value_text(const json_t *v, char *scratch, size_t size)
{
	if (json_is_string(v))
		return json_string_value(v);
	if (json_is_integer(v))
		snprintf(scratch, size, "%lld", (long long)json_integer_value(v));
	else if (json_is_array(v))
		snprintf(scratch, size, "%lld..%lld",
			 (long long)json_integer_value(json_array_get(v, 0)),
			 (long long)json_integer_value(json_array_get(v, 1)));
	else
		snprintf(scratch, size, "%s",
			 json_is_true(v)    ? "true"
			 : json_is_false(v) ? "false"
					    : "");
	return scratch;
}

static void print_object(const char *title, json_t *object)
{
	const char *key;
	json_t *v;
	char scratch[64];
	printf("%s\n", title);
	json_object_foreach(object, key, v)
		printf("  %-18s  %s\n", key, value_text(v, scratch, sizeof scratch));
}

/* The columns of a table: the members that any of its rows has. */
struct grid {
	const char *name[MAX_COLUMNS];
	int width[MAX_COLUMNS];
	bool number[MAX_COLUMNS];
	size_t columns;
};

static void grid_measure(struct grid *g, json_t *row)
{
	const char *key;
	json_t *v;
	char scratch[64];
	json_object_foreach(row, key, v)
	{
		size_t c = 0;
		while (c < g->columns && strcmp(g->name[c], key) != 0)
			c++;
		if (c == MAX_COLUMNS)
			continue;
		if (c == g->columns) {
			g->name[c] = key;
			g->width[c] = (int)strlen(key);
			g->number[c] = json_is_integer(v);
			g->columns++;
		}
		int width = (int)strlen(value_text(v, scratch, sizeof scratch));
		g->number[c] = g->number[c] && json_is_integer(v);
		g->width[c] = width > g->width[c] ? width : g->width[c];
	}
}

static void grid_put(const struct grid *g, size_t c, const char *text, struct buf *line)
{
	buf_printf(line, "  %*s", g->number[c] ? g->width[c] : -g->width[c], text);
}

/* Print what is in line, without the blanks at its end, and empty it. */
static void print_line(struct buf *line)
{
	while (line->len && line->ptr[line->len - 1] == ' ')
		line->len--;
	if (line->len) {
		fwrite(line->ptr, 1, line->len, stdout);
		putchar('\n');
	}
	line->len = 0;
}

/* At most `shown` rows, 0 for all. */
static void print_table(const char *title, json_t *rows, size_t shown)
{
	struct grid g = {0};
	size_t n = json_array_size(rows), most = shown && shown < n ? shown : n;
	for (size_t i = 0; i < most; i++)
		grid_measure(&g, json_array_get(rows, i));
	struct buf line = {0};
	printf("%s\n", title);
	for (size_t c = 0; c < g.columns; c++)
		grid_put(&g, c, g.name[c], &line);
	print_line(&line);
	for (size_t i = 0; i < most; i++) {
		char scratch[64];
		for (size_t c = 0; c < g.columns; c++) {
			const json_t *v = json_object_get(json_array_get(rows, i), g.name[c]);
			grid_put(&g, c, v ? value_text(v, scratch, sizeof scratch) : "", &line);
		}
		print_line(&line);
	}
	buf_release(&line);
	if (most < n)
		printf("  ... %zu more (--blocks shows all)\n", n - most);
}

static void print_description(json_t *d, bool all)
{
	char title[64];
	json_t *root = json_object_get(d, "root_index"), *blocks = json_object_get(d, "blocks");
	printf("%s\n", json_string_value(json_object_get(d, "path")));
	print_object("trailer", json_object_get(d, "trailer"));
	print_table("file info", json_object_get(d, "file_info"), 0);
	size_t entries = json_array_size(root);
	snprintf(title, sizeof title, "root index: %zu %s", entries,
		 entries == 1 ? "entry" : "entries");
	print_table(title, root, all ? 0 : ROWS_SHOWN);
	print_object("bloom filter", json_object_get(d, "bloom"));
	print_table("blocks", json_object_get(d, "block_types"), 0);
	if (blocks)
		print_table("each block", blocks, 0);
}

/* Widths grow with what was seen: cells are not held back to measure them all. */
static void print_cell(const struct hfile_cell *c, int widths[2])
{
	struct hfile_cell cut = *c;
	if (cut.value.len > VALUE_SHOWN)
		cut.value.len = VALUE_SHOWN;
	json_t *cell = inspect_cell(&cut);
	const char *row, *column, *time, *type, *value;
	json_int_t ts;
	if (json_unpack(cell, "{s:s, s:s, s:I, s:s, s:s, s:s}", "row", &row, "column", &column,
			"timestamp", &ts, "time", &time, "type", &type, "value", &value) == 0) {
		int row_width = (int)strlen(row), column_width = (int)strlen(column);
		widths[0] = row_width > widths[0] ? row_width : widths[0];
		widths[1] = column_width > widths[1] ? column_width : widths[1];
		printf("  %-*s  %-*s  %13lld  %-24s  %s%s", widths[0], row, widths[1], column,
		       (long long)ts, time, c->type == HFILE_PUT ? "" : type,
		       c->type == HFILE_PUT ? value : "");
		if (cut.value.len < c->value.len)
			printf("... (%zu bytes)", c->value.len);
		putchar('\n');
	}
	json_decref(cell);
}

static int print_cells(struct hfile *f, bool as_json, struct error *err)
{
	struct hfile_cell c;
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
	fwrite(text, 1, strlen(text) - strlen("\n}"), stdout);
	free(text);
}

static void print_json_error(const struct error *err)
{
	json_t *text = json_string(err->msg);
	fputs(",\n  \"error\": ", stdout);
	json_dumpf(text ? text : json_null(), stdout, JSON_ENCODE_ANY);
	json_decref(text);
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
	return fflush(stdout) == 0 && !ferror(stdout) ? status : EXIT_FAILED;
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
		fputs("saltmill inspect: no file named; expected one or more HFiles\n", stderr);
		return EXIT_USAGE;
	}
	return show_files(argc - first, argv + first, &o);
}
