/*
 * design.h - find row keys for questions, from the events, before a table exists
 *
 *   design_run, design_job, design_release     `saltmill design` and `compare`
 *   queries_read, queries_check, queries_write  `check --queries`
 *
 * Implemented in pipeline/advise/design. design counts ranges, rows and bytes on the events, with
 * the key encoder and the key ranges of `scan`. Seconds are a model with printed constants.
 */
#ifndef SALTMILL_DESIGN_H
#define SALTMILL_DESIGN_H

#include "job.h"
#include "source.h"
#include "table.h"

/* Seconds that servers need (SSD, blocks of 64 KiB). */
struct design_constants {
	double seek_s, block_s, row_s, get_s; /* a range, a block, a row, a get */
	double write_row_s, write_byte_s;     /* a written row, a written byte */
};
extern const struct design_constants design_constants_usual;

/* How a table answers a question, from the best to the worst. */
enum design_plan { DESIGN_GET, DESIGN_RANGE, DESIGN_INDEX, DESIGN_FULL };
#define DESIGN_PLANS (DESIGN_FULL + 1)
extern const char *const design_plans[]; /* by enum design_plan, ended by NULL */

/* A figure over all draws of a question. */
struct design_figure {
	double median, p99, most, mean;
};

struct hotspot; /* planning.h */

struct design_answer {
	const char *ask;
	double rate;  /* questions a second */
	size_t table; /* index in design.tables */
	enum design_plan plan;
	struct design_figure ranges, rows, returned, bytes, blocks, gets, seconds;
	bool filtered;	/* the question reads rows that do not match */
	bool reversed;	/* the scan runs backwards */
	double servers; /* rate * mean seconds */
	/* blocks of each draw, rising; NULL for an index */
	const double *draws;
	size_t ndraws;
};

/* A part of a row key. */
struct design_part {
	const char *name; /* such as "created8 (newest first)" */
	uint32_t bytes;	  /* 0 means that they vary */
	bool computed;	  /* a salt or a hash */
};

enum design_kind { DESIGN_BASE, DESIGN_COPY, DESIGN_INDEX_TABLE, DESIGN_COVERING };
extern const char *const design_kinds[]; /* ended by NULL */

struct design_table {
	enum design_kind kind;
	/* DESIGN_COVERING: 1 + the question, and the cells of the job's table 0 that the table has */
	size_t covers;
	const size_t *cells;
	size_t ncells;
	const char *name;		   /* name of the table in the job of the design */
	const char *first_field;	   /* the first field of the key */
	const char *key;		   /* name of the row key, such as "owner2 created8 id4" */
	const char *const *parts;	   /* the parts in YAML, such as {field: owner, as: u16} */
	const struct design_part *anatomy; /* [nparts] */
	size_t nparts;
	/* a wide table: parts before the name of each column, in YAML; else 0 */
	const char *const *qualifier;
	size_t nqualifier;
	double row_events;	     /* mean events of a row: 1 but for wide tables */
	uint64_t row_events_most;    /* of the largest row of the sample */
	double key_bytes, row_bytes; /* means; row_bytes counts uncompressed KeyValues */
	uint64_t hidden;	     /* events of the sample that share a key with a later event */
	size_t regions;
	double written;	       /* mean number of regions with 1 % of the writes of a minute */
	double busiest_region; /* mean share of the region that gets most writes of a minute */
	double grown;	       /* rows of the largest region after the replay / mean rows */
	double server_mean, server_p99; /* share of the busiest server in a minute */
	const struct hotspot *writes; /* its map has the regions that the events write over time */
	/* settings of the families that suit the questions, and the reason as a sentence */
	enum bloom_type bloom;
	uint32_t bloom_prefix; /* bytes of the row key, for BLOOM_ROWPREFIX */
	uint32_t block_bytes;
	const char *advice;
};

