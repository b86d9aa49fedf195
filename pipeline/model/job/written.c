/*
 * written.c - the text of parts of the job, in YAML's one-line form
 *
 * Commands that propose a change of the job copy the unchanged parts from this text.
 */
#include "sections.h"

static bool is_plain(const struct node *n)
{
	static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				   "_.$/%+-";

	return n->plain && strspn(n->text, word) == n->len && (n->len == 0 || n->text[0] != '%');
}

static void put_quoted(struct buf *out, const struct node *n)
{
	buf_put(out, '"');
	for (size_t i = 0; i < n->len; i++) {
		uint8_t c = (uint8_t)n->text[i];

		if (c < 0x20 || c == 0x7f)
			buf_printf(out, "\\x%02X", c);
		else if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else
			buf_put(out, c);
	}
	buf_put(out, '"');
}

/*
 * Append a scalar. Use double quotes only if the job does, because YAML changes \x00 inside double
 * quotes.
 */
static void put_scalar(struct buf *out, const struct node *n)
{
	if (is_plain(n)) {
		buf_append(out, n->text, n->len);
		return;
	}
	if (n->double_quoted || strpbrk(n->text, "\n\r")) {
		put_quoted(out, n);
		return;
	}
	buf_put(out, '\'');
	for (size_t i = 0; i < n->len; i++) {
		if (n->text[i] == '\'')
			buf_put(out, '\'');
		buf_put(out, (uint8_t)n->text[i]);
	}
	buf_put(out, '\'');
}

static void put_node(struct buf *out, const struct node *n)
{
	if (n->kind == NODE_SCALAR) {
		put_scalar(out, n);
		return;
	}
	bool list = n->kind == NODE_SEQUENCE;
	buf_put(out, list ? '[' : '{');
	for (size_t i = 0; i < n->count; i++) {
		buf_append_str(out, i ? ", " : "");
		if (!list) {
			put_scalar(out, n->keys[i]);
			buf_append_str(out, ": ");
		}
		put_node(out, n->items[i]);
	}
	buf_put(out, list ? ']' : '}');
}

void keep_written(struct reader *r, const struct node *n, struct written *out)
{
	struct arena *a = &r->job->arena;
	struct buf text = {0};

	*out = (struct written){0};
	if (!n || n->kind == NODE_SCALAR)
		return;
	out->item = arena_alloc(a, (n->count + 1) * sizeof *out->item);
	for (size_t i = 0; i < n->count; i++) {
		const struct node *key = n->keys ? n->keys[i] : NULL;

		text.len = 0;
		put_node(&text, n->items[i]);
		out->item[out->n++] =
			(struct written_item){.pos = key ? key->pos : n->items[i]->pos,
					      .name = key ? key->text : NULL,
					      .text = text.len
							      ? arena_strndup(a, text.ptr, text.len)
							      : ""};
	}
	buf_release(&text);
}
