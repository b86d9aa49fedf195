/* examples.h - reads a few rejected events for each reason */
#ifndef SALTMILL_PAGE_EXAMPLES_H
#define SALTMILL_PAGE_EXAMPLES_H

#include "mem.h"
#include "publish.h"

#define EXAMPLES_A_REASON 3

struct example {
	const char *reason, *place, *detail; /* `detail` is "" if the reject has none */
	struct bytes raw;
};

struct examples {
	struct example *item; /* in input order */
	size_t n;
};

/* Reads the first examples of each reason from DIR/rejects.jsonl into *a. */
int examples_read(struct examples *e, const char *dir, const struct manifest *m, struct arena *a,
		  struct error *err);

#endif
