#include "input/arrow_schema.h"

#include "input/spell.h"

#define FIELDS_MAX 100000
#define NESTED_MAX 64

static const char *const kind_names[ARROW_KINDS] = {[ARROW_NULL] = "null",
						    [ARROW_INT] = "int",
						    [ARROW_FLOAT] = "float",
						    [ARROW_BINARY] = "binary",
						    [ARROW_UTF8] = "utf8",
						    [ARROW_BOOL] = "bool",
						    [ARROW_DECIMAL] = "decimal",
						    [ARROW_DATE] = "date",
						    [ARROW_TIME] = "time of day",
						    [ARROW_TIMESTAMP] = "timestamp",
						    [ARROW_INTERVAL] = "interval",
						    [ARROW_LIST] = "list",
						    [ARROW_STRUCT] = "struct",
						    [ARROW_UNION] = "union",
						    [ARROW_FIXED_BINARY] = "fixed size binary",
						    [ARROW_FIXED_LIST] = "fixed size list",
						    [ARROW_MAP] = "map",
						    [ARROW_DURATION] = "duration",
						    [ARROW_LARGE_BINARY] = "large binary",
						    [ARROW_LARGE_UTF8] = "large utf8",
						    [ARROW_LARGE_LIST] = "large list",
						    [ARROW_RUN_END] = "run-end encoded",
						    [ARROW_BINARY_VIEW] = "binary view",
						    [ARROW_UTF8_VIEW] = "utf8 view",
						    [ARROW_LIST_VIEW] = "list view",
						    [ARROW_LARGE_LIST_VIEW] = "large list view"};

const char *arrow_kind_name(enum arrow_kind kind)
{
	return kind_names[kind];
}

/* --- reading --- */

struct arrow_parser {
	struct arena *arena;
	struct arrow_schema *schema;
	struct error *err;
};

static unsigned buffers_of(enum arrow_kind kind, bool dense)
{
	switch ((int)kind) {
	case ARROW_NULL:
	case ARROW_RUN_END: return 0;
	case ARROW_STRUCT:
	case ARROW_FIXED_LIST: return 1;
	case ARROW_UNION: return dense ? 2 : 1;
	case ARROW_BINARY:
	case ARROW_UTF8:
	case ARROW_LARGE_BINARY:
	case ARROW_LARGE_UTF8:
	case ARROW_LIST_VIEW:
	case ARROW_LARGE_LIST_VIEW: return 3;
	default: return 2;
	}
}

static int64_t parts_of(int64_t unit)
{
	static const int64_t parts[] = {1, 1000, 1000000, 1000000000};

	return unit >= 0 && unit < 4 ? parts[unit] : 0;
}

static size_t bytes_of_bits(int64_t bits)
{
	return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 || bits == 256
		       ? (size_t)bits / 8
		       : 0;
}

/* Read the parameters of a type. An invalid parameter leaves bytes or parts at 0. */
static void read_parameters(struct arrow_type *t, const struct flat_table *type)
{
	switch ((int)t->kind) {
	case ARROW_INT:
		t->bytes = bytes_of_bits(flat_number(type, 0, 4, 0));
		t->is_signed = flat_number(type, 1, 1, 0) != 0;
		break;
	case ARROW_FLOAT: t->bytes = (size_t)2 << (flat_number(type, 0, 2, 0) & 3); break;
	case ARROW_DECIMAL:
		t->scale = (int)flat_number(type, 1, 4, 0);
		t->bytes = bytes_of_bits(flat_number(type, 2, 4, 128));
		break;
	case ARROW_DATE:
		t->parts = flat_number(type, 0, 2, 1) == 0 ? 0 : 1000;
		t->bytes = t->parts ? 8 : 4;
		break;
	case ARROW_TIME:
		t->parts = parts_of(flat_number(type, 0, 2, 1));
		t->bytes = bytes_of_bits(flat_number(type, 1, 4, 32));
		break;
	case ARROW_TIMESTAMP:
		t->parts = parts_of(flat_number(type, 0, 2, 0));
		t->local = flat_text(type, 1).len == 0;
		t->bytes = 8;
		break;
	case ARROW_FIXED_BINARY: t->bytes = (size_t)(uint32_t)flat_number(type, 0, 4, 0); break;
	default: break;
	}
}

