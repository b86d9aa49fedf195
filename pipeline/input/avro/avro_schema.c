/*
 * avro_schema.c - turn an Avro schema's JSON, parsed by jansson, into types
 *
 * saltmill does not use libavro, because its file reader cannot read from memory, lacks zstd,
 * cannot share blocks among threads, and allocates each value.
 */
#include "input/avro_schema.h"

#include <jansson.h>

#include "event.h"

#define NAME_BYTES 1024 /* longest full name */
#define FIXED_MAX  (64 << 20)
#define NAMES_MAX  10000 /* most fields in a record, symbols in an enum, and named types */

struct named {
	struct bytes name; /* includes the namespace */
	struct avro_type *type;
	struct named *next;
};

struct avro_parser {
	struct arena *arena;
	struct named *named;
	size_t nnamed;
	struct error *err;
};

static int parse(struct avro_parser *p, json_t *json, struct bytes space, struct avro_type **out);

static const char *const kind_names[] = {
	[AVRO_NULL] = "null",	[AVRO_BOOLEAN] = "boolean", [AVRO_INT] = "int",
	[AVRO_LONG] = "long",	[AVRO_FLOAT] = "float",	    [AVRO_DOUBLE] = "double",
	[AVRO_BYTES] = "bytes", [AVRO_STRING] = "string",   [AVRO_RECORD] = "record",
	[AVRO_ENUM] = "enum",	[AVRO_ARRAY] = "array",	    [AVRO_MAP] = "map",
	[AVRO_UNION] = "union", [AVRO_FIXED] = "fixed"};
#define NKINDS (sizeof kind_names / sizeof *kind_names)

const char *avro_type_name(const struct avro_type *t)
{
	static const char *const logical[] = {[AVRO_DECIMAL] = "decimal",
					      [AVRO_DATE] = "date",
					      [AVRO_TIME] = "time",
					      [AVRO_STAMP] = "timestamp",
					      [AVRO_LOCAL_STAMP] = "local-timestamp",
					      [AVRO_UUID] = "uuid"};

	return t->logical != AVRO_PLAIN ? logical[t->logical] : kind_names[t->kind];
}

static struct bytes text_of(json_t *json)
{
	return json_is_string(json) ? bytes_of(json_string_value(json), json_string_length(json))
				    : (struct bytes){0};
}

static bool is(struct bytes text, const char *word)
{
	return bytes_eq(text, bytes_str(word));
}

static int bad(struct avro_parser *p, const char *what, struct bytes name)
{
	return error_set(p->err, RC_DATA, "the Avro schema: %s%s%.*s%s", what, name.len ? " `" : "",
			 (int)(name.len < 100 ? name.len : 100),
			 name.len ? (const char *)name.ptr : "", name.len ? "`" : "");
}

static struct avro_type *new_type(struct avro_parser *p, enum avro_kind kind)
{
	struct avro_type *t = arena_alloc(p->arena, sizeof *t);

	t->kind = kind;
	return t;
}

/* --- names --- */

/*
 * Return the name with the namespace `space`, unless the name contains a namespace. Return empty
 * bytes if the full name is too long.
 */
static struct bytes full_name(struct avro_parser *p, struct bytes name, struct bytes space)
{
	char text[NAME_BYTES];

	if (name.len + space.len + 1 > sizeof text)
		return (struct bytes){0};
	if (space.len == 0 || memchr(name.ptr, '.', name.len))
		return arena_bytes(p->arena, name);
	memcpy(text, space.ptr, space.len);
	text[space.len] = '.';
	memcpy(text + space.len + 1, name.ptr, name.len);
	size_t n = space.len + 1 + name.len;
	return bytes_of(arena_strndup(p->arena, text, n), n);
}

static struct bytes space_of(struct bytes full)
{
	while (full.len > 0 && full.ptr[full.len - 1] != '.')
		full.len--;
	full.len -= full.len > 0;
	return full;
}

static struct avro_type *find_named(struct avro_parser *p, struct bytes full)
{
	struct named *n = p->named;

	while (n && !bytes_eq(n->name, full))
		n = n->next;
	return n ? n->type : NULL;
}

