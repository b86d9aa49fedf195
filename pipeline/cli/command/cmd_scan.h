/* cmd_scan.h - a query of `saltmill get` and `scan` (inside this folder only) */
#ifndef SALTMILL_CMD_SCAN_H
#define SALTMILL_CMD_SCAN_H

#include "cli/answer.h"
#include "cmd.h"
#include "hbase.h"
#include "query.h"

struct scan_arguments {
	const char *table, *columns, *where, *via, *page;
	struct query q; /* the query from the options, before the job adds its part */
	struct buf start, stop, prefix;
	char **fields; /* for `get`, the FIELD=VALUE operands */
	size_t nfields;
	bool has_now, explain, quiet, decode, any_version;
	enum answer_format format;
};

/*
 * The source of the rows: load folders (oldest first), a live HBase, or HBase's own folders and
 * HFiles.
 */
struct scan_place {
	const char *job; /* NULL only with `offline` */
	const char *const *dirs;
	size_t ndirs;
	struct hbase *hbase;	      /* NULL if the query reads folders */
	struct offline_place offline; /* `uri` is NULL if the query reads loads or a live table */
};

/* Run the query and print the answer (scan_answer.c). */
int scan_answer(const struct scan_arguments *a, const struct scan_place *place, struct error *err);
/*
 * Run the query on an index table, and print the rows that its cells name, in the order of the
 * index (scan_via.c).
 */
int scan_answer_via(const struct scan_arguments *a, const struct scan_place *place,
		    struct error *err);

#endif
