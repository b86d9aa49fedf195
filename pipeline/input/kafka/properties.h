/* properties.h - set librdkafka's properties, first saltmill's own settings, then the job's */
#ifndef SALTMILL_SOURCE_PROPERTIES_H
#define SALTMILL_SOURCE_PROPERTIES_H

#include "error.h"
#include "job.h"

struct property {
	const char *name, *value;
	bool secret;   /* no message may show the value */
	bool optional; /* some versions and builds of librdkafka lack the property */
};

/*
 * Call `set` for each property in order. The function reads secrets and wipes them afterwards.
 * `memory_bytes` limits the fetched messages. Return RC_CONFIG if the file or variable of a secret
 * does not exist.
 */
int properties_each(const struct job *job, uint64_t memory_bytes,
		    int (*set)(void *ctx, const struct property *p, struct error *err), void *ctx,
		    struct error *err);
/* Call `set` only for the given properties, which are for another client. */
int properties_of(const struct job *job, const struct kafka_property *properties, size_t n,
		  int (*set)(void *ctx, const struct property *p, struct error *err), void *ctx,
		  struct error *err);
/*
 * Return true if the brokers get the Kerberos ticket of this process (login_ticket). The job then
 * asks for GSSAPI, and names no keytab for librdkafka's own `kinit`.
 */
bool properties_use_our_ticket(const struct job *job);

#endif
