/*
 * look_ahead.c - report problems before apply sends a byte
 *
 * This file checks how many files the stores would have, and whether HDFS accepts the load from
 * this user. precheck.h checks the cluster.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "applying.h"
#include "clock.h"
#include "bytes.h"

#define FILES_A_FAMILY 32 /* hbase.mapreduce.bulkload.max.hfiles.perRegion.perFamily */
#define BLOCKING_FILES 16 /* hbase.hstore.blockingStoreFiles */
#define ROOM_TRIES     5  /* each attempt waits as long as the storage's patience */

static void warn(void *ctx, const char *sentence)
{
	applying_warn(ctx, "%s", sentence);
}

/* --- the cluster --- */

int look_at_cluster(struct applying *a, struct error *err)
{
	const struct listener l = {warn, a};
	struct apply_kept *k = a->kept;

	if (kept_fresh(k->status_ms))
		return RC_OK;
	hbase_status_release(&k->status);
	int rc = precheck_wait(a->hbase, &k->status, err);
	k->status_ms = clock_ms();
	return rc ? rc : precheck_cluster(&l, &k->status, clock_wall_ms(), err);
}

void look_at_transitions(struct applied *t)
{
	const struct listener l = {warn, t->run};

	precheck_table(&l, &t->run->kept->status, t->result->name, clock_wall_ms());
}

/* --- files of a store --- */

/* Returns the value of hbase.hstore.blockingStoreFiles, or NULL if `d` does not set it. */
static const char *blocking_of(const struct described *d)
{
	static const char key[] = "hbase.hstore.blockingStoreFiles";
	const char *said = d ? attributes_get(&d->items, key) : NULL;

	return said || !d ? said : attributes_get(&d->configuration, key);
}

/*
 * Returns the limit of files for a store. Returns 0 if neither the family nor the table sets the
 * limit, because apply does not know hbase-site. A family's setting overrides its table's setting
 * (StoreUtils.createStoreConfiguration). The settings of the load come first, because the live
 * table has them or gets them.
 */
static size_t blocking_files(const struct applied *t, const char *family)
{
	const struct described *levels[] = {description_family(&t->want, family),
					    description_family(&t->live, family), &t->want.table,
					    &t->live.table};
	const char *said = NULL;

	for (size_t i = 0; !said && i < sizeof levels / sizeof *levels; i++)
		said = blocking_of(levels[i]);
	return said ? strtoul(said, NULL, 10) : 0;
}

size_t blocking_files_of(const struct applied *t)
{
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < t->want.nfamilies; i++) {
		size_t said = blocking_files(t, t->want.families[i].name);

		least = said && said < least ? said : least;
	}
	return least == SIZE_MAX ? BLOCKING_FILES : least;
}

static size_t family_index(const struct applied *t, const char *family)
{
	size_t i = 0;

	while (i < t->want.nfamilies && strcmp(t->want.families[i].name, family) != 0)
		i++;
	return i;
}

/* The number of stores that exceed a limit, and the store with most files. */
struct crowd {
	size_t stores, added, before;
	size_t bound;
	bool said; /* true if the table or family sets the limit */
	const char *family;
	struct bytes region;
};

static void count_store(struct crowd *c, size_t bound, bool said, size_t added, size_t before,
			const char *family, struct bytes region)
{
	if (!added || added + before <= bound)
		return;
	c->stores++;
	if (added + before > c->added + c->before)
		*c = (struct crowd){c->stores, added, before, bound, said, family, region};
}

