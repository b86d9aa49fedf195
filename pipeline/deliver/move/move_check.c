/* move_check.c - check the tables and the jobs of a move, and find HBase's files */
#include "ddl.h"
#include "deliver/staging_token.h"
#include "job.h"
#include "moving.h"
#include "storage.h"

/* The attributes by which a store decides which cells a query returns. */
static const char *const rules[] = {"VERSIONS", "MIN_VERSIONS", "TTL", "KEEP_DELETED_CELLS"};

static int describe(const struct moving *m, const char *table, struct description *out,
		    bool *exists, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	do
		rc = hbase_describe(m->hbase, table, out, m->a, exists, &why, err);
	while (rc && hbase_retry(&why, &attempt, err));
	return rc;
}

int move_regions(struct moving *m, const char *table, struct hbase_regions *out, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	while ((rc = hbase_regions(m->hbase, table, out, &why, err)) != RC_OK) {
		hbase_regions_release(out);
		if (!hbase_retry(&why, &attempt, err))
			return error_prefix(err, "table %s: ", table);
	}
	return rc;
}

static bool is_rule(const char *key)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (!key || strcmp(key, rules[i]) == 0)
			return true;
	return false;
}

/* Compares the rules of two descriptions. `all` compares all attributes. */
static int check_equal(const struct moving *m, const struct description *want,
		       const struct description *have, bool all, const char *text,
		       struct error *err)
{
	struct table_differences d = {0};

	description_compare(&d, want, have, m->a);
	for (size_t i = 0; i < d.count; i++) {
		const struct table_difference *x = &d.item[i];

		if (!x->key)
			return error_set(err, RC_CONFIG, "%s: found no family %s", text, x->family);
		if (all || (x->family && is_rule(x->key)))
			return error_set(err, RC_CONFIG, "%s: %s%sfound %s %s, expected %s", text,
					 x->family ? x->family : "", x->family ? ": " : "", x->key,
					 x->have ? x->have : "not set", x->want);
	}
	return RC_OK;
}

static int describe_job(const struct moving *m, struct description *out, struct error *err)
{
	const struct table *to = &m->opt->keys->to_table->schema;
	struct table whole = *to;

	/* `other_load` families are part of the table, too */
	whole.nfamilies = to->nfamilies + to->nothers;
	whole.nothers = 0;
	return description_of_table(out, m->a, &whole, err);
}

/* Checks that both tables show the same cells of equal store files. */
static int check_old(const struct moving *m, const struct description *job, struct error *err)
{
	struct description old;
	bool exists;
	int rc = describe(m, m->from, &old, &exists, err);

	if (rc)
		return rc;
	if (!exists)
		return error_set(err, RC_CONFIG, "the cluster has no table %s", m->from);
	char *text = mem_format("%s, compared with table %s", m->opt->keys->to->path, m->from);
	rc = check_equal(m, &old, job, false, text, err);
	mem_free(text);
	text = mem_format("table %s, compared with %s", m->from, m->opt->keys->to->path);
	if (rc == RC_OK)
		rc = check_equal(m, job, &old, false, text, err);
	mem_free(text);
	return rc ? error_prefix(err, "the tables would show other cells: ") : RC_OK;
}

static int refuse_cell(void *ctx, const struct cell *c, struct error *err)
{
	const struct moving *m = ctx;
	struct buf row = {0};

	bytes_escape(&row, c->row);
	error_set(
		err, RC_CONFIG,
		"table %s: found a cell in row %.*s, expected a missing or empty table, because its "
		"cells would mix with those of %s; drop the table, or choose another name in %s",
		m->to, (int)row.len, (const char *)row.ptr, m->from, m->opt->keys->to->path);
	buf_release(&row);
	return err->code;
}

static int check_empty(struct moving *m, struct error *err)
{
	const struct hbase_scan scan = {
		.versions = 1, .raw = true, .limit = 1, .rows_a_call = 1, .leave_cache = true};
	struct hbase_regions r;
	int rc = move_regions(m, m->to, &r, err);

	for (size_t i = 0; rc == RC_OK && i < r.count; i++) {
		struct hbase_failure why;
		struct hbase_attempts attempt = {0};

		do
			rc = hbase_scan_region(m->hbase, &r.item[i], &scan, refuse_cell, m, &why,
					       err);
		while (rc && err->code != RC_CONFIG && hbase_retry(&why, &attempt, err));
	}
	hbase_regions_release(&r);
	return rc;
}

static int check_new(struct moving *m, const struct description *job, struct error *err)
{
	struct description new;
	bool exists;
	int rc = describe(m, m->to, &new, &exists, err);

	if (rc == RC_OK && m->clear && m->out->rounds && !exists)
		return error_set(
			err, RC_CONFIG,
			"the cluster has no table %s any more, which has the cells of %llu "
			"rounds; begin again with --abort, then the same command",
			m->to, (unsigned long long)m->out->rounds);
	if (rc || !exists)
		return rc;
	char *text = mem_format("table %s, compared with %s", m->to, m->opt->keys->to->path);
	rc = check_equal(m, job, &new, true, text, err);
	mem_free(text);
	return rc || m->clear ? rc : check_empty(m, err);
}

int move_check(struct moving *m, struct error *err)
{
	struct description job;

	if (strcmp(m->from, m->to) == 0)
		return error_set(err, RC_CONFIG,
				 "found table %s in both jobs, expected another name for the new "
				 "table",
				 m->from);
	int rc = describe_job(m, &job, err);
	if (rc == RC_OK)
		rc = check_old(m, &job, err);
	return rc ? rc : check_new(m, &job, err);
}

static int ask_for_token(struct moving *m, char **token, struct error *err)
{
	struct hbase_attempts attempt = {0};

	for (;;) {
		struct hbase_regions r;
		struct hbase_failure why;
		struct error unsaid;
		int rc = hbase_regions(m->hbase, m->from, &r, &why, err);

		if (rc == RC_OK)
			rc = hbase_bulk_prepare(m->hbase, m->from, &r.item[0], token, &why, err);
		if (rc == RC_OK)
			hbase_bulk_cleanup(m->hbase, &r.item[0], *token, &why, &unsaid);
		hbase_regions_release(&r);
		if (rc == RC_OK || !hbase_retry(&why, &attempt, err))
			return rc ? error_prefix(err, "table %s: ", m->from) : RC_OK;
	}
}

/* Checks that the user may read the store files, before the first snapshot flushes the table. */
static int check_readable(const struct moving *m, struct error *err)
{
	struct storage *s;
	char *uri = root_table(m->root, "", m->from);
	int rc = storage_open(&s, uri, m->opt->storage, err);

	if (rc == RC_OK) {
		rc = storage_may(s, storage_path(s), "r-x", err);
		storage_close(s);
	}
	mem_free(uri);
	if (rc == RC_CONFIG)
		error_prefix(err, "rekey reads HBase's files itself, so run it as HBase's user: ");
	return rc;
}

static int note_root(struct moving *m, struct error *err)
{
	char *token = NULL;
	int rc = ask_for_token(m, &token, err);

	if (rc)
		return rc;
	char *root = token_root(token);
	if (root)
		rc = move_note(m, err, "root %s", root);
	else
		rc = error_set(err, RC_CONFIG,
			       "HBase keeps its files at %.200s, expected ROOT/staging/TOKEN",
			       token);
	mem_free(root);
	mem_free(token);
	return rc;
}

int move_find_root(struct moving *m, struct error *err)
{
	int rc = m->root ? RC_OK : note_root(m, err);

	return rc ? rc : check_readable(m, err);
}
