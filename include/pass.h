/*
 * pass.h - read events into sorters, and choose regions, compression and shares of memory
 *
 *   pass_open, pass_prepare, pass_run, pass_sort, pass_close   input to sorted rows
 *   memory_plan_make                                           shares of --memory
 *   cell_sample_write, measure_disk_ratio, tuning_decide       measure a sample of cells
 *   existing_regions_read, regions_decide, kept_plan_read      regions of tables
 *
 * Implemented in pipeline/load/first_pass. memory.c chooses the shares of memory and lists them in
 * a table. The stages account for their memory in the run's struct budget (mem.h).
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
	uint64_t limit;	  /* `--memory` in bytes */
	unsigned threads; /* threads that the run wants, at least 1 */
	size_t tables;
	bool topic;	  /* the input is a topic, so a Kafka client needs memory for messages */
	bool even_pieces; /* true if pieces of input must have the same size whatever the memory */
};

/* The shares, in bytes. */
struct memory_plan {
	uint64_t limit;
	/* number of threads that the memory suffices for, from 1 to need.threads */
	unsigned threads;
	uint64_t topic_bytes;  /* messages that a Kafka client fetches ahead; 0 means no client */
	size_t piece_bytes;    /* input that a thread takes at once */
	uint64_t pieces_bytes; /* pieces of all threads together, including unfinished rows */
	size_t run_bytes;      /* records that a thread gathers for a table before it sorts them */
	/* longest allowed input row; copies of a longer row would not fit in memory */
	uint64_t row_bytes;
	/* the sort stores payloads of at least this size separately */
	size_t large_bytes;
	uint64_t gather_bytes; /* part of a row that a thread gathers before it writes it */
};

/*
 * Choose the shares. With less memory, buffers become smaller first, and then the number of
 * threads. The load is slower but has the same bytes. The total fits in `limit` if `limit` is at
 * least 16 MiB plus 16 KiB for each table.
 */
struct memory_plan memory_plan_make(const struct memory_need *need);

/* Return how many bytes a Kafka client may fetch ahead if --memory is `limit`. */
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
	uint64_t bytes;	   /* approximate bytes of uncompressed cells */
	uint64_t row_most; /* the reader omits rows with a larger weight; 0 means no limit */
	/* returns true for candidate rows; NULL means that all rows are candidates */
	bool (*wanted)(const void *ctx, struct bytes key);
	const void *ctx;
	/* NULL, or receives the weight of the sample's rows, including overwritten cells */
	uint64_t *weight;
};

/*
 * Write a sample of rows as one HFile for each family. The call creates t->hfiles_dir for the
 * files. The sample has the rows after at most 16 points, which divide the rows' weight evenly. The
 * sample depends only on the rows, not on threads, runs or time.
 */
int cell_sample_write(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		      const struct cell_sample *sample, struct cut_result *files,
		      struct error *err);

/*
 * --- pass: the first half of every command that reads events: source -> row -> sort ---
 *
 *   pass_open       opens the source, binds it to the job's columns and detects all invalid input
 *   pass_prepare    creates rejects, and a sorter for each table
 *   pass_run        all threads take pieces of the input and encode their events
 *   pass_sort       makes the sorters ready for reading
 *   pass_close
 *
 * load, plan and drift each run one pass with different options.
 */

struct pass_options {
	const struct job *job;
	const struct run_options *run;
	const struct input *input;  /* NULL means that the caller fills the sorters */
	const char *const *columns; /* the columns of the rows, if there is no input */
	size_t ncolumns;
	double fraction; /* part of the input to read, evenly spread; 0 means all */
	/* pieces have the same size on any machine, as sampling of pieces needs */
	bool even_pieces;
	struct event_limit limit;
	struct progress *progress;
	const bool *wanted; /* [job->ntables]: tables that need a sorter; NULL means all */
	/* The context of the callbacks. Only one thread uses a worker number. */
	void *ctx;
	/*
	 * Receives each record of a wanted table. NULL means that records go into the table's
	 * sorter.
	 */
	int (*record)(void *ctx, unsigned worker, size_t table, const struct record *r,
		      struct error *err);
	/*
	 * The pass calls this function after each piece of input (source_worker_piece). It may be
	 * NULL.
	 */
	int (*piece_end)(void *ctx, unsigned worker, uint64_t piece, struct error *err);
	/*
	 * The pass calls this function if a thread ends without calling piece_end, so that no other
	 * thread waits for that call. May be NULL.
	 */
	void (*abandon)(void *ctx);
};

struct pass_table {
	struct row_weigher weigher;
	struct sorter
		*sorter;   /* records of the table; NULL if the caller does not want the table */
	uint64_t filtered; /* after pass_run: events without a cell for the table */
};

