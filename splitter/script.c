#include "script.h"

#define COLUMNS 100

void ruby_quote(struct buf *out, const char *text)
{
	buf_put(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_put(out, '\\');
		buf_put(out, (uint8_t)*text);
	}
	buf_put(out, '\'');
}

/* Return the number of bytes on the last line of `out`. */
static size_t column(const struct buf *out)
{
	size_t n = 0;

	while (n < out->len && out->ptr[out->len - 1 - n] != '\n')
		n++;
	return n;
}

void script_piece(struct buf *out, const char *indent, const struct buf *piece)
{
	uint8_t last = out->len ? out->ptr[out->len - 1] : '{';

	if (last != '{' && last != '[' && last != '\n' && last != ' ')
		buf_put(out, ',');
	bool opens = last == '{' || last == '[';
	if (column(out) + piece->len + 4 > COLUMNS && !opens) {
		buf_put(out, '\n');
		buf_append_str(out, indent);
	} else if (!opens && last != '\n' && last != ' ') {
		buf_put(out, ' ');
	}
	buf_append(out, piece->ptr, piece->len);
}

static void put_pair(struct buf *out, const struct attribute *it, bool hash)
{
	if (hash)
		ruby_quote(out, it->key);
	else
		buf_append_str(out, it->key);
	buf_append_str(out, " => ");
	if (it->quoted)
		ruby_quote(out, it->value);
	else
		buf_append_str(out, it->value);
}

void script_pair(struct buf *out, const char *indent, const struct attribute *it, bool hash)
{
	struct buf piece = {0};

	put_pair(&piece, it, hash);
	script_piece(out, indent, &piece);
	buf_release(&piece);
}

void script_hash(struct buf *out, const char *indent, const char *key,
		 const struct attributes *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct buf piece = {0};

		if (i == 0)
			buf_printf(&piece, "%s => {", key);
		put_pair(&piece, &list->item[i], true);
		script_piece(out, indent, &piece);
		buf_release(&piece);
	}
	if (list->count)
		buf_put(out, '}');
}

void script_head(struct buf *out, const struct table *t, const char *what, const char *again)
{
	buf_printf(out, "# Table %s: %s\n", t->name, what);
	buf_append_str(out, "# Run with: hbase shell -n THIS_FILE\n");
	buf_printf(out, "# %s\n", again);
}
