/*
 * sorter.h - sort more row records than fit in memory, and cut them at exact ranks
 *
 *   sorter_new
 *   sorter_builder, run_builder_add* (one builder a thread, no locks)
 *   sorter_finish
 *   sorter_totals, sorter_select, sorter_range* (any thread, any number at once)
 *   sorter_free
 *
 * Sorted runs stay in memory while the budget lasts, then go raw to unlinked temporary files: a
 * crash leaves nothing.  Order: key, secondary, seq (record.h), whatever thread added what when.
 */
#ifndef SALTMILL_SORTER_H
#define SALTMILL_SORTER_H

#include "key_weights.h"
#include "mem.h"
#include "record.h"

struct sorter_options {
	struct budget *budget;
	const char *temp_dir;	   /* used when the budget is too small; copied */
	unsigned threads;	   /* builders, and iterators that are open at once */
	size_t secondary_bytes;	   /* 0 or 8 */
	record_weigh *weigh;	   /* > 0; NULL: each weighs 1; called from any thread */
	const void *weigh_ctx;	   /* borrowed */
	struct usual_weight usual; /* {0}, or what weigh gives for these records */
	size_t run_bytes;	   /* of a builder's buffer, and as much for sorting it; 0: 8 MiB */
	size_t large_bytes;	   /* payloads from here on are put aside; 64 KiB at least */
	struct budget *quota;	   /* what temporary files may hold; NULL: no limit */
};

struct sorter_totals {
	uint64_t records;
	uint64_t weight;
	uint64_t run_bytes;	/* of all runs, in memory and on disk, large payloads included */
	uint64_t largest_bytes; /* payload */
	uint64_t spilled_bytes; /* ever written to temporary files, merge passes included */
	size_t runs;		/* left to merge */
	size_t spilled_runs;	/* of those, on disk */
};

struct sorter;
struct run_builder;

/* Create.  Nothing is allocated for a builder that is not used. */
struct sorter *sorter_new(const struct sorter_options *opt);
/* Release all.  Iterators must be closed.  NULL is fine. */
void sorter_free(struct sorter *s);

/* The builder of thread `worker` < threads; owned by the sorter, used by one thread at a time. */
struct run_builder *sorter_builder(struct sorter *s, unsigned worker);

/*
 * Copy a record in; flushes by itself when the buffer is full.  RC_LIMIT: key longer than
 * ROW_KEY_MAX, a record above 1 GiB, the quota.  RC_IO: the temporary folder is full or not there.
 */
int run_builder_add(struct run_builder *b, const struct record *r, struct error *err);
/*
 * About `bytes` bytes of records come that stand in the order of record.h, which the caller answers
 * for; goes_on: and behind those of the stretch before.  Each is then added by
 * run_builder_add_behind, which copies it and may do without sorting.  Errors are those of
 * run_builder_add.
 */
int run_builder_stretch(struct run_builder *b, uint64_t bytes, bool goes_on, struct error *err);
int run_builder_add_behind(struct run_builder *b, const struct ordered_record *r,
			   struct error *err);
/*
 * Without a copy: `bytes` bytes, and RECORD_SLACK, at *to for a batch whose seqs are all in
 * [first_seq, last_seq]; good until something else is done with the builder.  *to NULL: not for
 * these, run_builder_add has them.  run_builder_take then adds what was written there.
 */
int run_builder_room(struct run_builder *b, size_t bytes, uint64_t first_seq, uint64_t last_seq,
		     uint8_t **to, struct error *err);
void run_builder_take(struct run_builder *b, const struct record_batch *r);
/* The buffer holds a run's worth: the next add would sort it first. */
bool run_builder_full(const struct run_builder *b);
/* Sort what is there and emit it as a run.  Nothing there: nothing happens. */
int run_builder_flush(struct run_builder *b, struct error *err);

/* Flush all builders and release their buffers. */
int sorter_flush(struct sorter *s, struct error *err);
/*
 * The same; then, when there are more spilled runs than
 * block buffers of all threads fit in the budget, merge some into larger ones.  What the caller
 * will need while it reads is best forced on the budget before.
 */
int sorter_finish(struct sorter *s, struct error *err);

struct sorter_totals sorter_totals(const struct sorter *s);

/*
 * Exact boundaries, as key_weights.h asks for them; choice NULL: the nearest.  Depends only on the
 * multiset of records.  A target costs the
 * merge of what lies within choice->slack of it, and some blocks more.
 */
int sorter_select(struct sorter *s, unsigned threads, const uint64_t *targets, size_t n,
		  const struct split_choice *choice, struct split_point *out, struct error *err);

/* Both questions of key_weights.h, answered exactly on the sorter's threads; s is borrowed. */
struct key_weights sorter_weights(struct sorter *s);

/*
 * All records with lo <= key < hi in order; an empty lo starts at the first record, an empty hi
 * ends behind the last.  Buffers are the iterator's own.  On failure *out is not set.
 */
int sorter_range(struct sorter *s, struct bytes lo, struct bytes hi, struct record_iter *out,
		 struct error *err);

#endif
