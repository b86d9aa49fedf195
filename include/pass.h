/*
 * pass.h - who may hold how much of --memory
 *
 *   memory_plan_make -> figures that the stages are given
 *
 * All shares are chosen in pipeline/load/first_pass/memory.c, where a table shows them side by side; the
 * stages account for what they hold in the run's struct budget (mem.h).
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

/* Who wants a share. */
struct memory_need {
	uint64_t limit;	  /* --memory, bytes */
	unsigned threads; /* that the run would like to have, at least 1 */
	size_t tables;
	bool topic;	  /* a Kafka client holds messages */
	bool even_pieces; /* pieces of input have one size whatever the memory is */
};

/* In bytes. */
struct memory_plan {
	uint64_t limit;
	unsigned threads;      /* that the memory is enough for: 1 to those of the need */
	uint64_t topic_bytes;  /* of messages that a Kafka client has fetched; 0: there is none */
	size_t piece_bytes;    /* of input that a thread takes at once */
	uint64_t pieces_bytes; /* what all threads hold of it together, rows in the making too */
	size_t run_bytes;   /* of records that a thread gathers for a table before it sorts them */
	uint64_t row_bytes; /* of input: the copies of a longer row do not fit */
	size_t large_bytes; /* payloads from here on are put aside while records are sorted */
	uint64_t gather_bytes; /* of a row that a thread gathers before it writes it */
};

/*
 * Less memory gives smaller buffers, then fewer threads.  That loses time and never a byte.  What
 * is held at one time fits in limit, from 16 MiB on and up to a table for each 16 KiB of it.
 */
struct memory_plan memory_plan_make(const struct memory_need *need);

/* What a Kafka client may fetch ahead in a command of so much memory. */
uint64_t memory_topic_bytes(uint64_t limit);
/* Of each file that a writing thread has open, of a table with so many families. */
size_t memory_file_buffer(const struct memory_plan *m, size_t families);
/* How many threads write at once, at least 1, when each may hold so much. */
unsigned memory_writers(const struct memory_plan *m, uint64_t thread_bytes);

/*
 * --- a small part of a table's rows, written to be looked at ---
 */

/* Which rows, out of all that a sorter holds. */
struct cell_sample {
	uint64_t bytes;	   /* of uncompressed cells, about */
	uint64_t row_most; /* a row that weighs more is left out; 0: none is */
	bool (*wanted)(const void *ctx, struct bytes key); /* rows that count; NULL: all */
	const void *ctx;
};

/*
 * Write what follows 16 places, evenly spread over the rows' weight, as one HFile a family into
 * t->hfiles_dir, which is made.  It depends on the rows alone, not on threads, runs or time.
 */
int cell_sample_write(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		      const struct cell_sample *sample, struct cut_result *files,
		      struct error *err);

/*
 * --- the first half of every command that reads events: source -> row -> sort, on all threads
 *
 *   pass_open       the source, bound to the job's columns: all that can be refused is
 *   pass_prepare    rejects, and a sorter a table
 *   pass_run        every thread takes pieces of the input and encodes their events
 *   pass_sort       the sorters are ready to be read
 *   pass_close
 *
 * load, plan and drift are one such pass each; what they want of it are its options.
 */

struct pass_options {
	const struct job *job;
	const struct run_options *run;
	const struct input *input;  /* NULL: nothing is read, the caller fills the sorters */
	const char *const *columns; /* without an input: the columns of its rows */
	size_t ncolumns;
	double fraction;  /* of the input to read, evenly spread; 0: all */
	bool even_pieces; /* who chooses by pieces of the input needs them alike on any machine */
	struct event_limit limit;
	struct progress *progress;
	const bool *wanted; /* [job->ntables]: tables with a sorter; NULL: all have one */
	/* For the functions below; a worker number belongs to one thread. */
	void *ctx;
	/* Each record of a wanted table.  NULL: it goes into the table's sorter. */
	int (*record)(void *ctx, unsigned worker, size_t table, const struct record *r,
		      struct error *err);
	/* After each piece of input (source_worker_piece); may be NULL. */
	int (*piece_end)(void *ctx, unsigned worker, uint64_t piece, struct error *err);
	/* A thread ends without its piece_end: nobody may wait for it.  May be NULL. */
	void (*abandon)(void *ctx);
};

