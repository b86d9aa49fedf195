/*
 * tree.c uses libyaml's event parser, not its document API. The events have exact marks of keys and
 * values. Events do not resolve types, so `no` is a text. The schema decides the type of a value,
 * not YAML.
 */
#include "tree.h"

#include <yaml.h>

#define MAX_DEPTH 32
#define MAX_ENTRIES                                                                                \
	4096 /* most keys in one mapping, because the search for duplicates is quadratic */
#define MAX_ANCHORS 256 /* most anchors in a file, because an alias searches all anchors */

struct yaml_anchor {
	const char *name;
	struct node *node;
	struct yaml_anchor *next;
};

struct builder {
	yaml_parser_t parser;
	struct bytes text;
	const char *path;
	struct arena *arena;
	struct yaml_anchor *anchors;
	unsigned nanchors;
	struct error *err;
};

static struct pos pos_of(yaml_mark_t m)
{
	return (struct pos){(unsigned)m.line + 1, (unsigned)m.column + 1};
}

/*
 * Compute the place of a byte offset. libyaml gives such an offset for bytes that it cannot decode.
 */
static struct pos pos_of_offset(struct bytes text, size_t offset)
{
	struct pos p = {1, 1};

	for (size_t i = 0; i < offset && i < text.len; i++) {
		if (text.ptr[i] == '\n')
			p = (struct pos){p.line + 1, 1};
		else if ((text.ptr[i] & 0xc0) != 0x80)
			p.column++;
	}
	return p;
}

/*
 * Return true if the character at a mark is a tab. libyaml's message about tabs is hard to
 * understand.
 */
static bool tab_at(const struct builder *b, struct pos at)
{
	struct pos p = {1, 1};

	for (size_t i = 0; i < b->text.len; i++) {
		if (p.line == at.line && p.column == at.column)
			return b->text.ptr[i] == '\t';
		if (b->text.ptr[i] == '\n')
			p = (struct pos){p.line + 1, 1};
		else if (i + 1 < b->text.len && (b->text.ptr[i + 1] & 0xc0) != 0x80)
			p.column++;
	}
	return false;
}

#define REFUSE(b, at, fmt, ...)                                                                    \
	error_set((b)->err, RC_CONFIG, "%s:%u:%u: " fmt, (b)->path, (at).line, (at).column,        \
		  __VA_ARGS__)

/* Return how to mend what libyaml reports, or "". */
static const char *yaml_fix(const char *problem)
{
	if (strstr(problem, "mapping values are not allowed"))
		return "; the line before may lack `: ` after its key, or has other blanks before "
		       "it";
	if (strstr(problem, "unknown escape character"))
		return "; write a text with backslashes between single quotes";
	if (strstr(problem, "did not find expected ','"))
		return "; write commas between items, and close each bracket";
	return "";
}

static int parser_fault(struct builder *b)
{
	const yaml_parser_t *p = &b->parser;
	const char *problem = p->problem ? p->problem : "it cannot be read";

	if (p->error == YAML_MEMORY_ERROR)
		return error_set(b->err, RC_CONFIG,
				 "%s: found a file that is too large for libyaml; divide the job",
				 b->path);
	if (p->error == YAML_READER_ERROR) {
		struct pos at = pos_of_offset(b->text, p->problem_offset);

		return REFUSE(b, at, "not YAML: %s, expected UTF-8 text", problem);
	}
	struct pos at = pos_of(p->problem_mark);
	if (tab_at(b, at))
		return REFUSE(b, at, "not YAML: %s", "found a tab, expected spaces");
	if (p->context)
		return REFUSE(b, at, "not YAML: %s (%s, line %zu)%s", problem, p->context,
			      p->context_mark.line + 1, yaml_fix(problem));
	return REFUSE(b, at, "not YAML: %s%s", problem, yaml_fix(problem));
}

static int next_event(struct builder *b, yaml_event_t *e)
{
	return yaml_parser_parse(&b->parser, e) ? RC_OK : parser_fault(b);
}

static void push(struct arena *a, struct node ***list, size_t count, struct node *n)
{
	*list = arena_grow(a, *list, count, sizeof(struct node *));
	(*list)[count] = n;
}

static int build_node(struct builder *b, yaml_event_t *e, unsigned depth, struct node **out);

static int check_key(struct builder *b, const struct node *map, const struct node *key)
{
	if (key->kind != NODE_SCALAR)
		return REFUSE(b, key->pos, "found a %s as a key, expected a name",
			      key->kind == NODE_SEQUENCE ? "list" : "mapping");
	if (map->count >= MAX_ENTRIES)
		return REFUSE(b, key->pos,
			      "found more than %d keys in one mapping, expected at most that many",
			      MAX_ENTRIES);
	for (size_t i = 0; i < map->count; i++)
		if (map->keys[i]->len == key->len &&
		    memcmp(map->keys[i]->text, key->text, key->len) == 0)
			return REFUSE(
				b, key->pos,
				"found the key `%.60s` twice in one mapping, first in line %u",
				key->text, map->keys[i]->pos.line);
	return RC_OK;
}

