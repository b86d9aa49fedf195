/*
 * parts.h - declarations that the files of this room share
 *
 * The budget counts all of this memory:
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
 * In sorter_finish, builders release their memory, and read buffers use the released memory. If
 * forced memory exceeds the budget, the builders spill runs in memory. After the first spill, they
 * spill runs until a quarter of the budget is free. sorter_finish merges spilled runs until threads
 * x runs x read_bytes is at most 3/4 of the free budget.
 */
#ifndef SALTMILL_SORT_PARTS_H
#define SALTMILL_SORT_PARTS_H

#include "large_values.h"
#include "radix.h"
#include "sorted_run.h"
#include "sorter.h"

enum {
	RUN_BYTES_USUAL = 8 << 20,
	/* a run plus a last record of 1 GiB still has offsets that fit in u32 */
	RUN_BYTES_LIMIT = 1 << 30,
	SPILL_BUFFER_BYTES = 128 << 10,
	READ_BYTES_MIN = 16 << 10, /* least bytes of a read from disk */
	READ_BYTES_MAX = 64 << 10,
	LARGE_BYTES_LEAST = 64 << 10,
	UNSEEN_MAX = 64,
	/* a builder takes run_bytes / 32 records, which bounds its sort entries */
	RECORD_BYTES_MIN = 32
};

/* A run of packed records that arrive in order. */
struct stretch {
	bool comes;	 /* many records arrive in order */
	struct run *run; /* NULL means that no run is open */
	struct run_codec codec;
	struct run_writer writer;
	struct span_watch watch;
	struct buf first, last;	 /* strings of the first and the last record */
	size_t min_len, max_len; /* of the keys */
};

/* The buffer of one thread. `apart` keeps the buffers of two threads in separate cache lines. */
struct run_builder {
	struct sorter *sorter;
	struct spill *spill;
	struct large_values *large;
	uint8_t *data; /* `cap` bytes and SLACK_BYTES */
	size_t used, cap;
	size_t records, records_max;
	uint64_t first_seq, last_seq;
	uint64_t least_seq, largest_seq;
	bool seq_rises;
	bool any_seq;		 /* each record has its own high half of seq */
	struct span_watch watch; /* covers the records in `data`, except the strings at `unseen` */
	uint32_t unseen[UNSEEN_MAX]; /* offsets in `data` of the last strings */
	size_t nunseen;
	struct radix *radix; /* each array has entries_cap entries */
	size_t entries_cap;
	uint8_t *spill_buf;
	uint64_t held_bytes; /* bytes that the budget counts for this builder */
	struct stretch stretch;
	struct run **runs; /* runs of this builder, until sorter_finish takes the list */
	size_t nruns;
	size_t evicted; /* index of the first run that may be in memory */
	uint64_t spilled_bytes;
	uint64_t largest; /* bytes of the largest payload */
	char apart[128];
};
/* Release the buffers but keep the runs. */
void run_builder_release(struct run_builder *b);
/*
 * Begin a run of at most `most` bytes. The run is in memory if the budget allows it, else in the
 * builder's temporary file. No other run may use the file until this one ends. The caller has set
 * run->codec.
 */
int run_builder_begin(struct run_builder *b, struct run_writer *w, struct run *run, size_t most,
		      struct error *err);
/* End the run of the stretch, if there is one. */
int stretch_end(struct run_builder *b, struct error *err);
void stretch_release(struct run_builder *b);
/* Spill the builder's runs until the budget has `room` free bytes, or no run is in memory. */
int run_builder_evict(struct run_builder *b, uint64_t room, struct error *err);

struct sorter {
	struct sorter_options opt;
	char *temp_dir;
	struct run_builder *builders; /* the builders, one for each thread */
	/* temporary files, one for each thread; builders and merge passes append to them */
	struct spill *spills;
	struct large_values *large; /* large payloads, one list for each thread */
	size_t large_bytes; /* the sorter stores payloads of at least this size separately */
	struct run **runs;  /* the runs, which sorter_finish sets */
	size_t nruns;
	uint64_t spilled_bytes;
	size_t read_bytes; /* bytes of a block buffer */
	bool finished;
};

static inline struct weigher sorter_weigher(const struct sorter *s)
{
	return (struct weigher){s->opt.weigh, s->opt.weigh_ctx, s->opt.usual};
}

void run_list_add(struct run ***runs, size_t *nruns, struct run *run);

/* Iterates over several runs in order. sorter_range wraps this iterator. */
struct merge;
int merge_open(struct merge **out, struct sorter *s, struct run *const *runs, size_t nruns,
	       struct bytes lo, struct bytes hi, struct error *err);
int merge_next(struct merge *m, const struct record_item **out, struct error *err);
/* Close the merge. `m` may be NULL. */
void merge_close(struct merge *m);
/* Return the union of the runs' spans, which merge_open computed. */
const struct key_span *merge_span(const struct merge *m);

/*
 * If the builder has spilled many runs, and many are in memory, merge those in memory into one on
 * disk. No run may be open in the builder's temporary file. Returns the errors of run_builder_add, or
 * RC_STOPPED; the runs then stay as they are.
 */
int run_builder_compact(struct run_builder *b, struct error *err);
/* Merge spilled runs until the block buffers of all threads fit in the budget. */
int sorter_compact(struct sorter *s, struct error *err);

#endif
