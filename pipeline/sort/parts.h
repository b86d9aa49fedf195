/*
 * parts.h - what the files of this room share
 *
 * Memory, all through the budget:
 *
 *   while adding   threads x (buffer run_bytes + sort entries <= run_bytes)  forced: 2 x run_bytes
 *                  threads x write buffer SPILL_BUFFER_BYTES, once it spills  forced
 *                  runs in memory: their bytes (while written: the most       taken, else spilled
 *                  that those of the buffer may become, or
 *                  run_bytes of records that come in order)
 *                  indexes: about 24 bytes and a key for 8 KiB of run         forced
 *                  large payloads (large_values.h): their bytes               taken, else spilled
 *   while reading  iterators x spilled runs x read_bytes                      forced
 *                  iterators x runs x 4 KiB, or two keys                      forced
 *                  iterators x one large payload                              forced
 *
 * In sorter_finish builders release their memory, and read buffers take its place. Runs in memory
 * are spilled if others have forced the account over its limit, or until a quarter of the budget is
 * free once something was spilled. sorter_finish merges spilled runs until threads x runs x
 * read_bytes is at most 3/4 of the free budget.
 */
#ifndef SALTMILL_SORT_PARTS_H
#define SALTMILL_SORT_PARTS_H

#include "large_values.h"
#include "radix.h"
#include "sorted_run.h"
#include "sorter.h"

enum {
	RUN_BYTES_USUAL = 8 << 20,
	/* offsets fit in u32 even with a huge record of 1 GiB at the end */
	RUN_BYTES_LIMIT = 1 << 30,
	SPILL_BUFFER_BYTES = 128 << 10,
	READ_BYTES_MIN = 16 << 10, /* least bytes of one read from disk */
	READ_BYTES_MAX = 64 << 10,
	LARGE_BYTES_LEAST = 64 << 10,
	UNSEEN_MAX = 64,
	/* a builder takes run_bytes / 32 records, which bounds its sort entries */
	RECORD_BYTES_MIN = 32
};

/* Records that come in order, on their way into a run. */
struct stretch {
	bool comes;	   /* the records that come now are in order, and many */
	bool varies, wide; /* varies: keys differ in length; wide: seqs differ in their high half */
	struct run *run;   /* NULL: none is begun */
	struct run_writer writer;
	struct span_watch watch;
	struct buf first; /* its first string */
	struct buf last;  /* the last record's string, if it is not watched */
	size_t min_len, max_len;
	uint64_t first_seq, last_seq; /* the range of seqs that the run can take */
};

/* One thread's buffer. Apart in memory, to avoid false sharing. */
struct run_builder {
	struct sorter *sorter;
	struct spill *spill;
	struct large_values *large;
	uint8_t *data; /* SLACK_BYTES longer than cap */
	size_t used, cap;
	size_t records, records_max;
	uint64_t first_seq, last_seq;
	uint64_t least_seq, largest_seq;
	bool seq_rises;
	bool any_seq;		     /* each record has its own high half of seq */
	struct span_watch watch;     /* over the records in data, except the strings at unseen */
	uint32_t unseen[UNSEEN_MAX]; /* places of the last strings in data */
	size_t nunseen;
	struct radix *radix; /* entries hold entries_cap each */
	size_t entries_cap;
	uint8_t *spill_buf;
	uint64_t held_bytes; /* accounted */
	struct stretch stretch;
	struct run **runs; /* owned until sorter_finish takes them */
	size_t nruns;
	size_t evicted; /* no run before this one is in memory */
	uint64_t spilled_bytes;
	uint64_t largest; /* payload */
	char apart[128];
};
/* Release the buffers, keep the runs. */
void run_builder_release(struct run_builder *b);
/*
 * Begin a run of at most `most` bytes: in memory if the budget allows, else in the builder's
 * temporary file, which no other run may use until this one ends. run->codec is set.
 */
int run_builder_begin(struct run_builder *b, struct run_writer *w, struct run *run, size_t most,
		      struct error *err);
/* Add to the run of the stretch; payloads must not be large enough to go aside. */
int stretch_add(struct run_builder *b, const struct ordered_record *r, struct error *err);
/* End the run of the stretch, if there is one. */
int stretch_end(struct run_builder *b, struct error *err);
void stretch_release(struct run_builder *b);
/* Spill the builder's runs until the budget has this much room, or none is in memory. */
int run_builder_evict(struct run_builder *b, uint64_t room, struct error *err);

struct sorter {
	struct sorter_options opt;
	char *temp_dir;
	struct run_builder *builders; /* threads */
	struct spill *spills;	      /* threads; builders and merge passes append */
	struct large_values *large;   /* threads */
	size_t large_bytes;	      /* payloads of this size and above are put aside */
	struct run **runs;	      /* after sorter_finish */
	size_t nruns;
	uint64_t spilled_bytes;
	size_t read_bytes; /* of a block buffer */
	bool finished;
};

static inline struct weigher sorter_weigher(const struct sorter *s)
{
	return (struct weigher){s->opt.weigh, s->opt.weigh_ctx, s->opt.usual};
}

void run_list_add(struct run ***runs, size_t *nruns, struct run *run);

/* A merged iterator over runs; sorter_range consists of it. */
struct merge;
int merge_open(struct merge **out, struct sorter *s, struct run *const *runs, size_t nruns,
	       struct bytes lo, struct bytes hi, struct error *err);
int merge_next(struct merge *m, const struct record_item **out, struct error *err);
/* NULL is fine. */
void merge_close(struct merge *m);
/* The union of the runs' spans, as merge_open computed it. */
const struct key_span *merge_span(const struct merge *m);

/* Merge spilled runs until the block buffers of all threads fit in the budget. */
int sorter_compact(struct sorter *s, struct error *err);

#endif
