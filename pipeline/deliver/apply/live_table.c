/*
 * live_table.c - compare the live table with the load's create-table script, and create or alter it
 */
#include <inttypes.h>

#include "applying.h"
#include "io.h"

/* --- sentences --- */

static const char *sentence_of(struct arena *a, const struct table_difference *d)
{
	char *s = !d->key ? mem_format("family %s is missing", d->family)
			  : mem_format("%s%s%s is %s, expected %s", d->family ? d->family : "",
				       d->family ? ": " : "", d->key, d->have ? d->have : "not set",
				       d->want);
	char *kept = arena_strdup(a, s);

	mem_free(s);
	return kept;
}

static void tell_differences(struct applied *t, const struct table_differences *d)
{
	struct arena *a = &t->run->result->arena;

	t->result->differences = arena_alloc(a, (d->count + 1) * sizeof(const char *));
	t->result->ndifferences = d->count;
	for (size_t i = 0; i < d->count; i++)
		t->result->differences[i] = sentence_of(a, &d->item[i]);
}

/* --- comparing --- */

static int describe(struct applied *t, struct description *out, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	do
		rc = hbase_describe(t->run->hbase, t->result->name, out, &t->run->result->arena,
				    &t->exists, &why, err);
	while (rc && hbase_retry(&why, &attempt, err));
	return rc;
}

static int check_enabled(struct applied *t, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	do
		rc = precheck_enabled(t->run->hbase, t->result->name, &why, err);
	while (rc && hbase_retry(&why, &attempt, err));
	return rc;
}

/*
 * Refuses tables whose tracker apply does not know. After a lost answer, apply could not find out
 * what the call did.
 */
static int check_tracker(struct applied *t, const struct description *have, struct error *err)
{
	static const char key[] = "hbase.store.file-tracker.impl";
	const char *tracker = attributes_get(&have->table.items, key);

	t->tracked = tracker && strcmp(tracker, "FILE") == 0;
	if (!tracker || t->tracked || strcmp(tracker, "DEFAULT") == 0)
		return RC_OK;
	return error_set(
		err, RC_CONFIG,
		"table %s: found %s = %s, expected DEFAULT or FILE, because apply supports no "
		"other tracker; use completebulkload",
		t->result->name, key, tracker);
}

/* Return true if `codec: auto` chose the attribute, so a table that exists keeps its own. */
static bool was_chosen(const struct applied *t, const struct table_difference *d)
{
	const struct manifest_table *m = t->manifest;

	for (size_t i = 0; d->family && d->key && i < m->ntuned; i++) {
		const struct manifest_tuning *chosen = &m->tuned[i];

		if (strcmp(chosen->family, d->family) == 0 && chosen->encoding)
			return strcmp(d->key, "DATA_BLOCK_ENCODING") == 0 ||
			       (chosen->block_bytes && strcmp(d->key, "BLOCKSIZE") == 0);
	}
	return false;
}

/*
 * Omit the choice of `codec: auto`, and mention it, because HBase converts the files at
 * compactions.
 */
static void keep_chosen(struct applied *t, struct table_differences *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->count; i++)
		if (!was_chosen(t, &d->item[i]))
			d->item[n++] = d->item[i];
		else if (!t->keeps_noted)
			applying_say(t->run,
				     "table %s: %s in the load's files (compression: auto). The "
				     "table keeps its setting, and compactions convert the files; "
				     "to change the table, add --alter",
				     t->result->name,
				     sentence_of(&t->run->result->arena, &d->item[i]));
	d->count = n;
	t->keeps_noted = true;
}

static int compare(struct applied *t, struct description *have, struct table_differences *d,
		   struct error *err)
{
	int rc = describe(t, have, err);

	if (rc == RC_OK && !t->exists)
		kept_moved(t->run->kept, t->result->name);
	if (rc || !t->exists)
		return rc;
	t->live = *have;
	rc = check_tracker(t, have, err);
	description_compare(d, &t->want, have, &t->run->result->arena);
	if (!t->run->opt->alter)
		keep_chosen(t, d);
	tell_differences(t, d);
	return rc;
}