/* A pass. Do not move the struct between pass_open and pass_close. */
struct pass {
	struct pass_options opt;
	struct memory_plan memory;
	struct budget budget, quota; /* budget limits memory, quota limits temporary files */
	struct source *source; /* the open source; NULL if the options give the columns instead */
	struct row_plan *plan;
	struct rejects *rejects;
	const char *temp_dir;
	struct pass_table *tables; /* [job->ntables] */
	_Atomic bool failed;	   /* true if a thread failed, so that the other threads may stop */
	/* after pass_run */
	uint64_t events, rejected, blank_lines;
	uint64_t rejected_lines, filtered_lines; /* numbers of line ends, as in struct manifest */
	int64_t newest_ms; /* newest cell timestamp; 0 if there are no cells */
	struct finer_times finer;
};

/* Open the source. *p must be {0}. Call pass_close whatever the result of this and later calls. */
int pass_open(struct pass *p, const struct pass_options *opt, struct error *err);
/* Prepare the sorters. `temp_dir` is the folder for temporary files. The pass borrows it. */
int pass_prepare(struct pass *p, const char *temp_dir, struct error *err);
/*
 * Read all input and release the builders' memory. Returns RC_DATA if there are more rejects than
 * the limit. The message then names the first reject above the limit, in input order, whatever the
 * threads.
 */
int pass_run(struct pass *p, struct error *err);
/* Release the builders' memory. Only callers that fill the sorters without pass_run need it. */
int pass_flush(struct pass *p, struct error *err);
/* Check the limit of rejects, as pass_run does at its end. */
int pass_judge(struct pass *p, struct error *err);
/*
 * Call sorter_finish for all sorters. Before pass_sort, take the memory that reading needs from the
 * budget (budget_force).
 */
int pass_sort(struct pass *p, struct error *err);
/* Free the sorters, after all reading has ended. */
void pass_free_sorters(struct pass *p);
void pass_close(struct pass *p);

/*
 * Return the options for writing the table's rows, except hfiles_dir, created_ms, helpers and
 * syncer.
 */
struct cut_table pass_cut_table(struct pass *p, size_t table);

/* --- disk ratio: the disk size of a table's cells, from a sample --- */

/*
 * Measure disk bytes per byte of uncompressed cells, without HFILE_TRAILER_BYTES for each file.
 * With sample->weight, measure disk bytes per byte of the rows' weight. The measured sample has the
 * table's codec and encoding. The call creates and removes the folder `work_dir` for the sample.
 * The ratio is 1 if there are no cells.
 */
int measure_disk_ratio(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		       const struct cell_sample *sample, const char *work_dir, double *ratio,
		       struct error *err);

/* --- tuning: `compression: auto` and `level: auto`, settings from the table's cells --- */

/* Return true if a family has `level: auto` or `codec: auto`. */
bool tuning_asked(const struct table *schema);
/* Return true if a family's encoding or block size comes from a sample. */
bool tuning_decides_table(const struct table *schema);
/*
 * Find settings for families with `level: auto`. The function tries settings on cells from evenly
 * spaced points of the key space. A copy (in the arena) with the best settings replaces t->table.
 * *tuned has an entry for each family. Level 0 means not requested or no trials. *tuned is NULL if
 * no family has settings. The call creates and removes the folder `work_dir`. `weight` is the
 * weight of the load's rows, in bytes of cells. The sample is small enough to cost at most 2 % of
 * such a load. A small load (8 MiB of cells, `aim: read` 16, `aim: size` 32) has no trials. Then
 * tables with `codec: auto` get settings for short values, and `level: auto` is the usual level.
 */
int tuning_decide(struct cut_table *t, struct sorter *sorter, unsigned threads,
		  const char *work_dir, uint64_t weight, struct arena *a,
		  struct hfile_tuning **tuned, struct error *err);

/*
 * Replace t->table by a copy (in the arena) with these settings. `tuned` has an entry for each
 * family. Level 0 means no settings.
 */
void tuning_apply(struct cut_table *t, const struct hfile_tuning *tuned, struct arena *a);
/* Return a copy of a table (in the arena) with these settings, as tuning_apply makes it. */
const struct job_table *tuning_table(const struct job_table *t, const struct hfile_tuning *tuned,
				     struct arena *a);
/* Return a copy of a table (in the arena) with the settings that a table without cells gets. */
const struct job_table *tuning_without_data(const struct job_table *t, struct arena *a);
/*
 * Convert the settings to the manifest's form, in the arena, and return their number. If `tuned` is
 * NULL, there are no settings.
 */
