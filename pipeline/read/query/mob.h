/*
 * mob.h - replace MOB references by their values (README.md 9)
 *
 * A reader keeps some MOB files open. Each scan and each compaction has its own reader.
 */
#ifndef SALTMILL_QUERY_MOB_H
#define SALTMILL_QUERY_MOB_H

#include "query.h"

struct mob_reader;

/*
 * Replace value and tags of a cell of the file `f` if the cell is a MOB reference. The bytes are
 * valid until the next call. Creates *m for the first reference. Returns RC_DATA if the value cannot
 * be found.
 */
int mob_resolve(struct mob_reader **m, const struct query_file *f, struct cell *c,
		struct error *err);
void mob_close(struct mob_reader *m); /* NULL is fine */

#endif
