/*
 * registry.h - get the schemas of messages from a Confluent Schema Registry
 *
 * In Confluent's wire format a message begins with a byte 0 and the schema ID in 4 bytes,
 * big-endian. The value follows (docs.confluent.io, "Formats, Serializers, and Deserializers",
 * "Wire format").
 */
#ifndef SALTMILL_SOURCE_REGISTRY_H
#define SALTMILL_SOURCE_REGISTRY_H

#include "input/avro.h"
#include "job.h"
#include "error.h"

struct registry;

/*
 * Open a registry without sending a request. The members of `columns` must outlive the registry.
 * Return RC_CONFIG if a property is invalid.
 */
int registry_open(struct registry **out, const struct typed_columns *columns, struct error *err);
void registry_close(struct registry *r); /* `r` may be NULL */

/*
 * Find the plan for values of a schema ID. Any thread may call this function. `*plan` is valid
 * until registry_close, and NULL for JSON. The client requests each schema once. Return RC_DATA
 * with `*why` if the schema does not exist or has another format. Return RC_IO if the registry did
 * not answer within the job's patience, or 30 s. Return RC_CONFIG if the job's fields do not fit
 * the schema.
 */
int registry_find(struct registry *r, uint32_t id, const struct avro_plan **plan,
		  struct reject *why, struct error *err);

#endif
