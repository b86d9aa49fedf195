/* inspect_text.c - prints the contents of an HFile as text, with tables for lists */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "inspect_view.h"

enum { VALUE_SHOWN = 64, ROWS_SHOWN = 10 };

static void put_part(struct buf *out, const char *title, const struct form *f, const void *object)
{
	buf_printf(out, "%s\n", title);
	for (size_t i = 0; i < f->count; i++) {
		struct buf value = {0};

		if (form_plain(&value, &f->members[i], object))
			buf_printf(out, "  %-18s  %.*s\n", f->members[i].key, (int)value.len,
				   value.len ? (const char *)value.ptr : "");
		buf_release(&value);
	}
}

/* A column of a table, for a form key that at least one row has. */
struct grid_column {
	const char *key;
	int width; /* width in characters; 0 if no row has the key */
	bool number;
};

/*
 * Appends the value of a key, which several members may describe. Returns false if the row has no
 * value.
 */
static bool value_of(struct buf *out, const struct form *f, const char *key, const void *row,
		     bool *number)
{
	out->len = 0;
	for (size_t i = 0; i < f->count; i++) {
		if (strcmp(f->members[i].key, key) != 0 || !form_plain(out, &f->members[i], row))
			continue;
		*number = form_is_integer(&f->members[i]);
		return true;
	}
	return false;
}

static void measure(struct grid_column *c, const struct form *f, const void *row, struct buf *value)
{
	bool number;

	if (!value_of(value, f, c->key, row, &number))
		return;
	int width = (int)value->len > (int)strlen(c->key) ? (int)value->len : (int)strlen(c->key);
	c->number = number && (c->number || !c->width);
	c->width = width > c->width ? width : c->width;
}

/* Appends a row of texts without trailing spaces. Appends the keys if `row` is NULL. */
static void put_row(struct buf *out, const struct grid_column *columns, const struct form *f,
		    const void *row, struct buf *value)
{
	size_t start = out->len;
	bool number;

	for (const struct grid_column *c = columns; c < columns + f->count; c++) {
		if (!c->width)
			continue;
		value->len = 0;
		if (!row)
			buf_append_str(value, c->key);
		else
			value_of(value, f, c->key, row, &number);
		buf_put(value, 0);
		buf_printf(out, "  %*s", c->number ? c->width : -c->width, (char *)value->ptr);
	}
	while (out->len > start && out->ptr[out->len - 1] == ' ')
		out->len--;
	if (out->len > start)
		buf_put(out, '\n');
}

/* Prints at most `shown` rows; 0 prints all. */
static void put_table(struct buf *out, const char *title, const struct form *f, const void *rows,
		      size_t n, size_t shown)
{
	struct grid_column columns[8] = {0};
	struct buf value = {0};
	const char *row = rows;
	size_t most = shown && shown < n ? shown : n;

	buf_printf(out, "%s\n", title);
	for (size_t k = 0; k < f->count; k++) {
		columns[k].key = f->members[k].key;
		for (size_t i = 0; i < most && !(k && !strcmp(columns[k].key, columns[k - 1].key));
		     i++)
			measure(&columns[k], f, row + i * f->bytes, &value);
	}
	put_row(out, columns, f, NULL, &value);
	for (size_t i = 0; i < most; i++)
		put_row(out, columns, f, row + i * f->bytes, &value);
	buf_release(&value);
	if (most < n)
		buf_printf(out, "  ... %zu more (--blocks shows all)\n", n - most);
}

void inspect_text(struct buf *out, const struct inspection *d, bool all)
{
	char title[64];

	snprintf(title, sizeof title, "root index: %zu %s", d->nroot_index,
		 d->nroot_index == 1 ? "entry" : "entries");
	buf_printf(out, "%s\n", d->path);
	put_part(out, "trailer", &trailer_form, &d->trailer);
	put_table(out, "file info", &info_form, d->file_info, d->nfile_info, 0);
	put_table(out, title, &index_form, d->root_index, d->nroot_index, all ? 0 : ROWS_SHOWN);
	put_part(out, "bloom filter", &bloom_form, &d->bloom);
	put_table(out, "blocks", &block_type_form, d->block_types, d->nblock_types, 0);
	if (d->each_block)
		put_table(out, "each block", &block_form, d->blocks, d->nblocks, 0);
}

/* Pads with spaces to the width. Raises the width if the text is longer. */
static void put_padded(struct buf *out, size_t from, int *width)
{
	int n = (int)(out->len - from);

	*width = n > *width ? n : *width;
	for (; n < *width; n++)
		buf_put(out, ' ');
}

void inspect_cell_text(struct buf *out, const struct cell *c, int widths[2])
{
	bool is_cut = c->value.len > VALUE_SHOWN;
	struct buf time = {0};

	buf_append_str(out, "  ");
	size_t from = out->len;
	bytes_escape(out, c->row);
	put_padded(out, from, &widths[0]);
	buf_append_str(out, "  ");
	from = out->len;
	bytes_escape(out, c->family);
	buf_put(out, ':');
	bytes_escape(out, c->qualifier);
	put_padded(out, from, &widths[1]);
	put_cell_time(&time, c->ts);
	buf_printf(out, "  %13" PRId64 "  %-24.*s  ", c->ts, (int)time.len,
		   time.len ? (const char *)time.ptr : "");
	buf_release(&time);
	if (c->type == CELL_PUT)
		bytes_escape(out, bytes_of(c->value.ptr, is_cut ? VALUE_SHOWN : c->value.len));
	else
		buf_append_str(out, cell_type_name(c->type));
	if (is_cut)
		buf_printf(out, "... (%zu bytes)", c->value.len);
	buf_put(out, '\n');
}
