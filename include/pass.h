/*
 * pass.h - read events into sorters, and decide regions, compression and shares of memory
 *
 *   pass_open, pass_prepare, pass_run, pass_sort, pass_close   input to sorted rows
 *   memory_plan_make                                           shares of --memory
 *   cell_sample_write, measure_disk_ratio, tuning_decide       measure on a sample of cells
 *   existing_regions_read, regions_decide, kept_plan_read      regions of tables
 *
 * Implemented in pipeline/load/first_pass. The memory shares are chosen in memory.c, which lists
 * them in a table. The stages account for their memory in the run's struct budget (mem.h).
 */
#ifndef SALTMILL_PASS_H
#define SALTMILL_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cut.h"
#include "sorter.h"
#include "job.h"
#include "publish.h"
#include "row.h"
#include "run.h"
#include "source.h"
#include "splits.h"
#include "hfile.h"

/* The input of memory_plan_make. */
struct memory_need {
	uint64_t limit;	  /* --memory, bytes */
	unsigned threads; /* threads that the run wants, at least 1 */
	size_t tables;
	bool topic;	  /* a Kafka client needs memory for messages */
	bool even_pieces; /* pieces of input have one size, independent of the memory */
};

/* The shares, in bytes. */
struct memory_plan {
	uint64_t limit;
	unsigned threads;      /* threads that the memory suffices for: 1 up to the wanted number */
	uint64_t topic_bytes;  /* messages that a Kafka client has fetched; 0: no client */
	size_t piece_bytes;    /* input that a thread takes at once */
	uint64_t pieces_bytes; /* pieces of all threads together, including rows being built */
	size_t run_bytes;      /* records that a thread gathers for a table before it sorts them */
	uint64_t row_bytes;    /* longest input row: the copies of a longer row do not fit */
	/* payloads of this size or more are put aside while records are sorted */
	size_t large_bytes;
	uint64_t gather_bytes; /* part of a row that a thread gathers before it writes it */
};

/*
 * Choose the shares. Less memory gives smaller buffers, then fewer threads; the result is slower
 * but the same. The total fits in limit from 16 MiB on, for up to one table for each 16 KiB.
 */
struct memory_plan memory_plan_make(const struct memory_need *need);

/* Return how much a Kafka client may fetch ahead in a command with this limit. */
uint64_t memory_topic_bytes(uint64_t limit);
/*
 * Return the buffer size for each open file of a writing thread, for a table with this many
 * families.
 */
size_t memory_file_buffer(const struct memory_plan *m, size_t families);
/* Return how many threads may write at once, at least 1, if each uses thread_bytes. */
unsigned memory_writers(const struct memory_plan *m, uint64_t thread_bytes);

/* --- cell samples: a small part of a table's rows, written to measure it --- */

/* The rows to sample, among all rows of a sorter. */
struct cell_sample {
	uint64_t bytes;	   /* about so many bytes of uncompressed cells */
	uint64_t row_most; /* rows with a larger weight are left out; 0: none */
	bool (*wanted)(const void *ctx, struct bytes key); /* rows that are candidates; NULL: all */
	const void *ctx;
};

/*
 * Write the rows after 16 places, evenly spread over the rows' weight, as one HFile for each family
 * into t->hfiles_dir, which is created. The result depends only on the rows, not on threads, runs
 * or time.
 */
int cell_sample_write(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		      const struct cell_sample *sample, struct cut_result *files,
		      struct error *err);

/*
 * --- pass: the first half of every command that reads events: source -> row -> sort ---
 *
 *   pass_open       opens the source and binds it to the job's columns; detects all invalid input
 *   pass_prepare    creates rejects, and a sorter for each table
 *   pass_run        all threads take pieces of the input and encode their events
 *   pass_sort       makes the sorters ready for reading
 *   pass_close
 *
 * load, plan and drift each run one pass with their own options.
 */