static void tell_crowds(const struct applied *t, const struct crowd *many, const struct crowd *full)
{
	const struct crowd *c = many->stores ? many : full;
	struct buf start = {0};

	if (!c->stores)
		return;
	bytes_escape(&start, c->region);
	if (many->stores)
		applying_warn(
			t->run,
			"table %s: %zu stores get more than %d files, the limit of "
			"completebulkload; the most, %zu, are in family %s of the region that "
			"starts at `%.*s`: HBase will compact them at once; for fewer files, "
			"use larger files or more regions (`regions:` of the job)",
			t->result->name, c->stores, FILES_A_FAMILY, c->added, c->family,
			(int)start.len, (const char *)start.ptr);
	else
		applying_warn(
			t->run,
			"table %s: %zu stores would have more files than "
			"hbase.hstore.blockingStoreFiles (%zu%s); the most, in family %s of the "
			"region that starts at `%.*s`, are %zu new and %zu old ones: writes to "
			"these regions wait until HBase has compacted them; run `major_compact "
			"'%s'` first, or use larger files",
			t->result->name, c->stores, c->bound,
			c->said ? "" : " unless hbase-site sets another", c->family, (int)start.len,
			(const char *)start.ptr, c->added, c->before, t->result->name);
	buf_release(&start);
}

void look_at_stores(struct applied *t, const struct hbase_regions *r)
{
	size_t nfamilies = t->want.nfamilies, region;
	size_t *files = mem_calloc(r->count * (nfamilies + 1) + 1, sizeof *files);
	struct crowd many = {0}, full = {0};

	for (size_t i = 0; i < t->hand.nfiles; i++) {
		const struct hand_file *f = &t->hand.files[i];

		if (f->state == HAND_DONE || f->state == HAND_CUT)
			continue;
		handover_region(r, f, &region);
		files[region * (nfamilies + 1) + family_index(t, f->family)]++;
	}
	for (size_t i = 0; i < r->count; i++) {
		const struct hbase_store_files *s =
			hbase_status_stores(&t->run->kept->status, r->item[i].name);
		/* HBase reports the number of files for the region, not for each family */
		size_t before = s && s->families ? s->files / s->families : 0;

		for (size_t k = 0; k < nfamilies; k++) {
			size_t added = files[i * (nfamilies + 1) + k];
			const char *family = t->want.families[k].name;
			size_t said = blocking_files(t, family);

			count_store(&many, FILES_A_FAMILY, true, added, 0, family,
				    r->item[i].start);
			count_store(&full, said ? said : BLOCKING_FILES, said, added, before,
				    family, r->item[i].start);
		}
	}
	tell_crowds(t, &many, &full);
	mem_free(files);
}

/* --- HDFS --- */

static uint64_t bytes_to_send(const struct applying *a)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < a->ntables; i++)
		for (size_t k = 0; k < a->tables[i].hand.nfiles; k++)
			if (a->tables[i].hand.files[k].state == HAND_NEW)
				bytes += a->tables[i].sources[k].bytes;
	return bytes;
}

/*
 * Counts the files and folders to create, including the folders of the load, of tables and of
 * families.
 */
static uint64_t names_to_make(const struct applying *a)
{
	uint64_t names = 1;

	for (size_t i = 0; i < a->ntables; i++) {
		names += 1 + a->tables[i].want.nfamilies;
		for (size_t k = 0; k < a->tables[i].hand.nfiles; k++)
			names += a->tables[i].hand.files[k].state == HAND_NEW;
	}
	return names;
}

/*
 * Reads the free space. A NameNode that has just started reports no space before its DataNodes
 * register.
 */
static int ask_room(struct applying *a, uint64_t *room, struct error *err)
{
	const struct hbase_failure later = {.trouble = TROUBLE_BUSY};
	struct hbase_attempts attempt = {.rounds = true};
	unsigned tries = 0;

	for (;;) {
		int rc = storage_free(a->storage, storage_path(a->storage), room, err);

		if (rc != RC_IO || a->opt->dry_run || ++tries >= ROOM_TRIES)
			return rc;
		applying_say(a, "waiting: %s", err->msg);
		if (!hbase_retry(&later, &attempt, err))
			return err->code;
	}
}

static int check_room(struct applying *a, uint64_t bytes, struct error *err)
{
	uint64_t room = UINT64_MAX;
	char have[16], need[16];
	int rc = bytes ? ask_room(a, &room, err) : RC_OK;

	if (rc)
		return rc;
	if (!bytes) /* skip the check if the free space is unknown */
		a->kept->room = 0;
	else
		a->kept->room = room == UINT64_MAX ? room : room > bytes ? room - bytes : 0;
	if (room >= bytes)
		return RC_OK;
	return error_set(
		err, RC_CONFIG,
		"%s: not enough free space: found %s, expected at least %s for the upload: "
		"remove unneeded files (`hdfs dfs -expunge` empties the trash), or add DataNodes",
		a->upload, format_bytes(have, room), format_bytes(need, bytes));
}

