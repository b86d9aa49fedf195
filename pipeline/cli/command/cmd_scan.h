/* cmd_scan.h - a query of `saltmill get` and `scan` (inside this room only) */
#ifndef SALTMILL_CMD_SCAN_H
#define SALTMILL_CMD_SCAN_H

#include "cli/answer.h"
#include "cmd.h"
#include "hbase.h"
#include "query.h"

struct scan_arguments {
	const char *table, *columns, *where, *via;
	struct query q; /* without what the job adds */
	struct buf start, stop;
	char **fields; /* of a get: FIELD=VALUE operands */
	size_t nfields;
	bool has_now, explain, quiet, decode, any_version;
	enum answer_format format;
};
void scan_arguments_release(struct scan_arguments *a);

/* Where the rows are: in folders of loads, the oldest first, or in a live HBase. */
struct scan_place {
	const char *job;
	const char *const *dirs;
	size_t ndirs;
	struct hbase *hbase; /* NULL: the folders */
};

/* scan_answer.c: run the query and print the answer. */
int scan_answer(const struct scan_arguments *a, const struct scan_place *place, struct error *err);
/* scan_via.c: the same for the rows that the cells of an index table name, in its order. */
int scan_answer_via(const struct scan_arguments *a, const struct scan_place *place,
		    struct error *err);

#endif