struct pass_options {
	const struct job *job;
	const struct run_options *run;
	const struct input *input;  /* NULL: nothing is read, the caller fills the sorters */
	const char *const *columns; /* without an input: the columns of the rows */
	size_t ncolumns;
	double fraction;  /* part of the input to read, evenly spread; 0: all */
	bool even_pieces; /* pieces have the same size on any machine; needed to choose by pieces */
	struct event_limit limit;
	struct progress *progress;
	const bool *wanted; /* [job->ntables]: tables that need a sorter; NULL: all */
	/* The context of the callbacks below; a worker number belongs to one thread. */
	void *ctx;
	/* Receives each record of a wanted table. NULL: it goes into the table's sorter. */
	int (*record)(void *ctx, unsigned worker, size_t table, const struct record *r,
		      struct error *err);
	/* Called after each piece of input (source_worker_piece); may be NULL. */
	int (*piece_end)(void *ctx, unsigned worker, uint64_t piece, struct error *err);
	/* A thread ends without its piece_end, so no thread may wait for it. May be NULL. */
	void (*abandon)(void *ctx);
};

struct pass_table {
	struct row_weigher weigher;
	struct sorter *sorter; /* NULL: not wanted */
	uint64_t filtered;     /* after pass_run: events without a cell for the table */
};

/* A pass; it must not be moved between pass_open and pass_close. */
struct pass {
	struct pass_options opt;
	struct memory_plan memory;
	struct budget budget, quota; /* for memory and for temporary files */
	struct source *source;	     /* NULL: none, the columns were given */
	struct row_plan *plan;
	struct rejects *rejects;
	const char *temp_dir;
	struct pass_table *tables; /* [job->ntables] */
	_Atomic bool failed;	   /* a thread failed: the others may stop */
	/* after pass_run */
	uint64_t events, rejected, blank_lines;
	int64_t newest_ms; /* newest cell timestamp; 0: none */
};

/*
 * Open the source. *p is {0} before. Call pass_close whatever the result of this and later calls.
 */
int pass_open(struct pass *p, const struct pass_options *opt, struct error *err);
/* Prepare the sorters. temp_dir: for temporary files; borrowed. */
int pass_prepare(struct pass *p, const char *temp_dir, struct error *err);
/*
 * Read all input. RC_DATA: more rejects than the limit; the message is about the first event too
 * many in input order, whatever the threads. Afterwards the builders have released their memory.
 */
int pass_run(struct pass *p, struct error *err);
/* Release the builders' memory; for callers that fill the sorters without pass_run. */
int pass_flush(struct pass *p, struct error *err);
/* Check the limit of rejects, as pass_run does at its end. */
int pass_judge(struct pass *p, struct error *err);
/*
 * Call sorter_finish for all sorters. First force the memory that you need while reading on the
 * budget (budget_force).
 */
int pass_sort(struct pass *p, struct error *err);
/* Free the sorters when they are not read any more. */
void pass_free_sorters(struct pass *p);
void pass_close(struct pass *p);

/*
 * Return the options for writing the table's rows, except hfiles_dir, created_ms, helpers and
 * syncer.
 */
struct cut_table pass_cut_table(struct pass *p, size_t table);

/* --- disk ratio: the disk size of a table's cells, from a sample --- */

/*
 * Measure disk bytes per byte of uncompressed cells, without HFILE_TRAILER_BYTES for each file. A
 * sample is written with the table's own codec and encoding in work_dir, a folder that is created
 * and removed. 1 if there are no cells.
 */
int measure_disk_ratio(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		       const struct cell_sample *sample, const char *work_dir, double *ratio,
		       struct error *err);

/* --- tuning: `compression: {codec: ZSTD, level: auto}`, settings from the table's own cells --- */

/* True if a family has `level: auto`. */
bool tuning_asked(const struct table *schema);
/*
 * If families have `level: auto`: try settings on cells from evenly spaced places of the key space,
 * and replace t->table by a copy (in the arena) with the best ones. *tuned has an entry for each
 * family; level 0 means not requested, or no cells. Otherwise *tuned is NULL. work_dir is a folder
 * that is created and removed.
 */
int tuning_decide(struct cut_table *t, struct sorter *sorter, unsigned threads,
		  const char *work_dir, struct arena *a, struct hfile_tuning **tuned,
		  struct error *err);

/*
 * Replace t->table by a copy (in the arena) with these settings: an entry for each family, level 0:
 * none.
 */
