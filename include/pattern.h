/*
 * pattern.h - regular expressions over text with PCRE2 (the syntax of Perl, Python and Java)
 *
 * Implemented in pipeline/base. Results do not depend on the machine, because the code sets line
 * ends, \R and limits explicitly and ignores the locale. PCRE2 generates no machine code, because
 * its limits differ. \d, \w and \s are ASCII. Text is UTF-8; bytes that are not UTF-8 match
 * nothing.
 */
#ifndef SALTMILL_PATTERN_H
#define SALTMILL_PATTERN_H

#include "bytes.h"
#include "error.h"
#include "mem.h"

struct pattern;

/*
 * Compile `text` into the arena. Any thread may use the pattern. Returns RC_CONFIG, with the
 * problem and its position, if `text` is not a regular expression.
 */
int pattern_new(struct pattern **out, struct arena *a, const char *text, struct error *err);
/* Compile `text` as pattern_new does, but `.` matches any character, including line ends. */
int pattern_new_dotall(struct pattern **out, struct arena *a, const char *text, struct error *err);
/* Return the number of capturing groups. */
size_t pattern_groups(const struct pattern *p);

/* Memory of one thread for matching. {0} is empty. */
struct pattern_scratch {
	void *matcher;
};
void pattern_scratch_release(struct pattern_scratch *s);

enum pattern_result {
	PATTERN_FOUND,
	PATTERN_NONE,
	/* no result within PATTERN_WORK steps; a search for (a+)+b could take years */
	PATTERN_COSTLY
};
/*
 * Steps of a search over all start positions, about 0.3 s. A text of N bytes may take N more steps.
 */
#define PATTERN_WORK ((uint64_t)10 << 20)
/*
 * Search the pattern anywhere in `text`. *found is the pattern's first group, or the whole match if
 * the pattern has no group. A group that did not match is empty. *found borrows from `text`.
 * `found` may be NULL.
 */
enum pattern_result pattern_find(const struct pattern *p, struct pattern_scratch *s,
				 struct bytes text, struct bytes *found);

/*
 * Begin a group of searches. All following calls of pattern_find_more together have PATTERN_WORK
 * steps.
 */
void pattern_begin(struct pattern_scratch *s);
enum pattern_result pattern_find_more(const struct pattern *p, struct pattern_scratch *s,
				      struct bytes text, struct bytes *found);

#endif