/* Build the items of a sequence or mapping, up to the end event of the sequence or mapping. */
static int build_items(struct builder *b, struct node *n, unsigned depth)
{
	for (;;) {
		yaml_event_t e;
		struct node *key = NULL, *item;
		int rc = next_event(b, &e);

		if (rc)
			return rc;
		if (e.type == YAML_SEQUENCE_END_EVENT || e.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&e);
			return RC_OK;
		}
		if (n->kind == NODE_MAPPING) {
			if ((rc = build_node(b, &e, depth, &key)) || (rc = check_key(b, n, key)) ||
			    (rc = next_event(b, &e)))
				return rc;
			push(b->arena, &n->keys, n->count, key);
		}
		if ((rc = build_node(b, &e, depth, &item)))
			return rc;
		push(b->arena, &n->items, n->count++, item);
	}
}

static int find_anchor(struct builder *b, const yaml_event_t *e, struct node **out)
{
	const char *name = (const char *)e->data.alias.anchor;

	for (const struct yaml_anchor *a = b->anchors; a; a = a->next)
		if (strcmp(a->name, name) == 0) {
			*out = a->node;
			return RC_OK;
		}
	return REFUSE(b, pos_of(e->start_mark),
		      "found alias `*%.60s` without a finished anchor before it", name);
}

/*
 * Add an anchor for a complete node. Aliases find only complete nodes, so no node can contain
 * itself.
 */
static int add_anchor(struct builder *b, const char *name, struct node *n)
{
	if (b->nanchors++ == MAX_ANCHORS)
		return REFUSE(b, n->pos, "found more than %d anchors, expected at most that many",
			      MAX_ANCHORS);
	struct yaml_anchor *a = arena_alloc(b->arena, sizeof *a);
	*a = (struct yaml_anchor){name, n, b->anchors};
	b->anchors = a;
	return RC_OK;
}

/* Build the node of an event, and free the event. */
static int build_node(struct builder *b, yaml_event_t *e, unsigned depth, struct node **out)
{
	struct node *n = arena_alloc(b->arena, sizeof *n);
	const yaml_char_t *anchor = NULL, *tag = NULL;
	const char *name = NULL;
	int rc = RC_OK;

	n->pos = pos_of(e->start_mark);
	*out = n;
	/* the callers handle the events that end a node, document or stream */
	switch ((int)e->type) {
	case YAML_ALIAS_EVENT: rc = find_anchor(b, e, out); break;
	case YAML_SCALAR_EVENT:
		anchor = e->data.scalar.anchor;
		tag = e->data.scalar.tag;
		n->kind = NODE_SCALAR;
		n->len = e->data.scalar.length;
		n->text = arena_strndup(b->arena, (const char *)e->data.scalar.value, n->len);
		n->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
		n->double_quoted = e->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = e->data.sequence_start.anchor;
		tag = e->data.sequence_start.tag;
		n->kind = NODE_SEQUENCE;
		break;
	default:
		anchor = e->data.mapping_start.anchor;
		tag = e->data.mapping_start.tag;
		n->kind = NODE_MAPPING;
		break;
	}
	if (tag)
		rc = REFUSE(b, n->pos, "found the tag `%.60s`, expected a job file without tags",
			    (const char *)tag);
	else if (depth > MAX_DEPTH)
		rc = REFUSE(b, n->pos, "found more than %d levels, expected at most that many",
			    MAX_DEPTH);
	if (anchor)
		name = arena_strdup(b->arena, (const char *)anchor);
	bool deeper = *out == n && n->kind != NODE_SCALAR;
	yaml_event_delete(e);
	if (rc == RC_OK && deeper)
		rc = build_items(b, n, depth + 1);
	if (rc == RC_OK && name)
		rc = add_anchor(b, name, n);
	return rc;
}

static int build_stream(struct builder *b, struct node **root)
{
	for (;;) {
		yaml_event_t e;
		int rc = next_event(b, &e);

		if (rc)
			return rc;
		yaml_event_type_t type = e.type;
		struct pos at = pos_of(e.start_mark);
		bool content = type == YAML_SCALAR_EVENT || type == YAML_ALIAS_EVENT ||
			       type == YAML_SEQUENCE_START_EVENT ||
			       type == YAML_MAPPING_START_EVENT;
		if (content) {
			if ((rc = build_node(b, &e, 1, root)))
				return rc;
			continue;
		}
		yaml_event_delete(&e);
		if (type == YAML_DOCUMENT_START_EVENT && *root)
			return REFUSE(b, at, "%s",
				      "found a second document, expected one job per file");
		if (type == YAML_STREAM_END_EVENT)
			return RC_OK;
	}
}

int tree_read(struct node **root, struct bytes text, const char *path, struct arena *a,
	      struct error *err)
{
	struct builder b = {.text = text, .path = path, .arena = a, .err = err};

	*root = NULL;
	if (!yaml_parser_initialize(&b.parser))
		return error_set(err, RC_IO, "%s: libyaml cannot start", path);
	yaml_parser_set_input_string(&b.parser, text.ptr ? text.ptr : (const uint8_t *)"",
				     text.len);
	int rc = build_stream(&b, root);
	yaml_parser_delete(&b.parser);
	return rc;
}

const struct node *node_get(const struct node *n, const char *key)
{
	if (n->kind != NODE_MAPPING)
		return NULL;
	for (size_t i = 0; i < n->count; i++)
		if (strcmp(n->keys[i]->text, key) == 0)
			return n->items[i];
	return NULL;
}

bool node_is_nothing(const struct node *n)
{
	return n->kind == NODE_SCALAR && n->plain && n->len == 0;
}
