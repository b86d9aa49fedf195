/* json_paths.c - compile paths to the tree of wanted values */
#include "input/json_paths.h"

#include "job.h"

/* Read one step of a path. Return 0 at the end of the path, or -1 if the text is not a path. */
static int read_step(const char **path, bool first, struct bytes *key, size_t *index)
{
	const char *p = *path;

	if (*p == 0)
		return 0;
	*key = (struct bytes){0};
	if (*p == '[' && (p[1] == '"' || p[1] == '\'')) {
		const char *end = strchr(p + 2, p[1]);

		if (!end || end[1] != ']')
			return -1;
		*key = bytes_of(p + 2, (size_t)(end - p - 2));
		*path = end + 2;
		return 1;
	}
	if (*p == '[') {
		size_t digits = strspn(p + 1, "0123456789");

		if (digits == 0 || digits > 9 || p[1 + digits] != ']')
			return -1;
		*index = 0;
		for (size_t i = 0; i < digits; i++)
			*index = *index * 10 + (size_t)(p[1 + i] - '0');
		*path = p + digits + 2;
		return 1;
	}
	if (first == (*p == '.'))
		return -1;
	p += *p == '.';
	size_t len = strcspn(p, ".[]");
	if (len == 0 || p[len] == ']')
		return -1;
	*key = bytes_of(p, len);
	*path = p + len;
	return 1;
}

static struct json_node *find_child(struct json_paths *p, struct json_node *n, struct bytes key,
				    size_t index)
{
	for (struct json_node *c = n->child; c; c = c->next)
		if (!c->key.ptr == !key.ptr &&
		    (key.ptr ? bytes_eq(c->key, key) : c->index == index))
			return c;
	struct json_node *c = arena_alloc(&p->arena, sizeof *c);
	*c = (struct json_node){.index = index, .column = NO_COLUMN, .next = n->child};
	if (key.ptr)
		c->key = arena_bytes(&p->arena, key);
	n->child = c;
	return c;
}

static struct json_node *add_path(struct json_paths *p, struct json_node *root, const char *path)
{
	struct json_node *n = root;
	struct bytes key;
	size_t index = 0;
	const char *at = path;
	int step;

	while ((step = read_step(&at, at == path, &key, &index)) > 0)
		n = find_child(p, n, key, index);
	return step < 0 ? NULL : n;
}

/* Add a path in the record, or in an item of the list. An item itself may be a column. */
static bool add_column(struct json_paths *p, const char *path, const char *explode, size_t column)
{
	size_t len = explode ? strlen(explode) : 0;
	bool item = len && strncmp(path, explode, len) == 0;
	const char *rest = item ? path + len + (path[len] == '.') : path;

	if (item && path[len] && !strchr(".[", path[len]))
		return false;
	struct json_node *n = add_path(p, item ? &p->item : &p->root, rest);
	if (!n || n == &p->root)
		return false;
	n->column = column;
	return true;
}

/* Set the column of the list's text. */
static bool add_list(struct json_paths *p, const char *explode)
{
	size_t len = strlen(explode);
	char *path = arena_strndup(&p->arena, explode, len);

	if (len < 3 || strcmp(path + len - 2, "[]") != 0)
		return false;
	path[len - 2] = 0;
	struct json_node *n = add_path(p, &p->root, path);
	if (!n || n == &p->root)
		return false;
	if (n->column == NO_COLUMN)
		n->column = p->ncolumns;
	p->list = n->column;
	p->explode = true;
	return true;
}

static bool add_form(struct json_paths *p, const struct json_form *form)
{
	p->extended = form->extended;
	p->hex_escapes = form->hex_escapes;
	if (form->unwrap)
		p->unwrap = arena_bytes(&p->arena, bytes_str(form->unwrap));
	return !form->explode || add_list(p, form->explode);
}

int json_paths_new(struct json_paths **out, const char *const *paths, size_t n,
		   const struct json_form *form, size_t *bad, struct error *err)
{
	struct json_paths *p = mem_calloc(1, sizeof *p);

	p->root.column = p->item.column = NO_COLUMN;
	p->ncolumns = n;
	for (size_t i = 0; i < n; i++) {
		if (add_column(p, paths[i], form ? form->explode : NULL, i))
			continue;
		*bad = i;
		json_paths_free(p);
		return error_set(err, RC_CONFIG,
				 "found `%.80s`, expected a path like user.id, items[0].sku or "
				 "[\"odd.key\"]",
				 paths[i]);
	}
	if (form && !add_form(p, form)) {
		*bad = n;
		json_paths_free(p);
		return error_set(err, RC_CONFIG,
				 "explode: found `%.80s`, expected a list like items[]",
				 form->explode);
	}
	*out = p;
	return RC_OK;
}

void json_paths_free(struct json_paths *p)
{
	if (!p)
		return;
	arena_release(&p->arena);
	mem_free(p);
}
