/*
 * avro_plan.c - plan which parts of each value to read, from a schema and the fields' paths
 *
 * A type may contain itself. A plan is finite, because it follows only the paths.
 */
#include "input/avro.h"

/*
 * A finished plan for a type and a step. All paths to this pair share the plan, because there may
 * be 2^depth paths.
 */
struct made_plan {
	const struct avro_type *type;
	const struct json_node *node;
	struct avro_plan *plan;
};

struct planning {
	struct made_plan *made; /* open addressing */
	size_t nmade, room;
	struct arena *arena;
	const struct typed_columns *columns;
	bool *found; /* one per column */
	struct error *err;
};

static int make(struct planning *p, const struct avro_type *t, const struct json_node *node,
		struct avro_plan **out);

static enum typed_kind kind_of(const struct avro_type *t)
{
	switch (t->logical) {
	case AVRO_DATE:
	case AVRO_STAMP:
	case AVRO_LOCAL_STAMP: return KIND_TIME;
	case AVRO_TIME: return KIND_OTHER;
	case AVRO_PLAIN:
	case AVRO_DECIMAL:
	case AVRO_UUID: break;
	}
	switch (t->kind) {
	case AVRO_INT:
	case AVRO_LONG:
	case AVRO_FLOAT:
	case AVRO_DOUBLE: return KIND_NUMBER;
	case AVRO_RECORD:
	case AVRO_ARRAY:
	case AVRO_MAP: return KIND_OTHER;
	case AVRO_NULL:
	case AVRO_BOOLEAN:
	case AVRO_BYTES:
	case AVRO_STRING:
	case AVRO_ENUM:
	case AVRO_UNION:
	case AVRO_FIXED: break;
	}
	return KIND_TEXT;
}

static int take_column(struct planning *p, struct avro_plan *plan, size_t column)
{
	plan->column = column;
	p->found[column] = true;
	if (plan->type->kind == AVRO_NULL)
		return RC_OK;
	plan->as = typed_form(p->columns, column);
	if (plan->type->logical == AVRO_DATE || plan->type->logical == AVRO_LOCAL_STAMP)
		plan->as = plan->as == TYPED_MS ? TYPED_MS : TYPED_TEXT;
	return typed_check(p->columns, column, kind_of(plan->type), avro_type_name(plan->type),
			   p->err);
}

static int make_fields(struct planning *p, struct avro_plan *plan, const struct json_node *node)
{
	const struct avro_type *t = plan->type;

	plan->part = arena_alloc(p->arena, (t->n + 1) * sizeof(struct avro_plan *));
	for (const struct json_node *child = node->child; child; child = child->next)
		for (size_t i = 0; child->key.ptr && i < t->n; i++) {
			if (!bytes_eq(child->key, t->names[i]))
				continue;
			int rc = make(p, t->of[i], child, &plan->part[i]);
			if (rc)
				return rc;
		}
	return RC_OK;
}

static int make_branches(struct planning *p, struct avro_plan *plan, const struct json_node *node)
{
	const struct avro_type *t = plan->type;

	plan->part = arena_alloc(p->arena, (t->n + 1) * sizeof(struct avro_plan *));
	for (size_t i = 0; i < t->n; i++) {
		int rc = make(p, t->of[i], node, &plan->part[i]);

		if (rc)
			return rc;
	}
	return RC_OK;
}

/* Plan the items of an array or a map. */
static int make_items(struct planning *p, struct avro_plan *plan, const struct json_node *node)
{
	bool map = plan->type->kind == AVRO_MAP;
	size_t n = 0;

	for (const struct json_node *child = node->child; child; child = child->next)
		n++;
	plan->wanted = arena_alloc(p->arena, (n + 1) * sizeof *plan->wanted);
	for (const struct json_node *child = node->child; child; child = child->next) {
		struct avro_wanted *w = &plan->wanted[plan->nwanted];
		struct avro_plan *item;

		if (map != (child->key.ptr != NULL))
			continue;
		int rc = make(p, plan->type->of[0], child, &item);
		if (rc)
			return rc;
		*w = (struct avro_wanted){child->key, child->index, item};
		plan->nwanted++;
	}
	return RC_OK;
}

static struct made_plan *made_place(struct made_plan *made, size_t room, const struct avro_type *t,
				    const struct json_node *node)
{
	size_t i = (size_t)(((uintptr_t)t * 31 + (uintptr_t)node) * UINT64_C(0x9e3779b97f4a7c15) >>
			    32) &
		   (room - 1);

	while (made[i].plan && (made[i].type != t || made[i].node != node))
		i = (i + 1) & (room - 1);
	return &made[i];
}

static struct made_plan *find_made(struct planning *p, const struct avro_type *t,
				   const struct json_node *node)
{
	if (2 * p->nmade >= p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		struct made_plan *to = mem_calloc(room, sizeof *to);

		for (size_t i = 0; i < p->room; i++)
			if (p->made[i].plan)
				*made_place(to, room, p->made[i].type, p->made[i].node) =
					p->made[i];
		mem_free(p->made);
		p->made = to;
		p->room = room;
	}
	return made_place(p->made, p->room, t, node);
}

static int make(struct planning *p, const struct avro_type *t, const struct json_node *node,
		struct avro_plan **out)
{
	struct made_plan *made = find_made(p, t, node);
	struct avro_plan *plan = *out = made->plan;
	int rc = RC_OK;

	if (plan)
		return RC_OK;
	plan = *out = arena_alloc(p->arena, sizeof *plan);
	*made = (struct made_plan){t, node, plan};
	p->nmade++;
	*plan = (struct avro_plan){.type = t, .column = NO_COLUMN};
	if (t->kind == AVRO_UNION)
		return make_branches(p, plan, node);
	if (node->column != NO_COLUMN)
		rc = take_column(p, plan, node->column);
	if (rc == RC_OK && t->kind == AVRO_RECORD)
		rc = make_fields(p, plan, node);
	if (rc == RC_OK && (t->kind == AVRO_ARRAY || t->kind == AVRO_MAP))
		rc = make_items(p, plan, node);
	return rc;
}

int avro_plan_new(const struct avro_plan **out, struct arena *a, const struct avro_type *schema,
		  const struct typed_columns *columns, struct error *err)
{
	const struct json_paths *paths = columns->paths;
	struct planning p = {.arena = a, .columns = columns, .err = err};
	struct avro_plan *plan;

	p.found = arena_alloc(a, paths->ncolumns + 1);
	int rc = make(&p, schema, &paths->root, &plan);
	mem_free(p.made);
	for (size_t i = 0; rc == RC_OK && i < paths->ncolumns; i++)
		if (!p.found[i] && !columns->may_lack)
			rc = typed_missing(columns, i, schema->names,
					   schema->kind == AVRO_RECORD ? schema->n : 0, err);
	*out = plan;
	return rc;
}
