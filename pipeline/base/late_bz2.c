/*
 * late_bz2.c - replaces libbz2 in the library of the Python package
 *
 * Debian's static libbz2 cannot be a part of a shared library. So that library has no BZIP2, and
 * late_need() says so. All other builds link libbz2.
 */
#include <bzlib.h>

#include "late.h"

#define FUNCTIONS(GIVES)                                                                           \
	GIVES(int, BZ2_bzBuffToBuffDecompress,                                                     \
	      (char *out, unsigned *room, char *in, unsigned n, int small, int verbosity),         \
	      (out, room, in, n, small, verbosity))

FUNCTIONS(LATE_GIVES)

const struct late_function late_bz2[] = {FUNCTIONS(LATE_GIVES_LINE){0}};
