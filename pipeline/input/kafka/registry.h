/*
 * registry.h - the schemas of messages, from a Confluent Schema Registry
 *
 * Confluent's wire format: a byte 0, the schema's number in 4 bytes, big-endian, then the value
 * (docs.confluent.io, "Formats, Serializers, and Deserializers", "Wire format").
 */
#ifndef SALTMILL_SOURCE_REGISTRY_H
#define SALTMILL_SOURCE_REGISTRY_H

#include "input/avro.h"
#include "job.h"
#include "error.h"

struct registry;

/* columns' members must outlive it.  Nothing is asked yet.  RC_CONFIG: a property is not right. */
int registry_open(struct registry **out, const struct typed_columns *columns, struct error *err);
void registry_close(struct registry *r); /* NULL is fine */

/*
 * Any thread.  What to take of a value by the schema of that number, until registry_close; NULL of
 * JSON.  A schema is asked for once.  RC_DATA: *why says that there is no such schema, or that it
 * is of another format.  RC_IO: the registry does not answer, however often and long it was asked
 * (the job's patience, or 30 s).  RC_CONFIG: the job's fields do not fit the schema.
 */
int registry_find(struct registry *r, uint32_t id, const struct avro_plan **plan,
		  struct reject *why, struct error *err);

#endif