size_t tuning_describe(const struct table *schema, const struct hfile_tuning *tuned,
		       struct arena *a, struct manifest_tuning **out);

/*
 * --- existing regions: `--existing FILE`, `--existing TABLE=FILE` or `--hbase HOST,...` ---
 *
 *   existing_regions_add (during the parse of options), existing_regions_read,
 *   existing_regions_release
 */

struct existing_regions {
	const char **specs; /* borrowed texts */
	size_t nspecs;
	const char *servers; /* servers of a live HBase (hbase_open); NULL means no live HBase */
	struct listener listener; /* receives warnings about the live cluster (hbase.h) */
	bool any;		  /* accept tables whose attributes differ from the job's */
	bool loads;		  /* for drift: also read the size and requests of regions */
	/*
	 * if `loads` is true: requests since the opening of the region, or EXISTING_UNKNOWN;
	 * [ntables][regions]
	 */
	uint64_t **requests;
	struct existing *tables; /* [ntables of the job]; existing_regions_read sets them */
	bool *given;		 /* [ntables] */
	size_t ntables;
};

void existing_regions_add(struct existing_regions *l, const char *spec);
/* Return true if options name files or servers to read. */
static inline bool existing_regions_asked(const struct existing_regions *l)
{
	return l->nspecs > 0 || l->servers;
}
/*
 * Read the files, or the regions of a live HBase. A FILE without TABLE belongs to the job's only
 * table, or is output of list_regions, which names its table. Returns RC_CONFIG if the table is
 * unknown, has two files, or is not the table of the regions. For a live HBase, the function reads
 * all existing tables of the job. Returns RC_CONFIG if a live table has other attributes than the
 * job. Families with `codec: auto` take the encoding and block size of the live table.
 */
int existing_regions_read(struct existing_regions *l, struct job *job, struct error *err);
/* Return a table's regions, or NULL if the caller gave none. */
const struct existing *existing_regions_table(const struct existing_regions *l, size_t table);
void existing_regions_release(struct existing_regions *l);

/* --- regions: choose a table's split keys from the job and the sorted rows --- */

/*
 * Fill *out. *wanted is the number of regions that the job and the data need, or 0 if *out is
 * complete. `sampled` uses divide (splits.h) with the exact weights of the sorter. If the job gives
 * a region size, a sample with the table's codec and encoding gives the number of regions. The call
 * creates and removes the folder `work_dir` for the sample.
 */
int regions_decide(const struct job *job, const struct cut_table *t, struct sorter *sorter,
		   unsigned threads, const char *work_dir, struct splits *out, size_t *wanted,
		   struct error *err);

/*
 * Choose the regions as regions_decide does, but without data. If it needs data, returns RC_END
 * and leaves *out unchanged. `assumed` is as for key_splits.
 */
int regions_without_data(const struct job *job, const struct job_table *t, struct splits *out,
			 struct buf *assumed, struct error *err);
/*
 * Compute `count` regions by the HBase algorithm that the job names, or from the row key. Returns
 * RC_END if the split points come from the data.
 */
int regions_computed(const struct job *job, const struct job_table *t, uint32_t count,
		     struct splits *out, struct buf *assumed, struct error *err);
/* Get the HBase algorithm that the job names. Returns false if the job names no algorithm. */
bool regions_algorithm(const struct regions *r, enum split_algorithm *a);

/*
 * --- kept plan: `--plan DIR` of load, map, reduce and unite ---
 *
 * `plan -o DIR` writes a kept plan. Runs with the same plan use the same regions and settings, so
 * separate parts of a load fit together.
 */

struct kept_table {
	struct splits splits;
	double disk_per_byte;	    /* bytes on disk for one byte of cells; 0 without rows */
	struct hfile_tuning *tuned; /* [families]; NULL means no family has `level: auto` */
};

struct kept_plan {
	const char **columns; /* columns of the input */
	size_t ncolumns;
	struct kept_table *tables; /* [ntables of the job] */
	size_t ntables;
	uint8_t identity[16]; /* digest of the program's version, the job, and this struct */
	struct arena arena;
};

/*
 * Read the plan in `dir`. Returns RC_CONFIG if the plan is for another job, or if the plan lacks
 * settings for the job's `level: auto`.
 */
int kept_plan_read(struct kept_plan *k, const char *dir, const struct job *job, struct error *err);
/* Check that the input has the columns of the plan. Returns RC_DATA if the columns differ. */
int kept_plan_columns(const struct kept_plan *k, const char *const *columns, size_t n,
		      const char *input, struct error *err);
void kept_plan_release(struct kept_plan *k);

#endif
