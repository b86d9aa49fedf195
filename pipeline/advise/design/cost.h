/*
 * cost.h - the cost of a question with a row key, measured on the events (inside this folder only)
 *
 *   draws_make, cost_measure*, draws_release
 *
 * Counts are measured. Seconds are a model with the constants of struct design_constants.
 */
#ifndef SALTMILL_DESIGN_COST_H
#define SALTMILL_DESIGN_COST_H

#include "design.h"
#include "keyed.h"

/* The drawn values of a question, and the rows that each draw returns. */
struct draws {
	struct drawn drawn[ASK_DRAWS + 1];
	const struct predicate
		*predicate[ASK_DRAWS + 1]; /* NULL if the question has no condition */
	size_t n;			   /* draws */
	struct design_figure returned;	   /* rows that a draw returns, if `counted` */
	bool counted;
	double burst; /* rows of an interval, divided by the mean rows of its length */
	/*
	 * [events]: groups of the events by a field with `= ?`, for questions with `latest`. A draw
	 * matches only events of its group. 0 is the group of all other events. NULL: no such field.
	 */
	uint8_t *group;
	uint8_t group_of[ASK_DRAWS + 1]; /* by draw */
	const struct field_forms *forms;
	struct arena arena;
};
int draws_make(struct draws *d, const struct ask *k, const struct events *e,
	       const struct field_forms *forms, struct error *err);
/* Return true if the event matches the question of this draw. */
bool draw_matches(const struct draws *d, size_t draw, const struct events *e, size_t event);
/* Count the rows that some draws return by testing every event. */
void draws_count(struct draws *d, const struct ask *k, const struct events *e);
void draws_release(struct draws *d);

/* The places of the events of each group in the order of a key (latest.c). */
struct group_places {
	uint32_t start[ASK_DRAWS + 3]; /* by group: where its places start in `place` */
	uint32_t *place;	       /* NULL: not made */
};
/*
 * Return how many of the places [lo, hi) a draw reads until it has found `latest` matching rows. It
 * reads down from hi if the newest row comes last. The function makes `p` if it needs it.
 */
size_t latest_read(const struct draws *d, size_t draw, const struct keyed *k,
		   struct group_places *p, uint64_t latest, bool falling, size_t lo, size_t hi);

/* The load that the design must carry, compared with the events. */
struct wanted_load {
	double rows, writes;   /* rows kept, rows a second */
	double faster, longer; /* r and t: times the events' rate, times their span */
	double span_s;	       /* time between the first and the last event */
	double kept_s;	       /* time until a row is the oldest; 0 means not given */
	bool grow_time;	       /* the same entities become busier, instead of more entities */
	unsigned servers;
	struct design_constants constants;
};

/* The cost of a question on one table that has all columns, for the wanted rows. */
struct cost {
	enum design_plan plan;
	struct design_figure ranges, rows, returned, bytes, blocks, seconds;
	/* bytes that each range fixes, if the question fixes the first parts and their widths; or 0 */
	uint32_t fixed;
	bool early;	/* `latest` stops after N rows of a range */
	bool reversed;	/* `latest` reads the range backwards */
	bool filtered;	/* the query reads rows that do not match */
	bool counted;	/* the ranges are exact, so `returned` is known */
	double *region; /* [regions]: share of the seconds */
	double *draws;	/* [ndraws]: blocks of each draw, rising */
	size_t ndraws;
};
/* Change the rows that the draws return to those with the wanted load. */
void returned_grow(struct design_figure *f, const struct ask *k, const struct draws *d,
		   const struct events *e, const struct wanted_load *load);
/* Measure the cost. Its lists are in the arena. */
int cost_measure(struct cost *c, const struct ask *k, const struct draws *d,
		 const struct keyed *keyed, const struct written_regions *w,
		 const struct wanted_load *load, struct arena *a, struct error *err);

/* Return the bytes of a data block of the table's first family. */
double block_bytes_of(const struct job_table *t);
/* Set mean, median, p99 and largest of `n` values, which the function sorts. */
struct design_figure figure_of(double *values, size_t n);

#endif