int table_look(struct applied *t, struct error *err)
{
	const struct apply_options *opt = t->run->opt;
	struct description have;
	struct table_differences d = {0};
	int rc = compare(t, &have, &d, err);

	if (rc)
		return rc;
	if (!t->exists && t->bound.known)
		return bind_missing(t, err);
	if (!t->exists && !opt->create && !t->create_noted) {
		if (opt->dry_run) {
			t->result->missing = true;
			return RC_OK;
		}
		return error_set(err, RC_CONFIG,
				 "the cluster has no table %s; to create it with %zu regions, add "
				 "--create",
				 t->result->name, t->splits.count + 1);
	}
	t->result->missing = !t->exists;
	if (!t->exists)
		return RC_OK;
	if (d.count && !opt->alter && !opt->dry_run)
		return error_set(
			err, RC_CONFIG,
			"table %s differs from what the load wants: %s%s; to change it, add "
			"--alter",
			t->result->name, t->result->differences[0],
			d.count > 1 ? ", and more (--dry-run lists all)" : "");
	/* an earlier run may have begun the creation, and create() waits for its end */
	if (t->create_noted && !t->created)
		return RC_OK;
	rc = check_enabled(t, err);
	if (rc)
		return rc;
	look_at_transitions(t);
	rc = bind_still(t, err);
	return rc ? rc : table_check_regions(t, err);
}

int table_still(struct applied *t, struct error *err)
{
	struct description have;

	if (t->bound.known)
		return bind_still(t, err);
	int rc = describe(t, &have, err);
	return rc || t->exists ? rc : bind_missing(t, err);
}

int table_check_regions(struct applied *t, struct error *err)
{
	struct hbase_regions r;
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	bool dry = t->run->opt->dry_run;
	size_t region;
	int rc;

	while ((rc = kept_regions(t->run->kept, t->result->name, &r, &why, err)) != RC_OK) {
		hbase_regions_release(&r);
		if (!hbase_retry(&why, &attempt, err))
			return rc;
	}
	t->result->regions = r.count;
	for (size_t i = 0; dry && i < t->hand.nfiles; i++)
		t->result->recut += !handover_region(&r, &t->hand.files[i], &region);
	if (!t->stores_seen) {
		look_at_stores(t, &r);
		look_at_replication(t);
	}
	t->stores_seen = true;
	hbase_regions_release(&r);
	return RC_OK;
}

/* --- creating and altering --- */

/*
 * Notes new nonces before apply uses them. After a crash, the next run then repeats the same
 * creation.
 */
static int name_creation(struct applied *t, struct error *err)
{
	int rc = hbase_draw_nonces(t->nonce, err);

	if (rc == RC_OK)
		rc = applying_note(t->run, err, "%zu create %016" PRIx64 " %016" PRIx64, t->index,
				   t->nonce[0], t->nonce[1]);
	t->create_noted = t->create_noted || rc == RC_OK;
	return rc;
}

static int create_namespace(struct applied *t, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	char *name = mem_strdup(t->result->name);
	int rc;

	*strchr(name, ':') = 0;
	do
		rc = hbase_create_namespace(t->run->hbase, name, &why, err);
	while (rc && hbase_retry(&why, &attempt, err));
	if (rc && why.trouble == TROUBLE_EXISTS)
		rc = RC_OK;
	if (rc == RC_OK)
		applying_say(t->run, "namespace %s exists", name);
	mem_free(name);
	return rc;
}

/*
 * Calls the master. TROUBLE_EXISTS is a success. It means that another user created the table, or
 * that the master has forgotten the nonce of the call that created it.
 */
