/*
 * kept.h - connections and recent answers that one run of apply keeps for the next
 *
 * Outdated answers do no harm. A server refuses a call for a region that HBase moved, split or
 * recreated. apply then requests the regions again (kept_moved). Every run compares the live table
 * with the load, and checks the table's incarnation by new requests. A failed run keeps nothing.
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
	int64_t status_ms; /* time of the status, 0 if there is none */
	struct storage *storage;
	char *uri;	  /* the URI of storage */
	int64_t place_ms; /* time of the last check of the upload folder, 0 if there was none */
	uint64_t room;	  /* free bytes at that time, minus the bytes sent later */
	pthread_mutex_t lock;
	struct kept_live_table *tables; /* live tables with their regions */
};

/*
 * Opens k->hbase at the cluster that answers now. Keeps the open connection if the cluster is the
 * same.
 */
int kept_open(struct apply_kept *k, const struct apply_options *opt, struct error *err);
/* Returns true if `then_ms` is at most a minute ago. */
bool kept_fresh(int64_t then_ms);
/* Opens k->storage at `uri`, unless this storage is already open. */
int kept_storage(struct apply_kept *k, const char *uri, const struct storage_options *opt,
		 struct error *err);
/*
 * Requests the regions as hbase_regions does, but may return an answer of the last minute. The
 * caller always releases *out.
 */
int kept_regions(struct apply_kept *k, const char *table, struct hbase_regions *out,
		 struct hbase_failure *why, struct error *err);
/* Forgets a table's regions, which may have changed. The next call then requests them. */
void kept_moved(struct apply_kept *k, const char *table);
/* Closes and forgets everything. */
void kept_drop(struct apply_kept *k);

#endif
