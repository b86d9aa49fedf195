/* properties.h - librdkafka's properties: saltmill's own settings, then the job's */
#ifndef SALTMILL_SOURCE_PROPERTIES_H
#define SALTMILL_SOURCE_PROPERTIES_H

#include "error.h"
#include "job.h"

struct property {
	const char *name, *value;
	bool secret;   /* no message may show its value */
	bool optional; /* older versions of librdkafka lack it */
};

/*
 * Call set for each property in order. Secrets are read here and wiped afterwards. RC_CONFIG: a
 * secret is not where the job says. memory_bytes: limit for fetched messages.
 */
int properties_each(const struct job *job, uint64_t memory_bytes,
		    int (*set)(void *ctx, const struct property *p, struct error *err), void *ctx,
		    struct error *err);
/* Call set for these properties only, which are for another client. */
int properties_of(const struct job *job, const struct kafka_property *properties, size_t n,
		  int (*set)(void *ctx, const struct property *p, struct error *err), void *ctx,
		  struct error *err);

#endif