struct pass_table {
	struct row_weigher weigher;
	struct sorter *sorter; /* NULL: not wanted */
	uint64_t filtered;     /* after pass_run: events that gave the table nothing */
};

/* Stays where it is from pass_open to pass_close. */
struct pass {
	struct pass_options opt;
	struct memory_plan memory;
	struct budget budget, quota; /* of memory, of temporary files */
	struct source *source;	     /* NULL: none, the columns were given */
	struct row_plan *plan;
	struct rejects *rejects;
	const char *temp_dir;
	struct pass_table *tables; /* [job->ntables] */
	_Atomic bool failed;	   /* one thread has: the others may stop */
	/* after pass_run */
	uint64_t events, rejected, blank_lines;
	int64_t newest_ms; /* the newest cell timestamp; 0 when there is none */
};

/* *p is {0} before; pass_close is due whatever the result of this and of what follows. */
int pass_open(struct pass *p, const struct pass_options *opt, struct error *err);
/* temp_dir: for what memory does not hold; borrowed. */
int pass_prepare(struct pass *p, const char *temp_dir, struct error *err);
/*
 * Read to the end.  With more rejects than the limit: RC_DATA with the sentence for the first
 * event too many in input order, whatever the threads.  Then builders have given back their memory.
 */
int pass_run(struct pass *p, struct error *err);
/* The end of pass_run, for who fills the sorters without it: builders give back their memory. */
int pass_flush(struct pass *p, struct error *err);
/* The last question of pass_run: are there more rejects than the limit? */
int pass_judge(struct pass *p, struct error *err);
/* sorter_finish of all.  What the caller will need while it reads is best forced on the budget
 * before. */
int pass_sort(struct pass *p, struct error *err);
/* Nobody reads them any more. */
void pass_free_sorters(struct pass *p);
void pass_close(struct pass *p);

/* For who writes the table's rows: all of it but hfiles_dir, created_ms and who helps. */
struct cut_table pass_cut_table(struct pass *p, size_t table);

/*
 * --- what a table's cells take on disk, from a small part of them ---
 */

/*
 * Disk bytes per byte of uncompressed cells, HFILE_TRAILER_BYTES a file left aside, from a sample
 * that is written with the table's own codec and encoding in work_dir, a folder that is made and
 * removed.  1 if there are no cells.
 */
int measure_disk_ratio(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		       const struct cell_sample *sample, const char *work_dir, double *ratio,
		       struct error *err);

/*
 * --- `compression: {codec: ZSTD, level: auto}`: settings from the table's own cells ---
 */

/* Does a family ask for it? */
bool tuning_asked(const struct table *schema);
/*
 * When families ask for it: try settings on cells from evenly spaced places of the key space, and
 * let t->table be a copy (in the arena) with what was found; *tuned has an entry a family, level 0
 * where nothing was asked or there are no cells.  Otherwise *tuned is NULL.  work_dir is a folder
 * that is made and removed.
 */
int tuning_decide(struct cut_table *t, struct sorter *sorter, unsigned threads,
		  const char *work_dir, struct arena *a, struct hfile_tuning **tuned,
		  struct error *err);

/* Let t->table be a copy (in the arena) with these settings, an entry a family, level 0: none. */
void tuning_apply(struct cut_table *t, const struct hfile_tuning *tuned, struct arena *a);
/* The same as the manifest has them, in the arena; tuned NULL: none.  Returns how many. */
size_t tuning_describe(const struct table *schema, const struct hfile_tuning *tuned,
		       struct arena *a, struct manifest_tuning **out);