/* Register the type before the code reads its fields, because the fields may refer to the type. */
static int add_named(struct avro_parser *p, json_t *json, struct avro_type *t, struct bytes *space)
{
	struct bytes name = text_of(json_object_get(json, "name"));
	struct bytes own = text_of(json_object_get(json, "namespace"));

	if (name.len == 0)
		return bad(p, "found a record, enum or fixed without a name, expected a name",
			   name);
	struct bytes full = full_name(p, name, own.ptr ? own : *space);
	if (full.len == 0 || find_named(p, full))
		return bad(p, full.len ? "defined twice:" : "name too long:", name);
	struct named *n = arena_alloc(p->arena, sizeof *n);
	*n = (struct named){full, t, p->named};
	p->named = n;
	if (++p->nnamed > NAMES_MAX)
		return bad(p, "found more than 10,000 named types, expected at most 10,000",
			   (struct bytes){0});
	*space = space_of(full);
	return RC_OK;
}

static int parse_name(struct avro_parser *p, struct bytes name, struct bytes space,
		      struct avro_type **out)
{
	for (size_t i = 0; i < NKINDS; i++)
		if (is(name, kind_names[i]) && (i < AVRO_RECORD)) {
			*out = new_type(p, (enum avro_kind)i);
			return RC_OK;
		}
	struct bytes full = name.len ? full_name(p, name, space) : name;
	*out = full.len ? find_named(p, full) : NULL;
	if (!*out) /* the name may refer to a type without a namespace */
		*out = find_named(p, name);
	return *out ? RC_OK : bad(p, "unknown type", name);
}

/* --- types with parts --- */

static int parse_fields(struct avro_parser *p, json_t *json, struct bytes space,
			struct avro_type *t)
{
	json_t *fields = json_object_get(json, "fields");

	if (!json_is_array(fields) || json_array_size(fields) > NAMES_MAX)
		return bad(p,
			   "found a record without `fields` or with too many, expected at "
			   "most 10,000 fields",
			   (struct bytes){0});
	t->n = json_array_size(fields);
	t->names = arena_alloc(p->arena, (t->n + 1) * sizeof *t->names);
	t->of = arena_alloc(p->arena, (t->n + 1) * sizeof *t->of);
	for (size_t i = 0; i < t->n; i++) {
		json_t *field = json_array_get(fields, i);
		struct bytes name = text_of(json_object_get(field, "name"));

		if (name.len == 0)
			return bad(p, "found a field without a name, expected a name", name);
		t->names[i] = arena_bytes(p->arena, name);
		for (size_t k = 0; k < i; k++)
			if (bytes_eq(t->names[k], name))
				return bad(p, "duplicate field:", name);
		int rc = parse(p, json_object_get(field, "type"), space, &t->of[i]);
		if (rc)
			return rc;
	}
	return RC_OK;
}

/* pad the copy, because symbols become columns and readers read bytes after a column */
static struct bytes copy_symbol(struct arena *a, struct bytes name)
{
	uint8_t *text = arena_alloc(a, name.len + EVENT_ROOM_BYTES);

	memcpy(text, name.ptr, name.len);
	return bytes_of(text, name.len);
}

static int parse_symbols(struct avro_parser *p, json_t *json, struct avro_type *t)
{
	json_t *symbols = json_object_get(json, "symbols");

	t->n = json_array_size(symbols);
	t->names = arena_alloc(p->arena, (t->n + 1) * sizeof *t->names);
	for (size_t i = 0; i < t->n; i++) {
		struct bytes name = text_of(json_array_get(symbols, i));

		if (!name.ptr)
			return bad(p, "found a symbol of another type, expected text", name);
		t->names[i] = copy_symbol(p->arena, name);
	}
	return t->n > 0 ? RC_OK
			: bad(p,
			      "found an enum without `symbols`, expected at least one "
			      "symbol",
			      (struct bytes){0});
}

static int parse_union(struct avro_parser *p, json_t *json, struct bytes space,
		       struct avro_type **out)
{
	struct avro_type *t = *out = new_type(p, AVRO_UNION);

	t->n = json_array_size(json);
	t->of = arena_alloc(p->arena, (t->n + 1) * sizeof *t->of);
	if (t->n == 0)
		return bad(p, "found an empty union, expected at least one type",
			   (struct bytes){0});
	for (size_t i = 0; i < t->n; i++) {
		int rc = parse(p, json_array_get(json, i), space, &t->of[i]);

		if (rc)
			return rc;
		if (t->of[i]->kind == AVRO_UNION)
			return bad(p, "found a union directly in a union, expected another type",
				   (struct bytes){0});
	}
	return RC_OK;
}

