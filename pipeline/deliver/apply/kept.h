/*
 * kept.h - what one run of apply keeps for the next: connections and recent answers
 *
 * What is kept may be outdated, and that does no harm. A server refuses a call for a region that
 * was moved, split or created anew, and the regions are requested again (kept_moved). Every run
 * compares the table. Its incarnation is checked without what is kept. After a run that failed
 * nothing is kept.
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
	int64_t status_ms; /* time of the status; 0: there is none */
	struct storage *storage;
	char *uri;	  /* the URI of storage */
	int64_t place_ms; /* time of the last check of the upload folder; 0: never */
	uint64_t room;	  /* free bytes at that time, less what was sent since */
	pthread_mutex_t lock;
	struct kept_live_table *tables; /* their regions */
};

/* Opens k->hbase at the cluster that answers now, or keeps it if it is that cluster. */
int kept_open(struct apply_kept *k, const struct apply_options *opt, struct error *err);
/* Returns true if then_ms is at most a minute ago. */
bool kept_fresh(int64_t then_ms);
/* Opens k->storage at uri, unless it is open there. */
int kept_storage(struct apply_kept *k, const char *uri, const struct storage_options *opt,
		 struct error *err);
/*
 * Like hbase_regions, but may return an answer of the last minute. Release *out whatever the
 * result.
 */
int kept_regions(struct apply_kept *k, const char *table, struct hbase_regions *out,
		 struct hbase_failure *why, struct error *err);
/* Forgets a table's regions: they may have changed, so they are requested again. */
void kept_moved(struct apply_kept *k, const char *table);
/* Closes and forgets everything. */
void kept_drop(struct apply_kept *k);

#endif
