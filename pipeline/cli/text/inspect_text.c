/* inspect_text.c - the description of an HFile: objects as names and values, arrays as tables */
#include <stdio.h>
#include <string.h>

#include "cli/inspect.h"

enum { MAX_COLUMNS = 8, VALUE_SHOWN = 64, ROWS_SHOWN = 10 };

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

static void put_object(struct buf *out, const char *title, json_t *object)
{
	const char *key;
	json_t *v;
	char scratch[64];

	buf_printf(out, "%s\n", title);
	json_object_foreach(object, key, v)
		buf_printf(out, "  %-18s  %s\n", key, value_text(v, scratch, sizeof scratch));
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

/* Append what is in line, without the blanks at its end, and empty it. */
static void put_line(struct buf *out, struct buf *line)
{
	while (line->len && line->ptr[line->len - 1] == ' ')
		line->len--;
	if (line->len) {
		buf_append(out, line->ptr, line->len);
		buf_put(out, '\n');
	}
	line->len = 0;
}

/* At most `shown` rows, 0 for all. */
static void put_table(struct buf *out, const char *title, json_t *rows, size_t shown)
{
	struct grid g = {0};
	size_t n = json_array_size(rows), most = shown && shown < n ? shown : n;

	for (size_t i = 0; i < most; i++)
		grid_measure(&g, json_array_get(rows, i));
	struct buf line = {0};
	buf_printf(out, "%s\n", title);
	for (size_t c = 0; c < g.columns; c++)
		grid_put(&g, c, g.name[c], &line);
	put_line(out, &line);
	for (size_t i = 0; i < most; i++) {
		char scratch[64];

		for (size_t c = 0; c < g.columns; c++) {
			const json_t *v = json_object_get(json_array_get(rows, i), g.name[c]);

			grid_put(&g, c, v ? value_text(v, scratch, sizeof scratch) : "", &line);
		}
		put_line(out, &line);
	}
	buf_release(&line);
	if (most < n)
		buf_printf(out, "  ... %zu more (--blocks shows all)\n", n - most);
}

void inspect_text(struct buf *out, json_t *d, bool all)
{
	char title[64];
	json_t *root = json_object_get(d, "root_index"), *blocks = json_object_get(d, "blocks");

	buf_printf(out, "%s\n", json_string_value(json_object_get(d, "path")));
	put_object(out, "trailer", json_object_get(d, "trailer"));
	put_table(out, "file info", json_object_get(d, "file_info"), 0);
	size_t entries = json_array_size(root);
	snprintf(title, sizeof title, "root index: %zu %s", entries,
		 entries == 1 ? "entry" : "entries");
	put_table(out, title, root, all ? 0 : ROWS_SHOWN);
	put_object(out, "bloom filter", json_object_get(d, "bloom"));
	put_table(out, "blocks", json_object_get(d, "block_types"), 0);
	if (blocks)
		put_table(out, "each block", blocks, 0);
}

void inspect_cell_text(struct buf *out, const struct cell *c, int widths[2])
{
	struct cell cut = *c;

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
		buf_printf(out, "  %-*s  %-*s  %13lld  %-24s  %s%s", widths[0], row, widths[1],
			   column, (long long)ts, time, c->type == CELL_PUT ? "" : type,
			   c->type == CELL_PUT ? value : "");
		if (cut.value.len < c->value.len)
			buf_printf(out, "... (%zu bytes)", c->value.len);
		buf_put(out, '\n');
	}
	json_decref(cell);
}
