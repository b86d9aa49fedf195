/*
 * registry_schemas.h - read the answers of a schema registry, without its connection
 */
#ifndef SALTMILL_SOURCE_REGISTRY_SCHEMAS_H
#define SALTMILL_SOURCE_REGISTRY_SCHEMAS_H

#include "input/avro.h"
#include "job.h"
#include "error.h"

/* The schema of an ID, for the messages of a job. */
struct schema_place {
	uint32_t id;
	const struct typed_columns *columns; /* of the job whose source is Kafka */
	struct arena *arena;		     /* keeps all schemas so far */
	/*
	 * Request the version of a subject to which schema `id` refers. `answer` is valid until the
	 * next call.
	 */
	int (*version)(void *ctx, uint32_t id, const char *subject, long long version,
		       struct bytes *answer, struct error *err);
	void *ctx;
};

struct schema_found {
	const char *refusal; /* the format of the schema if the job expects another; else NULL */
	const struct avro_plan *plan; /* NULL for JSON */
};

bool schema_answer_is_json(struct bytes answer);
/*
 * Read the answer to the request for schema `at->id`. Returns RC_DATA if the answer, or the schema of
 * a reference, is wrong. Returns RC_CONFIG if the job's fields do not fit the schema.
 */
int schema_answer_read(struct schema_found *out, const struct schema_place *at, struct bytes text,
		       struct error *err);

#endif
