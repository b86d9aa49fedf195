/*
 * key_text.h - a row key as people call it: by the fields it is made of
 */
#ifndef SALTMILL_KEY_TEXT_H
#define SALTMILL_KEY_TEXT_H

#include "job.h"
#include "plan.h"

/* What key_text knows of the keys. */
struct key_namer {
	const struct job *job;
	const struct job_table *table;
	const struct key_shape *shape;
};

/*
 * plan_options.name_key with a struct key_namer: append "userId 42, movieId 7" for a key or for its
 * prefix through a part.  A salt is named only when it stands alone; hashes and constants never.
 */
void key_text(void *namer, struct bytes key, size_t part, struct buf *out);

#endif
