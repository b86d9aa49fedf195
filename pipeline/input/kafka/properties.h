/*
 * properties.h - what librdkafka is told: our own settings, then the job's properties
 */
#ifndef SALTMILL_SOURCE_PROPERTIES_H
#define SALTMILL_SOURCE_PROPERTIES_H

#include "error.h"
#include "job.h"

struct property {
	const char *name, *value;
	bool secret;   /* its value is shown nowhere */
	bool optional; /* older librdkafkas do not have it */
};

/*
 * Call set for each property in order.  Secrets are looked up here, and wiped afterwards; RC_CONFIG
 * when one is not where the job says.  memory_bytes: what fetched messages may take.
 */
int properties_each(const struct job *job, uint64_t memory_bytes,
		    int (*set)(void *ctx, const struct property *p, struct error *err), void *ctx,
		    struct error *err);
/* The same of properties alone, which are told to somebody else. */
int properties_of(const struct job *job, const struct kafka_property *properties, size_t n,
		  int (*set)(void *ctx, const struct property *p, struct error *err), void *ctx,
		  struct error *err);

#endif
