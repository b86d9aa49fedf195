/*
 * first_rows.h - read the first rows of a job's input and show their cells; inspect a file and
 * write a job for it
 *
 *   look_at, look_release      the first rows of a job
 *   sniff_file, sniff_prove    a job for a file
 *   table_sample_add, infer    a job for a table
 *
 * Implemented in pipeline/advise/check, init and infer. look_at reads only these rows and writes no file.
 */
#ifndef SALTMILL_FIRST_ROWS_H
#define SALTMILL_FIRST_ROWS_H

#include "bytes.h"
#include "cell.h"
#include "hash.h"
#include "error.h"
#include "job.h"
#include "kafka.h"
#include "run.h"

#define LOOK_REJECTS 10 /* number of rejects to keep */

struct look_options {
	const struct job *job;
	const struct input *input;
	uint64_t rows;	/* the most rows to read */
	uint64_t shown; /* number of good rows to keep with all cells */
	/* memory of the command; the messages of a topic use a part of this memory */
	uint64_t memory_bytes;
	struct listener listener;
};

struct look_place {
	const char *file; /* "orders/3" for a topic's partition */
	uint64_t line;	  /* line number; 0 for a message of a topic */
	uint64_t offset;
};

struct look_row {
	struct look_place place;
	struct bytes *text; /* for each field: the text of its columns */
	/*
	 * by field index: the parsed value; `ptr` is NULL if the value is null or no table uses the
	 * field
	 */
	struct bytes *value;
	struct look_cells {	  /* by table index */
		struct bytes key; /* row key; empty if the table skips the event */
		struct cell *cell;
		size_t ncells;
	} * tables;
};

struct look_field {
	bool used;
	uint64_t nulls;
	struct distinct distinct;
	/* the first value that is not null; `ptr` is NULL if all values are null */
	struct bytes example;
	int64_t oldest_ms, newest_ms; /* of a time; oldest_ms > newest_ms without a value */
	uint64_t finer;		      /* times with digits after the microseconds */
	struct look_place finer_place;
	const char *warning; /* why the times are probably wrong, with the fix; or NULL */
};

struct look_reject {
	struct look_place place;
	const char *reason, *field, *detail;
};

struct look {
	/* `filtered` counts good rows that all tables skip */
	uint64_t rows, good, filtered, rejected;
	bool whole;		   /* the input has no other rows */
	struct look_field *fields; /* the fields, in the order of the job */
	const char **unused;	   /* columns that no field uses */
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
	uint64_t *broken; /* by expectation of the job: rows that break the rule */
	struct arena arena;
};

/*
 * Read the first rows. For a topic, read equally many messages from the beginning of each partition
 * of the job. The function ignores the job's `start`, uses no consumer group and commits no offset.
 * Call look_release whatever the result. Returns RC_CONFIG if a column or topic does not exist.
 */
int look_at(struct look *l, const struct look_options *opt, struct error *err);
void look_release(struct look *l, const struct job *job);

/*
 * --- sniff: a job for an unknown file ---
 *
 * Only the file's bytes decide, so the same file gives the same job. If the bytes do not suffice,
 * the job has a comment instead of a guess.
 */

/*
 * Folders NAME=VALUE in a folder, as Hive and Spark write them. `pattern` matches the files in them, and
 * begins with the `root` bytes of the folder's path. `n` is 0 if the folder has none.
 */
#define HIVE_FOLDERS_MOST 8
struct hive_folders {
	struct buf pattern;
	size_t root, n;
	const char *name[HIVE_FOLDERS_MOST];
	struct arena arena;
};
void hive_folders_find(struct hive_folders *f, const char *path);
void hive_folders_release(struct hive_folders *f);

/* The request for a job, and the job. {0} before the first call. */
struct sniff {
	const struct hive_folders *folders; /* of the path in hive_folders_find, or NULL */
	const char *key;	   /* columns of the row key that the user gives, or NULL */
	bool full;		   /* the proof runs the job over the whole file */
	struct progress *progress; /* of the proof, or NULL */
	bool lenient;		   /* quotes that are not around a whole value are text */
	bool whole_key; /* the row key contains a hash of all columns, also of those with nulls */
	/* rows that equal an earlier row in all columns; then the row key also has file and line */
	uint64_t equal;
	struct buf yaml;
	/* what init cannot decide for certain, one sentence per line; empty if all is certain */
	struct buf doubts;
	uint64_t rows; /* rows that the job must load from the sample */
	bool whole;    /* the sample is the whole file */
};
void sniff_release(struct sniff *s);

/*
 * Append a job for a file, as YAML with comments. `name` is the file's name in the job. The file
 * has delimited text, plain lines or a JSON object in each line, perhaps in compressed form. Files
 * in Avro or Arrow format have a schema that gives the types. The function reads at most 64 MiB
 * (decoded). If the file is longer, a comment in the job reports this limit. Returns RC_DATA if the
 * file is empty or has another format.
 */
int sniff_file(const char *file, const char *name, struct sniff *out, struct error *err);

/*
 * Run the job over the sample, or the whole file, without writing a table. Returns RC_DATA if the job cannot read the
 * sample's header. Otherwise sets the members of the proof.
 */
struct sniff_proof {
	uint64_t rows, rejected;
	uint64_t equal; /* rows whose row key another row already has */
	uint64_t line;	/* line of the first equal key; 0 if there is none */
	/* rows that do not look like the others, such as a heading of a page, and the first line */
	uint64_t odd, odd_line;
	char first[360]; /* place and reason of the first reject */
	/*
	 * values that a second reader compared with the text of the file, and how many rows, lines
	 * and values differ from it, with the place of the first
	 */
	uint64_t values, differs;
	char difference[360];
};
int sniff_prove(struct sniff_proof *p, const struct sniff *s, const struct job *job,
		const char *file, struct error *err);

/*
 * --- infer: a job for an existing table, from a sample of its rows ---
 *
 * The same sample gives the same job. The job's fields decode each sampled key and value, and encode
 * them again to the same bytes. Parts without a known form are bytes.
 */

struct description;

/* Sampled rows. The caller sets the first members, and releases the arena. */
struct sampled_table {
	const char *table;		       /* the table's name, for the job */
	const char *origin;		       /* where the rows are from, for a comment */
	const struct description *description; /* NULL if it is unknown */
	size_t regions;			       /* regions of the table; 0 means unknown */
	struct sampled_row {
		struct bytes key;
		struct cell *cells; /* the first cells of the row */
		size_t ncells;
	} * rows;
	size_t nrows;
	struct arena arena;
};
#define SAMPLE_CELLS 256   /* most cells to keep of a row */
#define SAMPLE_VALUE 65536 /* most bytes to keep of a value */
/* Add a cell. If its row differs from the row of the previous cell, the cell begins a row. */
void table_sample_add(struct sampled_table *s, const struct cell *c);

struct inferred {
	struct buf yaml;
	struct buf doubts; /* what init could not find out, one sentence a line */
	bool understood;   /* all parts of the row key have a known form */
};
void inferred_release(struct inferred *i);
/*
 * Append a job for the table. Returns RC_DATA if the sample has no row. `*out` is {0} before the
 * call.
 */
int infer_table(struct sampled_table *s, struct inferred *out, struct error *err);

#endif
