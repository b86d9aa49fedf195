/*
 * first_rows.h - the first rows of a job's files or topics, from their text to their cells
 *
 *   look_at, look_release
 *
 * Implemented in pipeline/advise/check. It writes nothing and reads only these rows.
 */
#ifndef SALTMILL_FIRST_ROWS_H
#define SALTMILL_FIRST_ROWS_H

#include "bytes.h"
#include "cell.h"
#include "hash.h"
#include "error.h"
#include "job.h"
#include "kafka.h"

#define LOOK_REJECTS 10 /* rejects that are kept */

struct look_options {
	const struct job *job;
	const struct input *input;
	uint64_t rows;	       /* at most */
	uint64_t shown;	       /* good rows that are kept whole */
	uint64_t memory_bytes; /* of the command; messages of a topic take a part */
	struct listener listener;
};

struct look_place {
	const char *file; /* "orders/3" for a topic's partition */
	uint64_t line;	  /* 0: a topic */
	uint64_t offset;
};

struct look_row {
	struct look_place place;
	struct bytes *text; /* by field: the text of its columns */
	/* by field: the parsed value; ptr NULL: null, or no table uses it */
	struct bytes *value;
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
	struct bytes example; /* the first that is not null; ptr NULL: there is none */
};

struct look_reject {
	struct look_place place;
	const char *reason, *field, *detail;
};

struct look {
	uint64_t rows, good, filtered, rejected; /* filtered: good rows that no table takes */
	bool whole;				 /* these are all rows of the input */
	struct look_field *fields;		 /* by the job's field index */
	const char **unused;			 /* columns that no field uses */
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
 * Read the first rows. Of a topic it reads the first offsets of each of the job's partitions,
 * evenly, whatever the job's `start` is; it uses no consumer group and stores no offset. Call
 * look_release whatever the result. RC_CONFIG: a column or topic does not exist.
 */
int look_at(struct look *l, const struct look_options *opt, struct error *err);
void look_release(struct look *l, const struct job *job);

#endif
