/*
 * pattern.h - regular expressions over text: PCRE2's, the ones of Perl, Python and Java
 *
 * Implemented in pipeline/base.  What is found does not depend on the machine: line ends, \R and
 * the limits are said, no locale is looked at, and nothing is compiled to machine code, whose
 * limits are others.  \d, \w and \s are ASCII; text is UTF-8, and bytes that are no UTF-8 are
 * matched by nothing.
 */
#ifndef SALTMILL_PATTERN_H
#define SALTMILL_PATTERN_H

#include "bytes.h"
#include "error.h"
#include "mem.h"

struct pattern;

/* In the arena, for any thread.  RC_CONFIG: what is wrong with it, and where. */
int pattern_new(struct pattern **out, struct arena *a, const char *text, struct error *err);
/* The same, but `.` is any character, a line end too. */
int pattern_new_dotall(struct pattern **out, struct arena *a, const char *text, struct error *err);
/* (groups) that capture. */
size_t pattern_groups(const struct pattern *p);

/* What one thread needs for matching.  {0} is empty. */
struct pattern_scratch {
	void *match;
};
void pattern_scratch_release(struct pattern_scratch *s);

enum pattern_result {
	PATTERN_FOUND,
	PATTERN_NONE,
	PATTERN_COSTLY /* not found within a million steps: (a+)+b looks for ever */
};
/*
 * Look for the pattern anywhere in the text.  *found: its first group, or all that it matched where
 * it has none; a group that took no part is empty.  Borrowed from the text.  found NULL: of no
 * interest.
 */
enum pattern_result pattern_find(const struct pattern *p, struct pattern_scratch *s,
				 struct bytes text, struct bytes *found);

#endif
