/*
 * spread.h - how sure a sum is that was scaled up from some pieces of the input (inside
 * pipeline/advise/plan only)
 */
#ifndef SALTMILL_SURVEY_SPREAD_H
#define SALTMILL_SURVEY_SPREAD_H

/* How much the pieces differ: what a share of them says of all is as sure as that. */
struct spread {
	double n, empty; /* pieces with rows of the table, and without */
	double x, xx;	 /* sums over pieces of their bytes of input, or messages of a topic */
	struct {
		double y, xy, yy;
	} bytes, rows; /* of the table, in a piece */
};

/* A piece with rows of the table: x as above, and the bytes and rows of the table in it. */
void spread_add(struct spread *s, double x, double bytes, double rows);
/*
 * The error of bytes and rows, the larger of the two, as a share of them with 99 % confidence; 0
 * when share, the part of all pieces that was read, is 1.
 */
double spread_error(const struct spread *s, double share);

#endif
