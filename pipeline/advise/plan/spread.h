/*
 * spread.h - estimate the error of a sum that a plan derives from some pieces of the input (private
 * to this folder)
 */
#ifndef SALTMILL_SURVEY_SPREAD_H
#define SALTMILL_SURVEY_SPREAD_H

/*
 * Statistics of the pieces. These figures give the error of an estimate that reads only some
 * pieces.
 */
struct spread {
	double n, empty; /* pieces with rows of the table, and pieces without */
	/* sums over pieces of x and x^2; x is bytes of input, or messages of a topic */
	double x, xx;
	struct {
		double y, xy, yy;
	} bytes, rows; /* sums for the table's bytes and rows in a piece */
};

/*
 * Add a piece with rows of the table. `x` is as in struct spread. `bytes` and `rows` are those of
 * the table.
 */
void spread_add(struct spread *s, double x, double bytes, double rows);
/*
 * Return the error of `bytes` or of `rows`, whichever is larger, as a share with 99 % confidence.
 * `share` is the part of all pieces that the plan has read. The error is 0 if `share` is 1.
 */
double spread_error(const struct spread *s, double share);

#endif
