/* replay.h - read messages, repaired or not, from rejects.jsonl instead of from a broker */
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

/* The reason of a reject. A member is NULL if the line lacks it. */
struct replay_why {
	const char *reason, *field;
};
/*
 * Parse a line of rejects.jsonl. `place` is for messages. Return RC_DATA if the line is not a
 * message of the job's topics. The arena owns the message.
 */
int replay_line(struct bytes line, const char *place, const struct kafka_source *job,
		struct message *m, struct replay_why *why, struct arena *a, struct error *err);

/*
 * Read all of `path`. Return RC_DATA with path:line if a line is not a reject of the source's
 * topics.
 */
int replay_open(struct replay *r, const char *path, const struct kafka_source *job,
		struct error *err);
void replay_close(struct replay *r);

#endif
