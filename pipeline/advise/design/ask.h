/*
 * ask.h - questions with `?`, and values drawn for them (inside this folder only)
 *
 *   asks_read, ask_draw, asks_release
 */
#ifndef SALTMILL_DESIGN_ASK_H
#define SALTMILL_DESIGN_ASK_H

#include "events.h"
#include "question.h"

#define ASKS_MOST	8 /* questions of one design */
#define ASK_EQUALS_MOST 4 /* fields with `= ?`, because design tries all their orders */
#define ASK_DRAWS	200

/* A `?` of a question. */
struct ask_hole {
	size_t condition, value;
	enum hole_kind {
		HOLE_VALUE,   /* ? */
		HOLE_END,     /* the second ? of between, with + SPAN: the first plus the span */
		HOLE_LAST,    /* ? - SPAN: the newest value less the span */
		HOLE_SEVERAL, /* ? x K: K values */
		HOLE_PREFIX   /* ?[L]: the first L bytes */
	} kind;
	uint64_t span;	/* in the field's unit, ms for times; 0 means 1 % of the field's range */
	unsigned count; /* K or L */
};

struct ask {
	const char *text;  /* as the user wrote it */
	double rate;	   /* questions a second */
	struct question q; /* the condition; `root` is NULL if there is none */
	struct ask_hole *hole;
	size_t nholes;
	/* fields, by index in the job; SIZE_MAX means none */
	size_t equal[ASK_EQUALS_MOST]; /* `= ?` and `in (?)` */
	size_t nequals;
	/* fields with `=` and a value; design makes no key for them */
	size_t fixed[ASK_EQUALS_MOST];
	size_t nfixed;
	size_t starts, range; /* `starts with ?`, and the interval that a key can answer */
	size_t time;	      /* the time of `latest` */
	uint64_t latest;      /* 0 means all rows */
	const char **columns;
	size_t ncolumns;
	uint64_t recent; /* draw only from the newest values of this span; 0 means all */
	double worst_s;	 /* the longest time that the user accepts; 0 means not given */
};

struct asks {
	struct ask *ask;
	size_t n;
	struct buf notes; /* sentences, one a line */
};

/*
 * Read a question. `rate` may be NULL, which means 1/s. Returns RC_CONFIG, with the place, if it
 * cannot answer the question, for example because of an unknown field, an interval of texts that
 * are numbers, `latest` without a time, or more than ASK_EQUALS_MOST fields. It borrows the
 * texts.
 */
int ask_read(struct asks *s, const char *text, const char *rate, const struct events *e,
	     struct arena *a, struct error *err);

/* A question with values. */
struct drawn {
	const char *text;  /* the condition; "" means all rows */
	struct question q; /* unset for "" */
	size_t event;	   /* the event whose values `= ?` has */
	/* the values of the interval on the field `range` of the question, if it has two ends */
	bool interval;
	uint64_t from, to;
};
/*
 * Draw values for draw number `i` from the values of the events. The last draw (ASK_DRAWS) has the
 * most frequent value of the first field. The same events and number give the same values.
 */
int ask_draw(struct drawn *out, const struct ask *k, const struct events *e, size_t i,
	     struct arena *a, struct error *err);

#endif
