/*
 * registry_schemas.c - read the answers of a schema registry
 *
 * A schema may refer to versions of other subjects. Read the deepest schemas first.
 */
#include "registry_schemas.h"

#include <jansson.h>

#include "mem.h"

#define REFERS_MOST 1000 /* limit of schemas to which a schema refers, directly or not */

struct read_before {
	const char *name; /* "" if not given */
	const char *subject;
	json_int_t version;
};

/* A schema and the schemas to which it refers. */
struct schema_reading {
	const struct schema_place *at;
	struct avro_names *names;
	struct read_before *before;
	size_t nbefore;
};

/*
 * Return true if the answer is JSON. A proxy may answer instead of the registry while the registry
 * is down.
 */
bool schema_answer_is_json(struct bytes answer)
{
	json_t *json = json_loadb((const char *)answer.ptr, answer.len, JSON_DECODE_ANY, NULL);

	json_decref(json);
	return json != NULL;
}

static const char *url_of(const struct schema_place *at)
{
	return at->columns->job->kafka.registry.url;
}

static int no_answer(const struct schema_place *at, const char *what, struct error *err)
{
	return error_set(err, RC_DATA, "the schema registry at %s: schema %u: %s", url_of(at),
			 at->id, what);
}

static int read_schema(struct schema_reading *w, json_t *answer, const struct avro_type **out,
		       struct error *err);

/*
 * Return true if an earlier call has read the reference. If two references have one name, the first
 * reference counts, whatever their versions, because a type has one meaning in a schema.
 * Confluent's own serializers do the same (schema-registry,
 * AbstractSchemaProvider.resolveReferences).
 */
static bool is_read(const struct schema_reading *w, const struct read_before *r)
{
	for (const struct read_before *b = w->before; b < w->before + w->nbefore; b++)
		if ((*r->name && strcmp(b->name, r->name) == 0) ||
		    (b->version == r->version && strcmp(b->subject, r->subject) == 0))
			return true;
	return false;
}

static int read_version(struct schema_reading *w, const char *subject, json_int_t version,
			struct error *err)
{
	const struct schema_place *at = w->at;
	const struct avro_type *ignored;
	struct bytes text;
	int rc = at->version(at->ctx, at->id, subject, version, &text, err);

	if (rc)
		return rc;
	json_t *answer = json_loadb((const char *)text.ptr, text.len, 0, NULL);
	rc = read_schema(w, answer, &ignored, err);
	json_decref(answer);
	return rc;
}

static int read_reference(struct schema_reading *w, json_t *reference, struct error *err)
{
	const char *name = json_string_value(json_object_get(reference, "name"));
	const char *subject = json_string_value(json_object_get(reference, "subject"));
	json_t *number = json_object_get(reference, "version");
	json_int_t version = json_integer_value(number);
	const struct read_before r = {name ? name : "", subject, version};
	struct arena *a = w->at->arena;

	if (!subject || !json_is_integer(number))
		return no_answer(w->at, "found a reference without `subject` and `version`", err);
	if (is_read(w, &r))
		return RC_OK;
	if (w->nbefore == REFERS_MOST)
		return no_answer(w->at,
				 "found references to more than 1,000 schemas, "
				 "expected at most 1,000",
				 err);
	/* add it before its own references, so that a cycle ends */
	w->before[w->nbefore++] =
		(struct read_before){arena_strdup(a, r.name), arena_strdup(a, subject), version};
	return read_version(w, subject, version, err);
}

static int read_schema(struct schema_reading *w, json_t *answer, const struct avro_type **out,
		       struct error *err)
{
	struct arena *a = w->at->arena;
	json_t *text = json_object_get(answer, "schema"), *reference;
	size_t i, len = json_string_length(text);
	int rc = RC_OK;

	json_array_foreach(json_object_get(answer, "references"), i, reference)
	{
		rc = read_reference(w, reference, err);
		if (rc)
			return rc;
	}
	if (!json_is_string(text))
		return no_answer(w->at,
				 "found a referenced schema without `schema`, "
				 "expected `schema`",
				 err);
	struct bytes copy = bytes_of(arena_strndup(a, json_string_value(text), len), len);
	rc = avro_schema_read_with(out, a, copy, w->names, err);
	return rc == RC_OK ? rc
			   : error_prefix(err, "schema %u of the registry at %s: ", w->at->id,
					  url_of(w->at));
}

static int read_avro(const struct schema_place *at, json_t *answer, const struct avro_plan **plan,
		     struct error *err)
{
	const struct avro_type *schema;
	struct schema_reading w = {.at = at, .names = avro_names_new(at->arena)};

	w.before = mem_calloc(REFERS_MOST, sizeof *w.before);
	int rc = read_schema(&w, answer, &schema, err);
	mem_free(w.before);
	if (rc)
		return rc;
	rc = avro_plan_new(plan, at->arena, schema, at->columns, err);
	return rc == RC_OK
		       ? rc
		       : error_prefix(err, "schema %u of the registry at %s: ", at->id, url_of(at));
}

int schema_answer_read(struct schema_found *out, const struct schema_place *at, struct bytes text,
		       struct error *err)
{
	json_t *answer = json_loadb((const char *)text.ptr, text.len, 0, NULL);
	json_t *schema = json_object_get(answer, "schema");
	const char *type = json_string_value(json_object_get(answer, "schemaType"));
	bool avro = at->columns->job->kafka.format == KAFKA_AVRO;
	int rc = RC_OK;

	*out = (struct schema_found){0};
	if (!json_is_string(schema))
		rc = no_answer(at,
			       "found another answer, expected a JSON object with a "
			       "`schema`",
			       err);
	else if (strcmp(type ? type : "AVRO", avro ? "AVRO" : "JSON") != 0)
		out->refusal = arena_strdup(at->arena, type ? type : "AVRO");
	else if (avro)
		rc = read_avro(at, answer, &out->plan, err);
	json_decref(answer);
	return rc;
}
