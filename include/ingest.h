/*
 * ingest.h - loads from Kafka: positions, ranges, and the protocol that ties both to a load
 *
 *   ingest_open, ingest_recover, [ingest_look -> ingest_load]*, ingest_close
 *
 * The conductor of the Kafka client (source/kafka.h), the state folder (state/state.h) and
 * load_run.
 */
#ifndef SALTMILL_INGEST_H
#define SALTMILL_INGEST_H

#include "load.h"
#include "kafka.h"
#include "state.h"

struct ingest {
	const struct job *job;
	struct load_options load; /* of the caller, and kafka */
	struct progress *progress;
	struct kafka_log log;
	struct kafka *client;
	bool batch;    /* one load, not a stream: patient for minutes, not for ever */
	bool borrowed; /* client: it serves others too */
	bool claimed;  /* the group has noted positions by this client */
	/* Tell the group in place of the client; NULL: the client does. */
	int (*tell)(void *ctx, const struct offset_range *ranges, size_t n, struct error *err);
	void *tell_ctx;
	struct state *state; /* NULL: no state folder */
	const char *state_dir;
	char cluster[64];
	bool looks; /* nothing is to be written */
	/* topics with positions, said to be not there, or not the job's, any more */
	const char **gone;
	size_t ngone, nmissing; /* the job's that are not there, of them */
	/* what can be loaded now: from the position to the end, by topic and partition */
	struct offset_range *ranges;
	size_t nranges;
	uint64_t available; /* offsets in them */
};

/*
 * load: output_dir is not looked at.  state_dir: NULL for none.  Everything that can be refused is:
 * another process on the state, another topic, a position that is gone, a group that is ahead.  The
 * group is told the positions, so that others at work on them show.  *in is {0} before, but for
 * batch, a client to borrow and tell; ingest_close is due whatever the result.
 */
int ingest_open(struct ingest *in, const struct job *job, const struct load_options *load,
		const char *state_dir, const struct kafka_log *log, struct progress *progress,
		struct error *err);
void ingest_close(struct ingest *in);

/*
 * Finish the load that a crash interrupted: publish it, or see that it is published.  *dir is its
 * folder, NULL when there was none; *result is to be released either way.
 */
int ingest_recover(struct ingest *in, const char **dir, struct load_result *result,
		   struct error *err);

/*
 * For who only looks: the ranges that a load would take now, of a kafka source; of others, and with
 * files in its place (nfiles), nothing is opened and in->client stays NULL.  Nothing is written,
 * locked, nor told to the group; a state must be there already.  memory_bytes: of the command; the
 * client takes a part.  As with ingest_open, *in is {0} before and ingest_close is due.
 */
int ingest_peek(struct ingest *in, const struct job *job, size_t nfiles, uint64_t memory_bytes,
		const char *state_dir, const struct kafka_log *log, struct error *err);
/* Its client and ranges. */
struct source_topic ingest_view(const struct ingest *in);

/* Ask the brokers what there is: ranges and available. */
int ingest_look(struct ingest *in, struct error *err);
/* The same from what they have answered for the job's partitions. */
int ingest_see(struct ingest *in, const struct kafka_topic *t, struct error *err);
/* Publish the ranges as dir; a range may have been cut shorter than ingest_look left it. */
int ingest_load(struct ingest *in, const char *dir, struct load_result *result, struct error *err);

/*
 * `saltmill load` of a topic: finish what a crash left, then load what is there now as
 * load->output_dir.  When the former was that very folder it is the result, and what came later is
 * for the next run.
 */
int ingest_batch(const struct job *job, const struct load_options *load, const char *state_dir,
		 const struct kafka_log *log, struct progress *progress, struct load_result *result,
		 struct error *err);

#endif
