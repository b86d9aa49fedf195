/*
 * registry.h - the schemas of messages, from a Confluent Schema Registry
 *
 * Confluent's wire format: a byte 0, the schema ID in 4 bytes, big-endian, then the value
 * (docs.confluent.io, "Formats, Serializers, and Deserializers", "Wire format").
 */
#ifndef SALTMILL_SOURCE_REGISTRY_H
#define SALTMILL_SOURCE_REGISTRY_H

#include "input/avro.h"
#include "job.h"
#include "error.h"

struct registry;

/*
 * Open a registry; this sends no request. The members of columns must outlive it. RC_CONFIG: a
 * property is invalid.
 */
int registry_open(struct registry **out, const struct typed_columns *columns, struct error *err);
void registry_close(struct registry *r); /* r may be NULL */

/*
 * Find the plan for values of a schema ID; any thread may call it. *plan is valid until
 * registry_close; NULL for JSON. Each schema is requested once. RC_DATA: no such schema, or another
 * format (*why). RC_IO: the registry did not answer within the job's patience, or 30 s. RC_CONFIG:
 * the job's fields do not fit the schema.
 */
int registry_find(struct registry *r, uint32_t id, const struct avro_plan **plan,
		  struct reject *why, struct error *err);

#endif
