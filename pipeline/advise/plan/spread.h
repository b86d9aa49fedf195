/*
 * spread.h - the error of a sum that was scaled up from some pieces of the input (inside
 * pipeline/advise/plan only)
 */
#ifndef SALTMILL_SURVEY_SPREAD_H
#define SALTMILL_SURVEY_SPREAD_H

/* How much the pieces differ, which limits what a share of them says about all. */
struct spread {
	double n, empty; /* pieces with rows of the table, and pieces without */
	double x, xx;	 /* sums over pieces: bytes of input, or messages of a topic */
	struct {
		double y, xy, yy;
	} bytes, rows; /* of the table, in a piece */
};

/* Add a piece with rows of the table: x as above, and its bytes and rows of the table. */
void spread_add(struct spread *s, double x, double bytes, double rows);
/*
 * Returns the error of bytes or rows, whichever is larger, as a share with 99 % confidence. share:
 * the part of all pieces that was read; 1 gives 0.
 */
double spread_error(const struct spread *s, double share);

#endif
