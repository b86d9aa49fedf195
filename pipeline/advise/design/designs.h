/*
 * designs.h - combine row keys to designs of one or more tables, and order the designs (inside this
 * folder only)
 */
#ifndef SALTMILL_DESIGN_DESIGNS_H
#define SALTMILL_DESIGN_DESIGNS_H

#include "cost.h"
#include "planning.h"

/* A row key with its measured costs. */
struct measured_key {
	const struct candidate *key;
	bool usable;	   /* all events can have the key */
	struct cost *cost; /* [asks] */
	/* for each question: the cost of this key as an index that names rows of another table */
	double *index_seconds;
	uint64_t hidden;
	size_t regions;
	double row_events; /* mean events of a row; 1 but for wide tables */
	size_t row_most;   /* events of the largest row of the sample */
	/* row_bytes are those of an event, which is a row of a tall table */
	double key_bytes, row_bytes, written, busiest_region, grown, server_mean, server_p99;
	double *server_share;  /* [servers] */
	struct hotspot writes; /* its lists are in `arena` */
	struct arena *arena;   /* memory of the costs */
};

#define CHOSEN_MOST DESIGN_JOB_TABLES_MOST
#define NEAR_SHARE  1.25 /* design treats loads within 25 %, and 0.5 % of a server, as equal */

/* A design under construction. Table 0 is the base and contains all columns. */
struct combination {
	size_t key[CHOSEN_MOST];
	bool index[CHOSEN_MOST];
	/* 1 + the question whose columns a covering table has; 0: a table of all columns */
	size_t cover[CHOSEN_MOST];
	size_t n;
	size_t *answered_by; /* [asks]: table of the combination */
	double busiest, total, write_seconds, stored, busiest_write, busiest_write_p99, worst_p99;
	bool filtered, reversed, one_region, wide;
	size_t key_bytes, parts;
	bool dominated;
};

struct combinations {
	struct combination *item;
	size_t n;
};

struct designer {
	const struct events *e;
	const struct asks *asks;
	const struct wanted_load *load;
	const struct measured_key *keys;
	size_t nkeys;
	size_t tables_most;
	double disk_ratio;
	struct arena *a;
};

/* Return the seconds of a question on a table of a combination. */
double combination_seconds(const struct designer *d, const struct combination *c, size_t table,
			   size_t ask);
/* Make a combination of these tables, and compute its load. `cover` NULL: no covering tables. */
struct combination combination_make(const struct designer *d, const size_t *keys, const bool *index,
				    const size_t *cover, size_t n);
/* Return the stored bytes of a row of a table of the combination, without compression. */
double combination_row_bytes(const struct designer *d, const struct combination *c, size_t table);
/*
 * --- covering tables (cover.c) ---
 *
 * A covering table has the columns that one question needs, so that it reads fewer bytes.
 */

/*
 * List the cells of table 0 of the job that a covering table has with this key: the question's
 * columns and the fields of its conditions that are not in the key. `cells` has room for all cells.
 * Returns their number, or 0 if no such table can be.
 */
size_t cover_cells(const struct designer *d, const struct candidate *key, size_t ask,
		   size_t *cells);
/* Return the stored bytes of a row of the covering table, or 0 if no such table can be. */
double cover_row_bytes(const struct designer *d, const struct measured_key *k, size_t ask);
/* Return the cost of a question, if each row has so many bytes. The regions' shares stay. */
struct cost cover_cost(const struct designer *d, const struct measured_key *k, size_t ask,
		       double row_bytes, struct arena *a);
/* Return the mean seconds of cover_cost. */
double cover_seconds(const struct designer *d, const struct measured_key *k, size_t ask,
		     double row_bytes);
/* Return true if a table of the combination has the columns of a question. */
bool table_answers(const struct designer *d, const struct combination *c, size_t table, size_t ask);
/* List all combinations. */
void combinations_list(struct combinations *out, const struct designer *d);
/* Order the combinations, the recommended one first. */
void combinations_rank(struct combinations *c, const struct designer *d);
/* Return the stored bytes of an index row, without compression. */
double index_row_bytes(double key_bytes, double base_key_bytes);

#endif
