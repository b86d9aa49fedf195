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
 * What builders give back in sorter_finish is where the read buffers live.  What is in memory is
 * spilled after all when others have forced the account over its limit meanwhile, or until a
 * quarter of the budget is free once anything was spilled.  sorter_finish merges spilled runs until
 * threads x runs x read_bytes is at most 3/4 of what is free then.
 */
#ifndef SALTMILL_SORT_PARTS_H
#define SALTMILL_SORT_PARTS_H

#include "large_values.h"
#include "radix.h"
#include "sorted_run.h"
#include "sorter.h"

enum {
	RUN_BYTES_USUAL = 8 << 20,
	RUN_BYTES_LIMIT = 1 << 30, /* with a huge record of 1 GiB behind, offsets fit in u32 */
	SPILL_BUFFER_BYTES = 128 << 10,
	READ_BYTES_MIN = 16 << 10, /* at once from disk */
	READ_BYTES_MAX = 64 << 10,
	LARGE_BYTES_LEAST = 64 << 10,
	UNSEEN_MAX = 64,
	RECORD_BYTES_MIN = 32 /* a builder takes run_bytes / 32 records: bounds its sort entries */
};

/* Records that come in order, on their way into a run. */
struct stretch {
	bool comes;	   /* those that come now are of one, and many */
	bool varies, wide; /* some keys have other lengths, some seqs another high half */
	struct run *run;   /* NULL: none is begun */
	struct run_writer writer;
	struct span_watch watch;
	struct buf first; /* its first string */
	struct buf last;  /* that of the record added last, where it is not watched */
	size_t min_len, max_len;
	uint64_t first_seq, last_seq; /* that it can take */
};

/* One thread's buffer.  Apart in memory: no false sharing. */
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
	struct span_watch watch;     /* over the records in data, but of the strings at unseen */
	uint32_t unseen[UNSEEN_MAX]; /* where in data the last ones lie */
	size_t nunseen;
	struct radix *radix; /* entries hold entries_cap each */
	size_t entries_cap;
	uint8_t *spill_buf;
	uint64_t held_bytes; /* accounted */
	struct stretch stretch;
	struct run **runs; /* owned until sorter_finish takes them */
	size_t nruns, runs_cap;
	size_t evicted; /* no run before this one is in memory */
	uint64_t spilled_bytes;
	uint64_t largest; /* payload */
	char apart[128];
};
/* Release the buffers, keep the runs. */
void run_builder_release(struct run_builder *b);
/*
 * Begin a run of at most `most` bytes: in memory while the budget lasts, else in the builder's
 * temporary file, which is then its alone until it ends.  run->codec is set.
 */
int run_builder_begin(struct run_builder *b, struct run_writer *w, struct run *run, size_t most,
		      struct error *err);
/* Add to the run of the stretch; payloads that go aside do not come here. */
int stretch_add(struct run_builder *b, const struct ordered_record *r, struct error *err);
/* Its run, if there is one, is as long as it gets. */
int stretch_end(struct run_builder *b, struct error *err);
void stretch_release(struct run_builder *b);
/* Spill what the builder has in memory until the budget has this much left, or nothing is there. */
int run_builder_evict(struct run_builder *b, uint64_t room, struct error *err);

struct sorter {
	struct sorter_options opt;
	char *temp_dir;
	struct run_builder *builders; /* threads */
	struct spill *spills;	      /* threads; builders and merge passes append */
	struct large_values *large;   /* threads */
	size_t large_bytes;	      /* payloads from here on are put aside */
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

void run_list_add(struct run ***runs, size_t *nruns, size_t *cap, struct run *run);

/* A merged iterator over runs; what sorter_range is made of. */
struct merge;
int merge_open(struct merge **out, struct sorter *s, struct run *const *runs, size_t nruns,
	       struct bytes lo, struct bytes hi, struct error *err);
int merge_next(struct merge *m, const struct item **out, struct error *err);
/* NULL is fine. */
void merge_close(struct merge *m);
/* The union of the runs' spans, as merge_open computed it. */
const struct key_span *merge_span(const struct merge *m);

/* Merge spilled runs until the block buffers of all threads fit in the budget. */
int sorter_compact(struct sorter *s, struct error *err);

#endif