void tuning_apply(struct cut_table *t, const struct hfile_tuning *tuned, struct arena *a);
/* Make the manifest's form of the settings, in the arena; tuned NULL: none. Returns how many. */
size_t tuning_describe(const struct table *schema, const struct hfile_tuning *tuned,
		       struct arena *a, struct manifest_tuning **out);

/*
 * --- existing regions: `--existing FILE`, `--existing TABLE=FILE` or `--hbase HOST,...` ---
 *
 *   existing_regions_add (while options are parsed), existing_regions_read,
 *   existing_regions_release
 */

struct existing_regions {
	const char **specs; /* borrowed texts */
	size_t nspecs;
	const char *servers;	  /* of a live HBase (hbase_open); NULL: none */
	struct listener listener; /* receives warnings about the live cluster (hbase.h) */
	bool any;		  /* accept tables whose attributes differ from the job's */
	bool loads;		  /* for drift: also read the size and requests of regions */
	/* with loads: [ntables][regions], requests since the region was opened; EXISTING_UNKNOWN */
	uint64_t **requests;
	struct existing *tables; /* [ntables of the job], after existing_regions_read */
	bool *given;		 /* [ntables] */
	size_t ntables;
};

void existing_regions_add(struct existing_regions *l, const char *spec);
/* True if there is something to read. */
static inline bool existing_regions_asked(const struct existing_regions *l)
{
	return l->nspecs > 0 || l->servers;
}
/*
 * Read the files, or the regions of a live HBase. A FILE without TABLE belongs to the job's only
 * table, or names its table in list_regions' form. RC_CONFIG: no such table, two files for one
 * table, or another table's regions. From a live HBase all existing tables of the job are read;
 * RC_CONFIG: one has other attributes.
 */
int existing_regions_read(struct existing_regions *l, const struct job *job, struct error *err);
/* Return a table's regions; NULL: not given. */
const struct existing *existing_regions_table(const struct existing_regions *l, size_t table);
void existing_regions_release(struct existing_regions *l);

/* --- regions: choose a table's split keys from the job and the sorted rows --- */

/*
 * Fill *out. *wanted is the number of regions that the job and the data ask for; 0 if *out is
 * complete. `sampled` uses divide (splits.h) with the exact weights of the sorter. If the job gives
 * a size, samples compressed with the table's own codec and encoding give the number of regions;
 * they are written in work_dir, a folder that is created and removed.
 */
int regions_decide(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		   const char *work_dir, struct splits *out, size_t *wanted, struct error *err);

/* Do the same without data if possible; RC_END: the data decides, and *out is unchanged. */
int regions_without_data(const struct regions *r, struct splits *out, struct error *err);
/* Compute count regions by the HBase algorithm that the job names; RC_END: it names none. */
int regions_computed(const struct regions *r, uint32_t count, struct splits *out,
		     struct error *err);
/* Get the HBase algorithm that the job names; false: none. */
bool regions_algorithm(const struct regions *r, enum split_algorithm *a);

/*
 * --- kept plan: `--plan DIR` of load, map, reduce and unite ---
 *
 * `plan -o DIR` writes it. Runs with the same plan cut the same regions with the same settings, so
 * the parts of a load that were made separately fit together.
 */

struct kept_table {
	struct splits splits;
	double disk_per_byte;	    /* 0: no rows were read */
	struct hfile_tuning *tuned; /* [families]; NULL: no family has `level: auto` */
};

struct kept_plan {
	const char **columns; /* of the input */
	size_t ncolumns;
	struct kept_table *tables; /* [ntables of the job] */
	size_t ntables;
	uint8_t identity[16]; /* digest of the program's version, the job, and all of this struct */
	struct arena arena;
};

/*
 * Read the plan in dir. RC_CONFIG: it is for another job, or the job has `level: auto` and the plan
 * was not tuned.
 */
int kept_plan_read(struct kept_plan *k, const char *dir, const struct job *job, struct error *err);
/* RC_DATA: the input's columns differ from the plan's. */
int kept_plan_columns(const struct kept_plan *k, const char *const *columns, size_t n,
		      const char *input, struct error *err);
void kept_plan_release(struct kept_plan *k);

#endif
