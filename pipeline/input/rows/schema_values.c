#include "schema_values.h"

#include "input/arrow_schema.h"
#include "input/avro_schema.h"

bool source_path_step(struct buf *path, struct bytes name)
{
	bool plain = name.len > 0 && (name.ptr[0] < '0' || name.ptr[0] > '9');

	for (size_t i = 0; i < name.len; i++)
		plain = plain && name.ptr[i] > ' ' && !strchr(".[]\"'$\\", name.ptr[i]);
	if (plain) {
		buf_append_str(path, path->len ? "." : "");
		buf_append(path, name.ptr, name.len);
		return true;
	}
	bool twice = name.len > 0 && memchr(name.ptr, '"', name.len);
	if (twice && memchr(name.ptr, '\'', name.len))
		return false;
	buf_append_str(path, twice ? "['" : "[\"");
	buf_append(path, name.ptr, name.len);
	buf_append_str(path, twice ? "']" : "\"]");
	return true;
}

void schema_values_add(struct schema_values *v, enum field_type type, int scale, bool local)
{
	struct bytes p = buf_bytes(&v->path);
	bool odd = p.len == 0 || memchr(p.ptr, 0, p.len);

	if (v->n == SCHEMA_MOST || odd) {
		v->left_out++;
		return;
	}
	if (!v->item)
		v->item = arena_alloc(v->arena, SCHEMA_MOST * sizeof *v->item);
	v->item[v->n++] = (struct schema_value){.path = arena_strndup(v->arena, p.ptr, p.len),
						.type = type,
						.scale = (unsigned)scale,
						.local = local};
}

/* --- Avro --- */

static void avro_value(struct schema_values *v, const struct avro_type *t)
{
	switch (t->logical) {
	case AVRO_DECIMAL: schema_values_add(v, FIELD_DECIMAL, t->scale, false); return;
	case AVRO_DATE:
	case AVRO_STAMP: schema_values_add(v, FIELD_TIME, 0, false); return;
	case AVRO_LOCAL_STAMP: schema_values_add(v, FIELD_TIME, 0, true); return;
	case AVRO_TIME:
	case AVRO_UUID: schema_values_add(v, FIELD_TEXT, 0, false); return;
	case AVRO_PLAIN: break;
	}
	switch (t->kind) {
	case AVRO_NULL: v->left_out++; return;
	case AVRO_BOOLEAN: schema_values_add(v, FIELD_BOOL, 0, false); return;
	case AVRO_INT:
	case AVRO_LONG: schema_values_add(v, FIELD_I64, 0, false); return;
	case AVRO_FLOAT:
	case AVRO_DOUBLE: schema_values_add(v, FIELD_F64, 0, false); return;
	case AVRO_BYTES:
	case AVRO_FIXED: schema_values_add(v, FIELD_BYTES, 0, false); return;
	case AVRO_STRING:
	case AVRO_RECORD:
	case AVRO_ENUM:
	case AVRO_ARRAY: /* the reader makes JSON text of lists and maps */
	case AVRO_MAP:
	case AVRO_UNION: schema_values_add(v, FIELD_TEXT, 0, false);
	}
}

/* Return the only branch that is not null, or NULL if there are several. */
static const struct avro_type *only_branch(const struct avro_type *t)
{
	const struct avro_type *only = NULL;

	if (t->kind != AVRO_UNION)
		return t;
	for (size_t i = 0; i < t->n; i++) {
		if (t->of[i]->kind == AVRO_NULL)
			continue;
		if (only)
			return NULL;
		only = t->of[i];
	}
	return only;
}

/* A record and its enclosing records. */
struct around {
	const struct avro_type *type;
	const struct around *outer;
	unsigned depth;
};

/*
 * Return true if the list contains the fields of record `t`. Skip a record that contains itself,
 * which has no end, and a record at too great a depth.
 */
static bool goes_in(const struct around *a, const struct avro_type *t)
{
	bool goes = a->depth < SCHEMA_DEEPEST;

	for (; a; a = a->outer)
		goes = goes && a->type != t;
	return goes;
}

static void avro_fields(struct schema_values *v, const struct around *around)
{
	const struct avro_type *t = around->type;
	size_t len = v->path.len;

	for (size_t i = 0; i < t->n; i++) {
		if (++v->visited > SCHEMA_VISITED) {
			v->left_out++;
			return;
		}
		const struct avro_type *field = only_branch(t->of[i]);

		if (!source_path_step(&v->path, t->names[i]))
			v->left_out++;
		else if (!field)
			schema_values_add(v, FIELD_TEXT, 0, false);
		else if (field->kind != AVRO_RECORD)
			avro_value(v, field);
		else if (goes_in(around, field) && v->n < SCHEMA_MOST)
			avro_fields(v, &(struct around){field, around, around->depth + 1});
		else
			v->left_out++;
		v->path.len = len;
	}
}

void avro_values(struct schema_values *v, const struct avro_type *schema)
{
	if (schema->kind == AVRO_RECORD)
		avro_fields(v, &(struct around){.type = schema});
}

/* --- Arrow --- */

static void arrow_value(struct schema_values *v, const struct arrow_type *t)
{
	switch ((int)t->kind) {
	case ARROW_INT:
		schema_values_add(v,
				  t->is_signed	  ? FIELD_I64
				  : t->bytes <= 4 ? FIELD_U32
						  : FIELD_U64,
				  0, false);
		return;
	case ARROW_FLOAT: schema_values_add(v, FIELD_F64, 0, false); return;
	case ARROW_BOOL: schema_values_add(v, FIELD_BOOL, 0, false); return;
	case ARROW_DECIMAL: schema_values_add(v, FIELD_DECIMAL, t->scale, false); return;
	case ARROW_DATE:
	case ARROW_TIMESTAMP: schema_values_add(v, FIELD_TIME, 0, t->local); return;
	case ARROW_BINARY:
	case ARROW_LARGE_BINARY:
	case ARROW_BINARY_VIEW:
	case ARROW_FIXED_BINARY: schema_values_add(v, FIELD_BYTES, 0, false); return;
	default: schema_values_add(v, FIELD_TEXT, 0, false);
	}
}

static void arrow_fields(struct schema_values *v, const struct arrow_schema *s, size_t from,
			 size_t parent)
{
	size_t len = v->path.len;

	for (size_t i = from; i < s->nfields; i++) {
		const struct arrow_field *f = &s->field[i];

		if (f->parent != parent)
			continue;
		if (!source_path_step(&v->path, f->name))
			v->left_out++;
		else if (f->type.kind == ARROW_STRUCT && !f->encoded)
			arrow_fields(v, s, i + 1, i);
		else if (f->type.kind == ARROW_NULL || !arrow_readable(f))
			v->left_out++;
		else
			arrow_value(v, &f->type);
		v->path.len = len;
	}
}

void arrow_values(struct schema_values *v, const struct arrow_schema *schema)
{
	arrow_fields(v, schema, 0, NO_PARENT);
}
