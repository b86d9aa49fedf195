/* spread.c - estimate the error of a sum, if only a part of the input was the base */
#include "spread.h"

#include <math.h>
#include <stddef.h>

/* Return the number of deviations that contains 99 % of Student's distribution. */
static double student_99(double freedom)
{
	static const double few[] = {63.66, 9.925, 5.841, 4.604, 4.032,
				     3.707, 3.499, 3.355, 3.250, 3.169};
	const double z = 2.576;

	return freedom <= 10 ? few[(size_t)freedom - 1] : z + (z * z * z + z) / (4 * freedom);
}

/*
 * Return the error of a sum that a plan derives from evenly spread pieces, as a share of the sum,
 * with 99 % confidence. The formula is for a ratio estimate from a random sample without
 * replacement (Cochran, Sampling Techniques, 1977, 6.4). With only one piece the error is unknown,
 * and the result is the sum itself.
 */
static double ratio_error(const struct spread *s, double y, double xy, double yy, double share)
{
	double n = s->n + s->empty;

	if (n < 2 || s->x <= 0 || y <= 0)
		return 1;
	double mean_x = s->x / s->n, ratio = y / (s->x + s->empty * mean_x);
	double xx = s->xx + s->empty * mean_x * mean_x;
	double squares = fmax(0, yy - 2 * ratio * xy + ratio * ratio * xx);
	return student_99(n - 1) * sqrt(squares / (n - 1) * (1 - share) / n) / (y / n);
}

double spread_error(const struct spread *s, double share)
{
	if (share >= 1)
		return 0;
	return fmax(ratio_error(s, s->bytes.y, s->bytes.xy, s->bytes.yy, share),
		    ratio_error(s, s->rows.y, s->rows.xy, s->rows.yy, share));
}

void spread_add(struct spread *s, double x, double bytes, double rows)
{
	s->n++;
	s->x += x;
	s->xx += x * x;
	s->bytes.y += bytes;
	s->bytes.xy += x * bytes;
	s->bytes.yy += bytes * bytes;
	s->rows.y += rows;
	s->rows.xy += x * rows;
	s->rows.yy += rows * rows;
}
