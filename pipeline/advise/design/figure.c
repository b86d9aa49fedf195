/* figure.c - mean, median, p99 and largest of a list of figures */
#include <math.h>
#include <stdlib.h>

#include "cost.h"

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct design_figure figure_of(double *v, size_t n)
{
	double sum = 0;

	if (!n)
		return (struct design_figure){0};
	qsort(v, n, sizeof *v, compare_doubles);
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return (struct design_figure){.median = v[(n - 1) / 2],
				      .p99 = v[(size_t)ceil(0.99 * (double)n) - 1],
				      .most = v[n - 1],
				      .mean = sum / (double)n};
}