static int check_quota(const struct applying *a, uint64_t bytes, struct error *err)
{
	struct storage_quota q = {.names = UINT64_MAX, .bytes = UINT64_MAX};
	uint64_t names = names_to_make(a);
	char have[16], need[16];
	int rc = bytes ? storage_quota(a->storage, storage_path(a->storage), &q, err) : RC_OK;

	if (rc || (bytes <= q.bytes && (!bytes || names <= q.names)))
		return rc;
	if (bytes > q.bytes)
		return error_set(
			err, RC_CONFIG,
			"%s: the folder's space quota leaves %s, expected at least %s for the "
			"upload; raise it (`hdfs dfsadmin -setSpaceQuota`) or remove files there",
			a->upload, format_bytes(have, q.bytes), format_bytes(need, bytes));
	return error_set(
		err, RC_CONFIG,
		"%s: the folder's name quota leaves %" PRIu64 ", expected at least %" PRIu64
		" for the files and folders of the load; raise it (`hdfs dfsadmin -setQuota`) or "
		"remove files there",
		a->upload, q.names, names);
}

/* Finds the nearest existing folder at or above `path`, and shortens `path` to it. */
static int nearest(const struct applying *a, char *path, struct storage_info *info,
		   struct error *err)
{
	int rc = storage_stat(a->storage, path, info, err);

	while (rc == RC_OK && info->kind == STORAGE_NOTHING && path[0] && strcmp(path, "/") != 0) {
		char *slash = strrchr(path, '/');

		slash[slash == path] = 0;
		rc = storage_stat(a->storage, path, info, err);
	}
	return rc;
}

/*
 * Queries HDFS for the user's rights, because the folder's mode does not show groups, ACLs and
 * superusers.
 */
static int check_rights(struct applying *a, struct error *err)
{
	const char *user = storage_user(a->storage), *wanted = storage_path(a->storage);
	char *path = mem_strdup(*wanted ? wanted : "/");
	struct storage_info info;
	struct error denied;
	int rc = user ? nearest(a, path, &info, err) : RC_OK;
	int may = rc == RC_OK && user ? storage_may(a->storage, path, "-wx", &denied) : RC_OK;

	if (may && may != RC_CONFIG) {
		*err = denied;
		rc = may;
	} else if (may) {
		applying_warn(
			a,
			"%s: %s belongs to %s and has mode %o, so you may not create files there "
			"(%s); run `hdfs dfs -mkdir -p %s` and `hdfs dfs -chown %s %s` as %s, or "
			"choose another folder with --upload",
			a->upload, path, info.owner, info.mode, denied.msg, wanted, user, wanted,
			info.owner);
	}
	mem_free(path);
	return rc;
}

/* Warns, with --dry-run, of a state that would make a real run wait. */
static int warn_only(struct applying *a, int rc, const struct error *err)
{
	if (!a->opt->dry_run || rc != RC_IO)
		return rc;
	applying_warn(a, "%s", err->msg);
	return RC_OK;
}

int look_at_place(struct applying *a, struct error *err)
{
	struct apply_kept *k = a->kept;
	uint64_t bytes = bytes_to_send(a);

	if (kept_fresh(k->place_ms) && bytes <= k->room) {
		k->room -= k->room == UINT64_MAX ? 0 : bytes;
		return RC_OK;
	}
	int rc = warn_only(a, check_room(a, bytes, err), err);
	if (rc == RC_OK)
		rc = warn_only(a, check_quota(a, bytes, err), err);
	if (rc == RC_OK)
		rc = warn_only(a, check_rights(a, err), err);
	k->place_ms = rc == RC_OK ? clock_ms() : 0;
	return rc;
}