static int parse_items(struct avro_parser *p, json_t *json, const char *key, struct bytes space,
		       struct avro_type *t)
{
	t->of = arena_alloc(p->arena, sizeof *t->of);
	t->n = 1;
	return parse(p, json_object_get(json, key), space, &t->of[0]);
}

static int parse_fixed_size(struct avro_parser *p, json_t *json, struct avro_type *t)
{
	json_t *size = json_object_get(json, "size");

	if (!json_is_integer(size) || json_integer_value(size) < 0 ||
	    json_integer_value(size) > FIXED_MAX)
		return bad(p, "found a fixed without a valid `size`, expected 0 to 67108864 bytes",
			   (struct bytes){0});
	t->size = (size_t)json_integer_value(size);
	return RC_OK;
}

/* --- logical types; the specification requires to ignore invalid ones --- */

static void take_decimal(json_t *json, struct avro_type *t)
{
	json_t *scale = json_object_get(json, "scale"), *precision;

	precision = json_object_get(json, "precision");
	json_int_t digits = json_integer_value(precision), behind = json_integer_value(scale);
	if (digits < 1 || behind < 0 || behind > digits || digits > 38)
		return;
	t->logical = AVRO_DECIMAL;
	t->scale = (int)behind;
}

static void take_logical(json_t *json, struct avro_type *t)
{
	static const struct {
		const char *name;
		enum avro_kind kind;
		enum avro_logical logical;
		int64_t parts;
	} known[] = {{"date", AVRO_INT, AVRO_DATE, 0},
		     {"time-millis", AVRO_INT, AVRO_TIME, 1000},
		     {"time-micros", AVRO_LONG, AVRO_TIME, 1000000},
		     {"timestamp-millis", AVRO_LONG, AVRO_STAMP, 1000},
		     {"timestamp-micros", AVRO_LONG, AVRO_STAMP, 1000000},
		     {"timestamp-nanos", AVRO_LONG, AVRO_STAMP, 1000000000},
		     {"local-timestamp-millis", AVRO_LONG, AVRO_LOCAL_STAMP, 1000},
		     {"local-timestamp-micros", AVRO_LONG, AVRO_LOCAL_STAMP, 1000000},
		     {"local-timestamp-nanos", AVRO_LONG, AVRO_LOCAL_STAMP, 1000000000},
		     {"uuid", AVRO_STRING, AVRO_UUID, 0}};
	struct bytes name = text_of(json_object_get(json, "logicalType"));

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (is(name, known[i].name) && t->kind == known[i].kind) {
			t->logical = known[i].logical;
			t->parts = known[i].parts;
		}
	if (is(name, "uuid") && t->kind == AVRO_FIXED && t->size == 16)
		t->logical = AVRO_UUID;
	if (is(name, "decimal") &&
	    (t->kind == AVRO_BYTES || (t->kind == AVRO_FIXED && t->size > 0)))
		take_decimal(json, t);
}

static int parse_object(struct avro_parser *p, json_t *json, struct bytes space,
			struct avro_type **out)
{
	json_t *inner = json_object_get(json, "type");
	struct bytes name = text_of(inner);
	int rc = RC_OK;

	if (!name.ptr) /* {"type": {"type": ...}} */
		return parse(p, inner, space, out);
	enum avro_kind kind = AVRO_RECORD;
	while (kind < NKINDS && !is(name, kind_names[kind]))
		kind++;
	if (is(name, "error"))
		kind = AVRO_RECORD;
	if (kind >= NKINDS || kind == AVRO_UNION) {
		rc = parse_name(p, name, space, out);
		if (rc == RC_OK && (*out)->kind < AVRO_RECORD)
			take_logical(json, *out);
		return rc;
	}
	struct avro_type *t = *out = new_type(p, kind);
	if (kind == AVRO_RECORD || kind == AVRO_ENUM || kind == AVRO_FIXED)
		rc = add_named(p, json, t, &space);
	if (rc)
		return rc;
	switch (kind) {
	case AVRO_RECORD: return parse_fields(p, json, space, t);
	case AVRO_ENUM: return parse_symbols(p, json, t);
	case AVRO_ARRAY: return parse_items(p, json, "items", space, t);
	case AVRO_MAP: return parse_items(p, json, "values", space, t);
	case AVRO_NULL:
	case AVRO_BOOLEAN:
	case AVRO_INT:
	case AVRO_LONG:
	case AVRO_FLOAT:
	case AVRO_DOUBLE:
	case AVRO_BYTES:
	case AVRO_STRING:
	case AVRO_UNION:
	case AVRO_FIXED: break;
	}
	rc = parse_fixed_size(p, json, t);
	take_logical(json, t);
	return rc;
}

