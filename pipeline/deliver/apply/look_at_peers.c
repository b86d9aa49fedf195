/* look_at_peers.c - report replication, backups and the normalizer of a live table before the load */
#include "applying.h"

/* Returns a family of the load that the live table replicates, or NULL. */
static const char *replicated_family(const struct applied *t)
{
	for (size_t i = 0; i < t->want.nfamilies; i++) {
		const char *name = t->want.families[i].name;
		const struct described *d =
			description_family(t->exists ? &t->live : &t->want, name);
		const char *scope = d ? attributes_get(&d->items, "REPLICATION_SCOPE") : NULL;

		if (scope && strcmp(scope, "0") != 0)
			return name;
	}
	return NULL;
}

static void look_at_normalizer(struct applied *t)
{
	const char *said = attributes_get(&t->live.table.items, "NORMALIZATION_ENABLED");

	if (said && strcasecmp(said, "true") == 0)
		applying_warn(
			t->run,
			"table %s: NORMALIZATION_ENABLED is true, so HBase may merge or split "
			"the regions of the load; run `normalizer_switch false` in the HBase "
			"shell during the load",
			t->result->name);
}

/* --- backups --- */

/* The table of HBase's backups (BackupSystemTable), unless hbase.backup.system.table.name differs. */
#define BACKUP_TABLE "backup:system"

struct backups {
	struct bytes table;
	size_t above; /* bytes of the row key before the name */
	bool listed;  /* the value lists the tables, and not the qualifier */
	struct buf *names;
};

/* Returns true if a list such as "t1,ns:t2" has the table. */
static bool lists(struct bytes list, struct bytes table)
{
	for (size_t at = 0; at <= list.len;) {
		const uint8_t *from = list.ptr + at,
			      *comma = at < list.len ? memchr(from, ',', list.len - at) : NULL;
		size_t n = comma ? (size_t)(comma - from) : list.len - at;

		if (bytes_eq(bytes_of(from, n), table))
			return true;
		at += n + 1;
	}
	return false;
}

static int take_backup(void *ctx, const struct cell *c, struct error *err)
{
	struct backups *b = ctx;

	(void)err;
	if (c->row.len > b->above &&
	    (b->listed ? lists(c->value, b->table) : bytes_eq(c->qualifier, b->table)))
		buf_printf(b->names, "%s%.*s", b->names->len ? ", " : "",
			   (int)(c->row.len - b->above), (const char *)c->row.ptr + b->above);
	return RC_OK;
}

/* Appends the names of the rows that begin with `prefix` and contain the table. */
static int find_backups(struct applied *t, const struct hbase_regions *r, const char *prefix,
			bool listed, struct buf *names, struct error *err)
{
	struct hbase *h = t->run->hbase;
	struct backups b = {bytes_str(t->result->name), strlen(prefix), listed, names};
	char *stop = mem_strdup(prefix);
	struct hbase_failure why;
	int rc = RC_OK;

	stop[b.above - 1]++;
	const struct hbase_scan scan = {.family = "meta",
					.start = bytes_str(prefix),
					.stop = bytes_str(stop)};
	for (size_t i = 0; rc == RC_OK && i < r->count; i++)
		rc = hbase_scan_region(h, &r->item[i], &scan, take_backup, &b, &why, err);
	mem_free(stop);
	return rc;
}

static void look_at_backups(struct applied *t)
{
	struct hbase_regions r = {0};
	struct hbase_failure why = {0};
	struct buf sets = {0}, places = {0};
	struct error err;
	int rc = hbase_regions(t->run->hbase, BACKUP_TABLE, &r, &why, &err);

	if (rc == RC_OK)
		rc = find_backups(t, &r, "backupset:", true, &sets, &err);
	if (rc == RC_OK)
		rc = find_backups(t, &r, "incrbackupset:", false, &places, &err);
	if (rc == RC_OK && (sets.len || places.len))
		applying_warn(
			t->run,
			"table %s: HBase backs it up (%s%.*s%s%s%.*s); an incremental backup contains "
			"the files of this load only if the servers have "
			"org.apache.hadoop.hbase.backup.BackupObserver in "
			"hbase.coprocessor.region.classes; otherwise run a full backup after the load",
			t->result->name, sets.len ? "backup set " : "", (int)sets.len,
			sets.len ? (const char *)sets.ptr : "", sets.len && places.len ? "; " : "",
			places.len ? "incremental backups in " : "", (int)places.len,
			places.len ? (const char *)places.ptr : "");
	else if (rc && rc != RC_STOPPED && why.trouble != TROUBLE_MISSING)
		applying_say(t->run,
			     "table %s: apply cannot see in table " BACKUP_TABLE
			     " whether HBase backs it up: %s",
			     t->result->name, err.msg);
	buf_release(&sets);
	buf_release(&places);
	hbase_regions_release(&r);
}

void look_at_replication(struct applied *t)
{
	struct applying *a = t->run;
	const char *family = replicated_family(t), *peers = "";
	struct hbase_failure why;
	struct error err;

	look_at_normalizer(t);
	if (t->exists)
		look_at_backups(t);
	if (!family || a->opt->no_replicate)
		return;
	int rc = hbase_peers(a->hbase, &a->result->arena, &peers, &why, &err);
	if (rc == RC_OK && !*peers)
		return;
	applying_warn(a,
		      "table %s: family %s has REPLICATION_SCOPE 1, and the cluster %s%s%s; it "
		      "sends the files of a bulk load there only if its servers have "
		      "hbase.replication.bulkload.enabled; otherwise use --no-replicate here and "
		      "--also to load the files there",
		      t->result->name, family, rc ? "may replicate it (" : "replicates to ",
		      rc ? err.msg : peers, rc ? ")" : "");
}
