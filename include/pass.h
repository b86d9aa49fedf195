/*
 * pass.h - the first half of every command that reads events: source -> row -> sort, on all threads
 *
 *   pass_open       the source, bound to the job's columns: all that can be refused is
 *   pass_prepare    rejects, and a sorter a table
 *   pass_run        every thread takes pieces of the input and encodes their events
 *   pass_sort       the sorters are ready to be read
 *   pass_close
 *
 * load, plan and drift are one such pass each; what they want of it are its options.
 */
#ifndef SALTMILL_PASS_H
#define SALTMILL_PASS_H

#include "cut.h"
#include "job.h"
#include "memory.h"
#include "publish.h"
#include "row.h"
#include "run.h"
#include "sorter.h"
#include "source.h"

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
	uint64_t filtered;     /* events that gave the table nothing (README.md); after pass_run */
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

#endif
