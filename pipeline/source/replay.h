/*
 * replay.h - messages from rejects.jsonl, repaired or not, instead of from a broker
 */
#ifndef SALTMILL_SOURCE_REPLAY_H
#define SALTMILL_SOURCE_REPLAY_H

#include "mem.h"
#include "source.h"

struct replay {
	struct source_file file;
	struct message *messages; /* in the order of the file */
	size_t count;
	struct arena arena;
};

/* Read all of path, RC_DATA with path:line when a line is not one of rejects.jsonl's for the
 * source's topics. */
int replay_open(struct replay *r, const char *path, const struct kafka_source *job,
		struct error *err);
void replay_close(struct replay *r);

#endif
