/*
 * abandon.c - implement --abort, which removes the remains of an unfinished apply from HDFS, and
 * then the journal
 *
 * The journal goes last. If this run dies, the next run needs the journal to repeat these steps.
 * Files that are in the tables stay there.
 */
#include <unistd.h>

#include "applying.h"
#include "io.h"

/*
 * Removes the token's folder. Any region can do this. Without the table, a region of hbase:meta
 * removes the folder.
 */
static int drop_token(struct applied *t, struct error *err)
{
	struct hbase *h = t->run->hbase;
	struct hbase_region meta;
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	if (!t->token || t->hand.cleaned)
		return RC_OK;
	do {
		struct hbase_regions r = {0};

		rc = kept_regions(t->run->kept, t->result->name, &r, &why, err);
		if (rc == RC_OK)
			rc = hbase_bulk_cleanup(h, &r.item[0], t->token, &why, err);
		else if (why.trouble == TROUBLE_MISSING)
			rc = hbase_meta(h, &meta, &why, err);
		if (rc == RC_OK && !r.count)
			rc = hbase_bulk_cleanup(h, &meta, t->token, &why, err);
		hbase_regions_release(&r);
		kept_moved(t->run->kept, t->result->name);
	} while (rc && hbase_retry(&why, &attempt, err));
	return rc ? error_prefix(err, "table %s: ", t->result->name) : RC_OK;
}

static int drop_upload(struct applying *a, struct error *err)
{
	const char *token = NULL;

	for (size_t i = 0; i < a->ntables && !token; i++)
		token = a->tables[i].token;
	if (!token || !a->upload || !a->folder) /* apply uploaded no file */
		return RC_OK;
	int rc = upload_storage(a, token, err);
	return rc ? rc : remove_folder(a, err);
}

static void tell(const struct applied *t)
{
	size_t done = 0, files = 0;

	for (size_t i = 0; i < t->hand.nfiles; i++) {
		files += t->hand.files[i].state != HAND_CUT;
		done += t->hand.files[i].state == HAND_DONE;
	}
	if (done)
		applying_say(t->run,
			     "table %s: %zu of %zu files are already in the table and stay there",
			     t->result->name, done, files);
}

int abandon(struct applying *a, struct error *err)
{
	bool there;
	int rc = open_old_journal(a, &there, err);

	if (rc || !there)
		return rc;
	for (size_t i = 0; rc == RC_OK && i < a->ntables; i++)
		rc = drop_token(&a->tables[i], err);
	if (rc == RC_OK)
		rc = drop_upload(a, err);
	if (rc == RC_OK)
		rc = cut_forget(a, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < a->ntables; i++)
		tell(&a->tables[i]);
	if (unlink(a->journal.path) < 0)
		return error_errno(err, "cannot remove %s", a->journal.path);
	applying_say(a, "removed %s and the files in HDFS that it lists", a->journal.path);
	return io_sync_parent(a->journal.path, err);
}