static struct arrow_type read_type(enum arrow_kind kind, const struct flat_table *type)
{
	struct arrow_type t = {.kind = kind};

	t.nbuffers = buffers_of(kind, kind == ARROW_UNION && flat_number(type, 0, 2, 0) != 0);
	read_parameters(&t, type);
	return t;
}

static struct arrow_field *add_field(struct arrow_parser *p)
{
	struct arrow_schema *s = p->schema;

	s->field = arena_grow(p->arena, s->field, s->nfields, sizeof *s->field);
	return &s->field[s->nfields++];
}

static int read_fields(struct arrow_parser *p, struct flat *flat, const struct flat_vector *fields,
		       size_t parent, unsigned depth);

static int read_field(struct arrow_parser *p, const struct flat_table *field, size_t parent,
		      unsigned depth)
{
	int64_t kind = flat_number(field, 2, 1, 0);
	struct flat_table type = flat_sub(field, 3), encoding = flat_sub(field, 4);
	struct flat_vector children = flat_vector(field, 5, 4);
	struct bytes name = flat_text(field, 0);

	if (!field->flat || kind < ARROW_NULL || kind >= ARROW_KINDS ||
	    p->schema->nfields >= FIELDS_MAX || depth > NESTED_MAX)
		return error_set(
			p->err, RC_DATA,
			"the Arrow schema: found field %zu with an unknown type or beyond the "
			"limits, expected a known type, at most 64 levels and 100,000 fields",
			p->schema->nfields + 1);
	struct arrow_field f = {.type = read_type((enum arrow_kind)kind, &type), .parent = parent};
	f.name = bytes_of(arena_strndup(p->arena, name.ptr ? (const char *)name.ptr : "", name.len),
			  name.len);
	if (encoding.flat) {
		struct flat_table index = flat_sub(&encoding, 1);

		f.encoded = true;
		f.dictionary = flat_number(&encoding, 0, 8, 0);
		f.index = read_type(ARROW_INT, &index);
		if (!index.flat)
			f.index = (struct arrow_type){.kind = ARROW_INT,
						      .bytes = 4,
						      .is_signed = true,
						      .nbuffers = 2};
		children.n = 0; /* only the dictionary has children */
	}
	f.nchildren = children.n;
	size_t at = p->schema->nfields;
	*add_field(p) = f;
	p->schema->field[at].first = p->schema->nfields;
	return read_fields(p, field->flat, &children, at, depth + 1);
}

static int read_fields(struct arrow_parser *p, struct flat *flat, const struct flat_vector *fields,
		       size_t parent, unsigned depth)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < fields->n; i++) {
		struct flat_table field = flat_item(flat, fields, i);

		rc = read_field(p, &field, parent, depth);
	}
	return rc;
}

int arrow_schema_read(struct arrow_schema *out, struct arena *a, const struct flat_table *header,
		      struct error *err)
{
	struct arrow_parser p = {.arena = a, .schema = out, .err = err};
	struct flat_vector fields = flat_vector(header, 1, 4);

	*out = (struct arrow_schema){.ntop = fields.n};
	if (!header->flat || header->flat->bad)
		return error_set(err, RC_DATA, "found a damaged schema; write the file again");
	if (flat_number(header, 0, 2, 0) != 0)
		return error_set(err, RC_DATA,
				 "found big-endian numbers in the schema, expected little-endian "
				 "numbers");
	int rc = read_fields(&p, header->flat, &fields, NO_PARENT, 0);
	if (rc == RC_OK && header->flat->bad)
		rc = error_set(err, RC_DATA, "found a damaged schema; write the file again");
	return rc;
}

/* --- binding --- */

