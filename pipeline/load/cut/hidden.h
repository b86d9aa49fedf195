/* hidden.h - count the Puts that delete markers of the same load hide */
#ifndef SALTMILL_CUT_HIDDEN_H
#define SALTMILL_CUT_HIDDEN_H

#include "cut.h"

/* A marker of the current row. */
struct hiding_mark {
	bool present;
	int64_t ts;
	uint64_t seq;
};

/*
 * The markers that can hide the next cells of a row. Cells come in HBase's order, so a marker comes
 * before the Puts that it hides. {0} is ready for the first row.
 */
struct hidden {
	bool in_family; /* `number` is valid */
	uint32_t number;
	struct hiding_mark family;    /* the newest DeleteFamily */
	struct hiding_mark *versions; /* DeleteFamilyVersion, newest first */
	size_t nversions, cap;
	struct buf qualifier;		/* the column of the two marks below */
	struct hiding_mark column, one; /* the newest DeleteColumn, the last Delete */
};

/* Forget the markers of the last row. */
void hidden_reset(struct hidden *h);
/* Take the next cell of the row. If a marker hides the cell, count the cell in *out. */
void hidden_take(struct hidden *h, const struct row_cell *c, struct cut_result *out);
void hidden_release(struct hidden *h);

#endif
