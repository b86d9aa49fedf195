/*
 * first_rows.h - the first rows of a job's files or topics, from their text to their cells
 *
 * Implemented in pipeline/advise/check.  Nothing is written, and nothing but these rows is read.
 */
#ifndef SALTMILL_FIRST_ROWS_H
#define SALTMILL_FIRST_ROWS_H

#include "bytes.h"
#include "cell.h"
#include "hash.h"
#include "error.h"
#include "job.h"
#include "kafka.h"

#define LOOK_REJECTS 10 /* that are kept */

struct look_options {
	const struct job *job;
	const struct input *input;
	uint64_t rows;	       /* at most */
	uint64_t shown;	       /* of the good ones, whole */
	uint64_t memory_bytes; /* of the run; what is fetched of a topic takes a part */
	struct listener listener;
};

struct look_place {
	const char *file; /* "orders/3" of a topic's partition */
	uint64_t line;	  /* 0: of a topic */
	uint64_t offset;
};

struct look_row {
	struct look_place place;
	struct bytes *text;	  /* by field: its columns' text */
	struct bytes *value;	  /* by field: as read; ptr NULL: a null, or no table uses it */
	struct look_cells {	  /* by table */
		struct bytes key; /* len 0: the table does not take the event */
		struct cell *cell;
		size_t ncells;
	} * tables;
};

struct look_field {
	bool used;
	uint64_t nulls;
	struct distinct distinct;
	struct bytes example; /* the first that is no null; ptr NULL: there is none */
};

struct look_reject {
	struct look_place place;
	const char *reason, *field, *detail;
};

struct look {
	uint64_t rows, good, filtered, rejected; /* filtered: good ones that no table takes */
	bool whole;				 /* there are no more rows */
	struct look_field *fields;		 /* by the job's */
	const char **unused;			 /* columns that no field takes */
	size_t nunused;
	struct look_row *shown;
	size_t nshown;
	struct look_reject rejects[LOOK_REJECTS];
	size_t nrejects;
	struct look_reason {
		const char *reason;
		uint64_t count;
	} * reasons;
	size_t nreasons;
	struct arena arena;
};

/*
 * Of topics the first offsets that each of the job's partitions has, evenly, by number, whatever
 * the job's `start` is: without a group, and nothing is noted anywhere.  Release whatever the
 * result.  RC_CONFIG: columns or topics that are not there.
 */
int look_at(struct look *l, const struct look_options *opt, struct error *err);
void look_release(struct look *l, const struct job *job);

#endif