static bool readable(const struct arrow_type *t)
{
	switch ((int)t->kind) {
	case ARROW_INT: return t->bytes >= 1 && t->bytes <= 8;
	case ARROW_FLOAT: return t->bytes <= 8;
	case ARROW_DECIMAL:
		return t->bytes >= 4 && t->bytes <= 32 && t->scale >= 0 &&
		       t->scale <= DECIMAL_DIGITS;
	case ARROW_TIME: return t->parts > 0 && (t->bytes == 4 || t->bytes == 8);
	case ARROW_TIMESTAMP: return t->parts > 0;
	case ARROW_NULL:
	case ARROW_BINARY:
	case ARROW_UTF8:
	case ARROW_BOOL:
	case ARROW_DATE:
	case ARROW_FIXED_BINARY:
	case ARROW_LARGE_BINARY:
	case ARROW_LARGE_UTF8:
	case ARROW_BINARY_VIEW:
	case ARROW_UTF8_VIEW: return true;
	default: return false;
	}
}

static enum typed_kind kind_of(const struct arrow_type *t)
{
	switch ((int)t->kind) {
	case ARROW_DATE:
	case ARROW_TIMESTAMP: return KIND_TIME;
	case ARROW_TIME: return KIND_OTHER;
	case ARROW_INT:
	case ARROW_FLOAT:
	case ARROW_DECIMAL: return KIND_NUMBER;
	default: return KIND_TEXT;
	}
}

bool arrow_readable(const struct arrow_field *f)
{
	return readable(&f->type) && (!f->encoded || (f->index.bytes >= 1 && f->index.bytes <= 8));
}

struct arrow_binding {
	struct arrow_schema *schema;
	const struct typed_columns *columns;
	struct error *err;
};

static int bind_column(struct arrow_binding *b, size_t at, size_t column)
{
	const struct arrow_field *f = &b->schema->field[at];
	struct arrow_want *w = &b->schema->want[column];
	const struct arrow_type *t = &f->type;

	if (!arrow_readable(f))
		return error_set(
			b->err, RC_CONFIG,
			"found column `%s` of Arrow type %s%s, which saltmill cannot read; "
			"convert the column, or remove the column from the job's fields",
			b->columns->names[column], arrow_kind_name(t->kind),
			t->kind == ARROW_DECIMAL ? " with a scale below 0 or above 38" : "");
	w->field = at;
	w->as = typed_form(b->columns, column);
	if (t->kind == ARROW_DATE || (t->kind == ARROW_TIMESTAMP && t->local))
		w->as = w->as == TYPED_MS ? TYPED_MS : TYPED_TEXT;
	return typed_check(b->columns, column, kind_of(t), arrow_kind_name(t->kind), b->err);
}

/*
 * Bind the fields of one parent, from index `from`. The descendants of a field come before its next
 * sibling.
 */
static int bind_fields(struct arrow_binding *b, size_t from, size_t parent,
		       const struct json_node *node)
{
	const struct arrow_schema *s = b->schema;
	int rc = RC_OK;

	for (size_t i = from; rc == RC_OK && i < s->nfields; i++) {
		const struct arrow_field *f = &s->field[i];

		if (f->parent != parent)
			continue;
		for (const struct json_node *c = node->child; rc == RC_OK && c; c = c->next) {
			if (!c->key.ptr || !bytes_eq(c->key, f->name))
				continue;
			if (c->column != NO_COLUMN)
				rc = bind_column(b, i, c->column);
			if (rc == RC_OK && c->child && f->type.kind == ARROW_STRUCT && !f->encoded)
				rc = bind_fields(b, i + 1, i, c);
		}
	}
	return rc;
}

int arrow_schema_bind(struct arrow_schema *s, struct arena *a, const struct typed_columns *columns,
		      struct error *err)
{
	struct arrow_binding b = {s, columns, err};
	struct bytes *names = arena_alloc(a, (s->ntop + 1) * sizeof *names);
	size_t n = 0;

	s->nwant = columns->paths->ncolumns;
	s->want = arena_alloc(a, (s->nwant + 1) * sizeof *s->want);
	for (size_t i = 0; i < s->nwant; i++)
		s->want[i].field = SIZE_MAX;
	int rc = bind_fields(&b, 0, NO_PARENT, &columns->paths->root);
	for (size_t i = 0; i < s->nfields; i++)
		if (s->field[i].parent == NO_PARENT)
			names[n++] = s->field[i].name;
	for (size_t i = 0; rc == RC_OK && i < s->nwant; i++)
		if (s->want[i].field == SIZE_MAX)
			rc = typed_missing(columns, i, names, n, err);
	return rc;
}
