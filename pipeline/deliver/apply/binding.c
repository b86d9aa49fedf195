/*
 * binding.c - bind a journal to one incarnation of each table
 *
 *   0 table 16468 3f2a.. 77c1..    the folder and regions of table 0, before its first file
 *
 * Another incarnation of the table does not have the files that the journal notes as done. So apply
 * refuses the journal if the incarnation changed.
 */
#include "applying.h"

static int other_table(const struct applied *t, const char *what, struct error *err)
{
	return error_set(
		err, RC_CONFIG,
		"table %s %s after apply loaded this load, and HBase removed the load's cells "
		"(%s); to load the cells again, run `saltmill apply %s --restart`",
		t->result->name, what, t->run->journal.path, t->run->opt->dir);
}

static int note(struct applied *t, struct error *err)
{
	struct buf words = {0};

	incarnation_words(&words, &t->bound);
	buf_put(&words, 0);
	int rc = applying_note(t->run, err, "%zu table%s", t->index, (const char *)words.ptr);
	buf_release(&words);
	return rc;
}

/*
 * Reads the inode number of the table's folder. A run that uploads nothing has not opened the
 * storage, so this function opens it.
 */
static int folder_now(struct applied *t, uint64_t *folder, struct error *err)
{
	*folder = 0;
	if (!t->token)
		return RC_OK;
	int rc = upload_storage(t->run, t->token, err);
	return rc ? rc : table_folder_id(t, folder, err);
}

int bind_check(struct applied *t, const struct hbase_regions *r, struct error *err)
{
	uint64_t folder = 0;

	if (!t->bound.known || incarnation_has(&t->bound, r))
		return RC_OK;
	int rc = t->bound.folder ? folder_now(t, &folder, err) : RC_OK;
	if (rc)
		return rc;
	if (!incarnation_in(&t->bound, folder))
		return other_table(t,
				   folder ? "was dropped, truncated or recreated"
					  : "was dropped, truncated or recreated, or all its "
					    "regions were split or merged and its folder cannot "
					    "be read,",
				   err);
	/* splits and merges have replaced all known regions, so note the current regions */
	incarnation_take(&t->bound, r, folder);
	return t->run->finished ? RC_OK : note(t, err);
}

int bind_missing(const struct applied *t, struct error *err)
{
	return other_table(t, "was dropped", err);
}

/* Reads the regions from hbase:meta. Waits while HBase splits a region. */
static int regions_now(struct applied *t, struct hbase_regions *r, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};

	for (;;) {
		kept_moved(t->run->kept, t->result->name);
		int rc = kept_regions(t->run->kept, t->result->name, r, &why, err);
		if (rc == RC_OK)
			return RC_OK;
		hbase_regions_release(r);
		if (why.trouble == TROUBLE_MISSING)
			return bind_missing(t, err);
		if (!hbase_retry(&why, &attempt, err))
			return rc;
	}
}

int bind_still(struct applied *t, struct error *err)
{
	struct hbase_regions r = {0};

	if (!t->bound.known)
		return RC_OK;
	int rc = regions_now(t, &r, err);
	if (rc == RC_OK)
		rc = bind_check(t, &r, err);
	hbase_regions_release(&r);
	return rc;
}

int bind_table(struct applied *t, struct error *err)
{
	struct hbase_regions r = {0};
	uint64_t folder = 0;

	if (t->bound.known)
		return bind_still(t, err);
	int rc = regions_now(t, &r, err);
	if (rc == RC_OK)
		rc = folder_now(t, &folder, err);
	if (rc == RC_OK) {
		incarnation_take(&t->bound, &r, folder);
		rc = note(t, err);
	}
	hbase_regions_release(&r);
	return rc;
}

/* Returns true if a call with this table's files has begun or a file is in the table. */
static bool was_sent(const struct applied *t)
{
	for (size_t i = 0; i < t->hand.nfiles; i++)
		if (t->hand.files[i].state == HAND_SENT || t->hand.files[i].state == HAND_DONE)
			return true;
	return t->hand.nfiles && (t->hand.cleaned || t->run->finished);
}

int bind_known(const struct applied *t, struct error *err)
{
	if (t->bound.known || !was_sent(t))
		return RC_OK;
	return error_set(
		err, RC_CONFIG,
		"%s: found a journal of an older saltmill without the incarnation of table %s, "
		"so apply cannot trust it; to load everything again, run `saltmill apply %s "
		"--restart`; HBase shows each cell once",
		t->run->journal.path, t->result->name, t->run->opt->dir);
}
