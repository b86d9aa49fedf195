/*
 * pattern.h - regular expressions over text, by PCRE2 (the syntax of Perl, Python and Java)
 *
 * Implemented in pipeline/base. Results do not depend on the machine: line ends, \R and limits are
 * set explicitly, the locale is ignored, and no machine code is generated, because its limits
 * differ. \d, \w and \s are ASCII. Text is UTF-8; bytes that are not UTF-8 match nothing.
 */
#ifndef SALTMILL_PATTERN_H
#define SALTMILL_PATTERN_H

#include "bytes.h"
#include "error.h"
#include "mem.h"

struct pattern;

/* Compile text into the arena; any thread may use it. RC_CONFIG: what is wrong, and where. */
int pattern_new(struct pattern **out, struct arena *a, const char *text, struct error *err);
/* The same, but `.` matches any character, including line ends. */
int pattern_new_dotall(struct pattern **out, struct arena *a, const char *text, struct error *err);
/* Return the number of capturing (groups). */
size_t pattern_groups(const struct pattern *p);

/* Memory of one thread for matching. {0} is empty. */
struct pattern_scratch {
	void *match;
};
void pattern_scratch_release(struct pattern_scratch *s);

enum pattern_result {
	PATTERN_FOUND,
	PATTERN_NONE,
	PATTERN_COSTLY /* not found within a million steps: (a+)+b could search for ever */
};
/*
 * Search the pattern anywhere in text. *found is its first group, or the whole match if it has
 * none; a group that did not match is empty. It borrows from text. found may be NULL.
 */
enum pattern_result pattern_find(const struct pattern *p, struct pattern_scratch *s,
				 struct bytes text, struct bytes *found);

#endif
