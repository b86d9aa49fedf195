/*
 * topic_ids.h - query the ids of topics, because a recreated topic has another id
 *
 * librdkafka has no call for ids before 2.3 (Debian 12 has 2.0.2). So topic_ids.c sends Kafka's
 * requests ApiVersions and Metadata over a short connection, after librdkafka has reached the
 * brokers.
 */
#ifndef SALTMILL_SOURCE_TOPIC_IDS_H
#define SALTMILL_SOURCE_TOPIC_IDS_H

#include "bytes.h"
#include "properties.h"

/* Properties of the job that define how to connect. */
enum access_key {
	ACCESS_PROTOCOL,
	ACCESS_MECHANISM,
	ACCESS_USER,
	ACCESS_PASSWORD,
	ACCESS_CA,
	ACCESS_CERTIFICATE,
	ACCESS_KEY,
	ACCESS_KEY_PASSWORD,
	ACCESS_VERIFY,	    /* "false" means to trust any certificate */
	ACCESS_VERIFY_NAME, /* "none" means to accept any name */
	ACCESS_KEYS
};

struct broker_access {
	char *value[ACCESS_KEYS]; /* owned; NULL means the default */
	bool beyond;		  /* a property requires a feature that this client lacks */
};

/* Keep a property if the property defines how to connect. */
void broker_access_note(struct broker_access *a, const struct property *p);
void broker_access_release(struct broker_access *a);

#define TOPIC_ID_SIZE 23 /* 16 bytes in base64, as Kafka's tools print them */

struct topic_id {
	const char *name;
	char id[TOPIC_ID_SIZE]; /* "" if the topic does not exist, or if the brokers have no ids */
};

/*
 * Query the ids of `n` topics from the first broker of the list that answers. Wait at most 5 s.
 * Return false if there is no answer. Then the topic gets no id, and `*why` is the reason.
 */
bool topic_ids_ask(const struct broker_access *a, const char *brokers, struct topic_id *t, size_t n,
		   const char **why);

/* Read the body of a Metadata response (version 10). Return false if the body is damaged. */
bool topic_ids_read(struct bytes answer, struct topic_id *t, size_t n);

#endif