/* --- the shortest value --- */

/*
 * Compute the smallest size of the type from the parts known so far. A recursive record does not
 * have all fields yet, so the result is a lower bound.
 */
static uint64_t least_now(const struct avro_type *t)
{
	uint64_t sum = 0;

	switch (t->kind) {
	case AVRO_NULL: return 0;
	case AVRO_FLOAT: return 4;
	case AVRO_DOUBLE: return 8;
	case AVRO_FIXED: return t->size;
	case AVRO_RECORD:
		for (size_t i = 0; i < t->n && t->of[i] && sum < AVRO_LEAST_MAX; i++)
			sum += t->of[i]->least;
		return sum;
	case AVRO_UNION:
		sum = AVRO_LEAST_MAX;
		for (size_t i = 0; i < t->n; i++)
			sum = t->of[i]->least < sum ? t->of[i]->least : sum;
		return 1 + sum;
	case AVRO_BOOLEAN:
	case AVRO_INT:
	case AVRO_LONG:
	case AVRO_BYTES:
	case AVRO_STRING:
	case AVRO_ENUM:
	case AVRO_ARRAY:
	case AVRO_MAP: break;
	}
	return 1;
}

static bool is_empty(const struct avro_type *t)
{
	bool empty = t->kind == AVRO_NULL || t->kind == AVRO_RECORD ||
		     (t->kind == AVRO_FIXED && t->size == 0);

	for (size_t i = 0; empty && i < t->n; i++)
		empty = t->of[i] && t->of[i]->empty;
	return empty;
}

static int parse_any(struct avro_parser *p, json_t *json, struct bytes space,
		     struct avro_type **out)
{
	if (json_is_string(json))
		return parse_name(p, text_of(json), space, out);
	if (json_is_array(json))
		return parse_union(p, json, space, out);
	if (json_is_object(json))
		return parse_object(p, json, space, out);
	return bad(p, "found a type of another form, expected a name, an object or a list",
		   (struct bytes){0});
}

/*
 * Parse a type. A type contains itself only through a union, an array or a map. The smallest size
 * of these does not depend on the contained type.
 */
static int parse(struct avro_parser *p, json_t *json, struct bytes space, struct avro_type **out)
{
	int rc = parse_any(p, json, space, out);

	if (rc == RC_OK) {
		uint64_t least = least_now(*out);

		(*out)->least = least < AVRO_LEAST_MAX ? least : AVRO_LEAST_MAX;
		(*out)->empty = (*out)->empty || is_empty(*out);
	}
	return rc;
}

struct avro_names {
	struct named *first;
	size_t n;
};

struct avro_names *avro_names_new(struct arena *a)
{
	return arena_alloc(a, sizeof(struct avro_names));
}

int avro_schema_read(const struct avro_type **out, struct arena *a, struct bytes text,
		     struct error *err)
{
	struct avro_names names = {0};

	return avro_schema_read_with(out, a, text, &names, err);
}

int avro_schema_read_with(const struct avro_type **out, struct arena *a, struct bytes text,
			  struct avro_names *names, struct error *err)
{
	struct avro_parser p = {.arena = a, .named = names->first, .nnamed = names->n, .err = err};
	struct avro_type *type;
	json_error_t fault;
	json_t *json = json_loadb((const char *)text.ptr, text.len,
				  JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &fault);

	if (!json)
		return error_set(
			err, RC_DATA,
			"the Avro schema: found no JSON (%s, byte %d), expected a schema in JSON",
			fault.text, fault.position);
	int rc = parse(&p, json, (struct bytes){0}, &type);
	json_decref(json);
	if (rc)
		return rc;
	*names = (struct avro_names){p.named, p.nnamed};
	*out = type;
	return RC_OK;
}
