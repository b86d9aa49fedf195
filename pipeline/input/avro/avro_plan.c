/*
 * avro_plan.c - plan what to take of each value, from a schema and the paths that fields name
 *
 * A plan follows the paths only, so it is finite although a type may contain itself.
 */
#include "input/avro.h"

struct planning {
	struct arena *arena;
	const struct typed_columns *columns;
	bool *found; /* by column */
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
			if (rc != RC_OK)
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

		if (rc != RC_OK)
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
		if (rc != RC_OK)
			return rc;
		*w = (struct avro_wanted){child->key, child->index, item};
		plan->nwanted++;
	}
	return RC_OK;
}

static int make(struct planning *p, const struct avro_type *t, const struct json_node *node,
		struct avro_plan **out)
{
	struct avro_plan *plan = *out = arena_alloc(p->arena, sizeof *plan);
	int rc = RC_OK;

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
	for (size_t i = 0; rc == RC_OK && i < paths->ncolumns; i++)
		if (!p.found[i] && !columns->may_lack)
			rc = typed_missing(columns, i, schema->names,
					   schema->kind == AVRO_RECORD ? schema->n : 0, err);
	*out = plan;
	return rc;
}
