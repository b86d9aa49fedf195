/* examples.h - a few rejected events of each reason */
#ifndef SALTMILL_PAGE_EXAMPLES_H
#define SALTMILL_PAGE_EXAMPLES_H

#include "mem.h"
#include "publish.h"

#define EXAMPLES_A_REASON 3

struct example {
	const char *reason, *place, *detail; /* detail: "" where there is none */
	struct bytes raw;
};

struct examples {
	struct example *item; /* in input order */
	size_t n;
};

/* Of DIR/rejects.jsonl, in *a: the first of each of the reasons. */
int examples_read(struct examples *e, const char *dir, const struct manifest *m, struct arena *a,
		  struct error *err);

#endif