#define DESIGN_TABLES_MOST     3 /* tables of a new design */
#define DESIGN_JOB_TABLES_MOST 8 /* tables of a job to measure */
struct design {
	const char *name; /* "1", or "time first" for an obvious design */
	bool obvious;	  /* listed only for comparison */
	struct design_table *tables;
	size_t ntables;
	struct design_answer *answers; /* [nasks] */
	size_t nanswers;
	double busiest;	      /* load of the busiest server at the 99th percentile; 1 is a server */
	double total;	      /* load of all servers, in servers */
	double write_seconds; /* of it, for writes */
	double busiest_write, busiest_write_p99; /* share of the writes on the busiest server */
	double stored;				 /* bytes on disk */
	double kept_s;	      /* time for which the given load keeps a row; 0 means not given */
	double window_s;      /* age of the oldest event that a question may read; 0 means any */
	const char *sentence; /* why design recommends it or not, with a figure */
};

struct design_result {
	uint64_t events, rejected;
	double span_s, rows, writes; /* rows kept; rows a second */
	unsigned servers;
	struct design_constants constants;
	const char *measured_on; /* the cluster that gave the constants, or NULL */
	double disk_ratio;	 /* bytes on disk for one byte of KeyValues, measured */
	size_t nkeys, ndesigns;
	const char *const *notes;
	size_t nnotes;
	struct design *list; /* the recommended design, the next best, then obvious designs */
	size_t nlist;
	bool too_busy; /* no design keeps the busiest server below 100 % */
	double servers_needed;
	struct arena arena;
};

struct design_ask {
	const char *text, *rate; /* rate may be NULL: 1/s */
};

struct design_options {
	const struct job *job; /* table 0 gives the cells and is one of the compared designs */
	bool only_job;	       /* do not search: measure the job's tables as one design */
	const struct input *input;
	const struct run_options *run;
	double fraction; /* part of the input to read; 0 means all */
	const struct design_ask *asks;
	size_t nasks;
	unsigned servers;
	double rows, writes; /* 0: as in the events */
	bool grow_time;
	size_t tables;	   /* most tables of a design */
	double disk_ratio; /* bytes on disk for one byte of KeyValues */
	const struct design_constants *constants;
};

/* Read a rate such as 1000/s, 5k/s, 5/min, 20/h or 3/d. Returns false if the text is no rate. */
bool design_rate(const char *text, double *per_second);
/*
 * Find designs. Call design_release whatever the result. Returns RC_CONFIG with the place if it
 * refuses a question.
 */
int design_run(struct design_result *out, const struct design_options *o, struct progress *progress,
	       struct error *err);
void design_release(struct design_result *r);

/*
 * Append the job file of a design. `yaml` is the text of the job of design_run. The function
 * replaces its tables, and makes the paths of its files absolute. Returns RC_CONFIG if the text has
 * no key `tables` at the start of a line.
 */
int design_job(struct buf *out, const struct design *g, const struct job *job, struct bytes yaml,
	       const struct input *input, struct error *err);

/*
 * --- queries.yaml: questions as tests ---
 *
 *   queries_read, [design_run with only_job], queries_judge, queries_write
 */

#define DESIGN_SERVERS 8 /* servers of the model, if nobody gives another number */

/* A question with the largest figures that a later key may have. */
struct query_limit {
	const char *ask, *rate; /* rate may be NULL */
	const char *table;	/* the table that answered, for readers */
	enum design_plan plan;
	bool limited;			     /* the file gives a plan */
	double ranges, blocks_p99, rows_p99; /* negative: no limit */
};
struct queries {
	struct query_limit *item;
	size_t n;
	/* how the figures were measured: 0 means DESIGN_SERVERS, and the whole input */
	unsigned servers;
	double sample;
	struct arena arena;
};
/*
 * Read a YAML list of mappings with the keys ask, rate, table, plan, ranges, blocks_p99,
 * rows_p99, servers and sample. Call queries_release whatever the result. Returns RC_CONFIG, with line and column, for
 * another form.
 */
int queries_read(struct queries *q, const char *path, struct error *err);
/* Make the questions of a design, in the order of its answers, with its figures as limits. */
void queries_of(struct queries *q, const struct design *g);
/* Append the file's text. */
void queries_write(struct buf *out, const struct queries *q);
/*
 * Append a sentence for each question that is worse than its limits: a worse plan, more ranges, or
 * a figure above 1.25 times its limit. Returns the number of sentences.
 */
size_t queries_judge(struct buf *out, const struct queries *q, const struct design *g);
void queries_release(struct queries *q);

#endif
