/* cmd_scan.h - what `saltmill get` and `scan` were asked (inside pipeline/cli/command only) */
#ifndef SALTMILL_CMD_SCAN_H
#define SALTMILL_CMD_SCAN_H

#include "cli/answer.h"
#include "cmd.h"
#include "hbase.h"
#include "query.h"

struct scan_arguments {
	const char *table, *columns, *where, *via;
	const char *servers, *user; /* of a live HBase */
	struct query q;		    /* but for what the job's table says */
	struct buf start, stop;
	char **fields; /* of a get: FIELD=VALUE operands */
	size_t nfields;
	bool has_row, has_prefix, has_now, explain, quiet, decode, any_version;
	enum answer_format format;
};

/* Who is asked: the folders of loads, the oldest first, or a live HBase. */
struct scan_place {
	const char *job;
	const char *const *dirs;
	size_t ndirs;
	struct hbase *hbase; /* NULL: the folders */
};

/* scan_answer.c: ask and print the answer. */
int scan_answer(const struct scan_arguments *a, const struct scan_place *place, struct error *err);
/* scan_via.c: the same of the rows that an index table's cells name, in the order of the index. */
int scan_answer_via(const struct scan_arguments *a, const struct scan_place *place,
		    struct error *err);

#endif
