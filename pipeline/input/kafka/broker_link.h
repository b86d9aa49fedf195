/* broker_link.h - a short connection to a broker, for requests that librdkafka does not offer */
#ifndef SALTMILL_SOURCE_BROKER_LINK_H
#define SALTMILL_SOURCE_BROKER_LINK_H

#include "bytes.h"
#include "topic_ids.h"

struct broker_link {
	void *curl; /* of libcurl; NULL on a connection without TLS */
	int fd;	    /* -1 if there is no connection */
	double end; /* time limit by clock_seconds */
};

/* Return true if the properties require TLS. */
bool broker_access_has_tls(const struct broker_access *a);
/*
 * Connect to the next broker of `*list` and advance the list. Return false with `*more` false at
 * its end. Only TLS needs libcurl, which the caller has loaded, because libcurl and its libraries
 * take 6 MB of memory.
 */
bool broker_link_next(struct broker_link *l, const struct broker_access *a, const char **list,
		      bool *more);
bool broker_link_send(const struct broker_link *l, struct bytes b);
/* Read exactly `len` bytes into `to`. Return false if they do not come in time. */
bool broker_link_receive(const struct broker_link *l, uint8_t *to, size_t len);
void broker_link_close(struct broker_link *l);

#endif