static int ask_to_create(struct applied *t, struct error *err)
{
	struct hbase_failure why;
	struct error unnoted;
	struct hbase_attempts attempt = {0};
	bool spaced = false;

	for (;;) {
		int rc = hbase_create(t->run->hbase, t->result->name, &t->want, &t->splits,
				      t->nonce, &why, err);

		if (rc == RC_OK || why.trouble == TROUBLE_EXISTS)
			return RC_OK;
		if (why.trouble == TROUBLE_MISSING && !spaced && strchr(t->result->name, ':')) {
			spaced = true;
			/* do not reuse the nonces of the failed call */
			rc = create_namespace(t, err);
			if (rc == RC_OK)
				rc = name_creation(t, err);
			if (rc)
				return rc;
			continue;
		}
		if (hbase_retry(&why, &attempt, err))
			continue;
		/*
		 * use new nonces, because the master repeats its old answer to old nonces, even
		 * after the cause is gone
		 */
		if (why.trouble == TROUBLE_REFUSED || why.trouble == TROUBLE_MISSING)
			name_creation(t, &unnoted);
		return error_prefix(err, "table %s: ", t->result->name);
	}
}

static int check_wanted(const struct applied *t, struct error *err)
{
	for (size_t i = 0; i < t->want.nfamilies; i++)
		if (attributes_get(&t->want.families[i].items, "ENCRYPTION_KEY"))
			return error_set(
				err, RC_CONFIG,
				"table %s: family %s has an ENCRYPTION_KEY, which only the "
				"HBase shell can wrap; run `hbase shell create.rb`, then apply",
				t->result->name, t->want.families[i].name);
	return RC_OK;
}

static int create(struct applied *t, struct error *err)
{
	struct description have;
	struct table_differences d = {0};
	int rc = check_wanted(t, err);

	/* a finished creation needs new nonces */
	if (rc == RC_OK && (!t->create_noted || t->created))
		rc = name_creation(t, err);
	t->created = false;
	if (rc == RC_OK)
		rc = ask_to_create(t, err);
	if (rc == RC_OK)
		rc = compare(t, &have, &d, err);
	if (rc == RC_OK && !t->exists)
		rc = error_set(
			err, RC_IO,
			"table %s: found no table after its creation; check the master's log, "
			"then run apply again",
			t->result->name);
	if (rc == RC_OK && d.count)
		rc = error_set(
			err, RC_CONFIG,
			"table %s: found other attributes after its creation than those of the "
			"load: %s",
			t->result->name, t->result->differences[0]);
	/* if another user created the table, its regions may not be open yet */
	if (rc == RC_OK)
		rc = check_enabled(t, err);
	if (rc == RC_OK)
		rc = applying_note(t->run, err, "%zu created", t->index);
	t->created = t->changed = rc == RC_OK;
	return rc;
}

static int alter(struct applied *t, struct error *err)
{
	struct description have;
	struct table_differences d = {0}, left = {0};
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	uint64_t nonce[2];
	int rc = compare(t, &have, &d, err);

	if (rc == RC_OK)
		rc = hbase_draw_nonces(nonce, err);
	if (rc || d.count == 0)
		return rc;
	description_mend(&have, &t->want, &d, &t->run->result->arena);
	do
		rc = hbase_alter(t->run->hbase, t->result->name, &have, nonce, &why, err);
	while (rc && hbase_retry(&why, &attempt, err));
	if (rc)
		return error_prefix(err, "table %s: ", t->result->name);
	rc = compare(t, &have, &left, err);
	if (rc == RC_OK && left.count)
		rc = error_set(
			err, RC_IO,
			"table %s: found other attributes after the alteration than those of the "
			"load: %s",
			t->result->name, t->result->differences[0]);
	tell_differences(t, &d);
	t->result->altered = t->changed = rc == RC_OK;
	return rc;
}

int table_prepare(struct applied *t, struct error *err)
{
	int rc = RC_OK;

	if (!t->exists || (t->create_noted && !t->created)) {
		rc = create(t, err);
		if (rc == RC_OK)
			applying_say(t->run, "table %s was created", t->result->name);
	} else if (t->result->ndifferences) {
		rc = alter(t, err);
		if (rc == RC_OK)
			applying_say(t->run, "altered table %s: %zu attribute%s", t->result->name,
				     t->result->ndifferences,
				     t->result->ndifferences == 1 ? "" : "s");
	}
	t->result->created = t->created;
	t->result->missing = false;
	return rc ? rc : table_check_regions(t, err);
}
