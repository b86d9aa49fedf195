/*
 * kept.h - what one run of apply leaves to the next: connections, and what was looked at just now
 *
 * What is kept may be out of date, and nothing goes wrong by it: a region that was moved, split or
 * made anew is refused by its name and asked for anew (kept_moved), a table is compared by every
 * run, its incarnation is checked without what is kept, and behind a run that failed nothing is
 * kept.
 */
#ifndef SALTMILL_APPLY_KEPT_H
#define SALTMILL_APPLY_KEPT_H

#include <pthread.h>

#include "apply.h"
#include "hbase.h"
#include "storage.h"

struct kept_live_table;
struct apply_kept {
	struct hbase *hbase;
	struct hbase_status status;
	int64_t status_ms; /* when it came; 0: there is none */
	struct storage *storage;
	char *uri;	  /* of storage */
	int64_t place_ms; /* when it was looked at; 0: never */
	uint64_t room;	  /* that it had then, without what was sent since */
	pthread_mutex_t lock;
	struct kept_live_table *tables; /* their regions */
};

/* hbase is open, at the cluster that answers now. */
int kept_open(struct apply_kept *k, const struct apply_options *opt, struct error *err);
/* Is what was looked at then not older than a minute? */
bool kept_fresh(int64_t then_ms);
/* storage is open at uri. */
int kept_storage(struct apply_kept *k, const char *uri, const struct storage_options *opt,
		 struct error *err);
/* hbase_regions, or what that said within the last minute.  Release *out whatever the result. */
int kept_regions(struct apply_kept *k, const char *table, struct hbase_regions *out,
		 struct hbase_failure *why, struct error *err);
/* A table's regions may be others, or elsewhere: they are asked for anew. */
void kept_moved(struct apply_kept *k, const char *table);
/* All of it is closed and forgotten. */
void kept_drop(struct apply_kept *k);

#endif