/*
 * --- `--existing FILE`, `--existing TABLE=FILE` or `--hbase HOST,...`: regions
 * that tables of the job have today
 *
 *   existing_regions_add (while options are parsed), existing_regions_read,
 *   existing_regions_release
 */

struct existing_regions {
	const char **specs; /* borrowed texts */
	size_t nspecs;
	const char *servers;	  /* of a live HBase to ask (hbase_open); NULL: none */
	struct listener listener; /* hears warnings about the live cluster (precheck.h) */
	bool any;		  /* its tables may have other attributes than the job's */
	bool loads;		  /* drift: what its regions hold and do is asked for too */
	/* [ntables][regions] then, since the region was opened; EXISTING_UNKNOWN */
	uint64_t **requests;
	struct existing *tables; /* [ntables of the job], after existing_regions_read */
	bool *given;		 /* [ntables] */
	size_t ntables;
};

void existing_regions_add(struct existing_regions *l, const char *spec);
/* Is there anything to be read? */
static inline bool existing_regions_asked(const struct existing_regions *l)
{
	return l->nspecs > 0 || l->servers;
}
/*
 * Read the files.  A FILE without TABLE is the job's only table's, or says in list_regions' form
 * which table's it is.  RC_CONFIG: no such table, two files for one, another table's regions.  Of a
 * live HBase all tables of the job that are there; RC_CONFIG: one has other attributes.
 */
int existing_regions_read(struct existing_regions *l, const struct job *job, struct error *err);
/* NULL: not given for this table. */
const struct existing *existing_regions_table(const struct existing_regions *l, size_t table);
void existing_regions_release(struct existing_regions *l);

/*
 * --- choose a table's split keys from what the job asks and what the sorter has seen ---
 */

/*
 * Fill *out; *wanted is how many regions the job and the data ask for, 0 when *out says it all.
 * `sampled` is divided (divide.h) by the exact weights of the sorter.  With a size the number of
 * regions comes from compressing samples with the table's own codec and encoding in work_dir (a
 * folder that is made and removed).
 */
int regions_decide(const struct cut_table *t, struct sorter *sorter, unsigned threads,
		   const char *work_dir, struct splits *out, size_t *wanted, struct error *err);

/* What of it needs no data; RC_END: the data decides.  Nothing is added to *out then. */
int regions_without_data(const struct regions *r, struct splits *out, struct error *err);
/* The keys of so many regions by HBase's algorithm that the job names; RC_END: it names none. */
int regions_computed(const struct regions *r, uint32_t count, struct splits *out,
		     struct error *err);
/* HBase's algorithm that the job names; false: none. */
bool regions_algorithm(const struct regions *r, enum split_algorithm *a);

/*
 * --- a plan that runs keep to: `--plan DIR` of load, map, reduce and unite
 *
 * DIR is what `plan -o DIR` made.  Who keeps to one plan cuts the same regions with the same
 * settings, so that parts of a load that were made apart fit together, and are those of one load.
 */

struct kept_table {
	struct splits splits;
	double disk_per_byte;	    /* 0: no rows were seen */
	struct hfile_tuning *tuned; /* [families]; NULL: none asks for it */
};

struct kept_plan {
	const char **columns; /* of the input */
	size_t ncolumns;
	struct kept_table *tables; /* [ntables of the job] */
	size_t ntables;
	uint8_t identity[16]; /* digest of the program's version, the job, and all of this */
	struct arena arena;
};

/* RC_CONFIG: the plan is of another job, or not tuned for one that asks for `level: auto`. */
int kept_plan_read(struct kept_plan *k, const char *dir, const struct job *job, struct error *err);
/* RC_DATA: the input's columns are others than the plan's. */
int kept_plan_columns(const struct kept_plan *k, const char *const *columns, size_t n,
		      const char *input, struct error *err);
void kept_plan_release(struct kept_plan *k);

#endif
