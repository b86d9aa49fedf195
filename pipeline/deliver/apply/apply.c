/*
 * apply.c - load the files of a published load into their tables in HBase
 *
 * All checks come first, so that apply reports problems before it sends anything.
 */
#include "apply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "applying.h"
#include "clock.h"
#include "run.h"
#include "io.h"
#include "pool.h"

#define CALLS	    8 /* maximum number of calls at a time, one for each region */
#define PACE_BATCH  8 /* regions of a batch with --pace */
#define SCRIPT_MOST ((size_t)64 << 20)

/* --- the files in the load's folder --- */

/* Reads a file of the load, and compares its digest with the digest in the manifest. */
static int read_proved(const char *path, const uint8_t digest[16], struct buf *text,
		       struct error *err)
{
	uint8_t found[16];
	uint64_t bytes;
	int rc = io_digest_file(path, found, &bytes, err);

	if (rc == RC_OK && memcmp(found, digest, sizeof found) != 0)
		rc = error_set(
			err, RC_DATA,
			"%s: found other bytes than those that the load published; restore the "
			"file, or load again",
			path);
	return rc ? rc : io_read_file_upto(path, SCRIPT_MOST, text, err);
}

static int read_table(struct applied *t, struct error *err)
{
	const struct manifest_table *m = t->manifest;
	struct applying *a = t->run;
	char *dir =
		m->dir ? mem_format("%s/%s", a->opt->dir, m->dir) : table_dir(a->opt->dir, m->name);
	char *script = mem_format("%s/create.rb", dir), *keys = mem_format("%s/splits.txt", dir);
	struct buf text = {0};
	int rc = read_proved(script, m->create_digest, &text, err);

	if (rc == RC_OK)
		rc = description_of_script(&t->want, &a->result->arena, script, buf_bytes(&text),
					   err);
	if (rc == RC_OK && strcmp(t->want.creates, m->name) != 0)
		rc = error_set(err, RC_DATA,
			       "%s: found table %s, expected %s as in manifest.json; restore both "
			       "files, or load again",
			       script, t->want.creates, m->name);
	text.len = 0;
	if (rc == RC_OK)
		rc = read_proved(keys, m->splits_digest, &text, err);
	if (rc == RC_OK)
		rc = splits_parse(&t->splits, keys, buf_bytes(&text), err);
	buf_release(&text);
	mem_free(script);
	mem_free(keys);
	mem_free(dir);
	return rc;
}

static struct applied_file source_of(struct applying *a, const struct manifest_file *m)
{
	struct applied_file s = {.family = m->family, .bytes = m->bytes, .cells = m->cells};
	char *path = mem_format("%s/%s", a->opt->dir, m->path);

	memcpy(s.digest, m->digest, sizeof s.digest);
	s.path = arena_strdup(&a->result->arena, path);
	s.name = m->path;
	mem_free(path);
	return s;
}

static int make_table(struct applying *a, size_t index, struct error *err)
{
	struct applied *t = &a->tables[index];
	const struct manifest_table *m = &a->manifest.tables[index];
	struct hand_file *files = mem_calloc(m->nfiles + 1, sizeof *files);

	*t = (struct applied){.manifest = m,
			      .index = index,
			      .result = &a->result->tables[index],
			      .sources = mem_calloc(m->nfiles + 1, sizeof *t->sources),
			      .run = a};
	*t->result = (struct apply_table){.name = m->name, .files = m->nfiles};
	for (size_t i = 0; i < m->nfiles; i++) {
		files[i] = (struct hand_file){.family = m->files[i].family,
					      .first = m->files[i].first_row,
					      .last = m->files[i].last_row,
					      .bytes = m->files[i].bytes,
					      .upload = m->files[i].path};
		t->sources[i] = source_of(a, &m->files[i]);
		t->result->bytes += m->files[i].bytes;
		t->result->cells += m->files[i].cells;
	}
	t->hand = (struct handover){.table = m->name,
				    .files = files,
				    .nfiles = m->nfiles,
				    .threads = CALLS,
				    .batch = a->opt->pace && !a->opt->batch ? PACE_BATCH
									    : a->opt->batch,
				    .done = &a->done,
				    .progress = a->opt->progress};
	a->nfiles += m->nfiles;
	world_make(t);
	return read_table(t, err);
}

static int read_load(struct applying *a, struct error *err)
{
	struct arena *arena = &a->result->arena;
	char *path = mem_format("%s/manifest.json", a->opt->dir);
	int rc = access(path, F_OK) == 0
			 ? manifest_read(&a->manifest, path, arena, err)
			 : error_set(err, RC_CONFIG,
				     "%s: found no manifest.json, expected the folder of a "
				     "published load",
				     a->opt->dir);

	mem_free(path);
	if (rc)
		return rc;
	size_t n = a->manifest.ntables;
	a->result->tables = arena_alloc(arena, (n + 1) * sizeof *a->result->tables);
	a->result->ntables = n;
	a->tables = mem_calloc(n + 1, sizeof *a->tables);
	for (; rc == RC_OK && a->ntables < n; a->ntables++)
		rc = make_table(a, a->ntables, err);
	return rc;
}

static int name_folder(struct applying *a, struct error *err)
{
	uint64_t number;

	if (a->folder)
		return RC_OK;
	if (getrandom(&number, sizeof number, 0) != sizeof number)
		return error_errno(err, "getrandom");
	a->folder = mem_format("saltmill-%016" PRIx64, number);
	return applying_note(a, err, "folder %s", a->folder);
}

/* --- the run --- */

static int apply_table(struct applied *t, struct error *err)
{
	struct applying *a = t->run;
	int rc;

	applying_begin(a, APPLY_LOOK);
	rc = table_prepare(t, err);
	applying_begin(a, APPLY_UPLOAD);
	if (rc == RC_OK && t->hand.nfiles)
		rc = world_open(t, err);
	if (rc == RC_OK && t->hand.nfiles)
		rc = bind_table(t, err);
	if (rc == RC_OK && t->hand.nfiles)
		rc = handover_run(&t->hand, err);
	if (rc)
		return rc;
	applying_say(a, "table %s: %zu files are in %zu regions", t->result->name,
		     t->manifest->nfiles, t->result->regions);
	if (t->hand.unproved)
		applying_warn(
			a,
			"table %s: region servers answered that they loaded %zu files, but user "
			"%s may not read HBase's folders, so apply could not check it; to "
			"compare the cells, run apply with --check",
			t->result->name, t->hand.unproved, hbase_user(a->hbase));
	return RC_OK;
}

static int check_cells(struct applied *t, struct error *err)
{
	const struct apply_proof *p = &t->result->proof;
	int rc = table_prove(t, err);

	if (rc == RC_OK && (p->missing || p->changed))
		rc = error_set(err, RC_DATA,
			       "table %s: found %" PRIu64 " cells of the load missing and %" PRIu64
			       " with another value, expected all %" PRIu64
			       " cells; run apply with --restart",
			       t->result->name, p->missing, p->changed, t->result->cells);
	return rc;
}

static int hand_over(struct applying *a, struct error *err)
{
	int rc = name_folder(a, err);

	for (size_t i = 0; rc == RC_OK && i < a->ntables; i++)
		rc = apply_table(&a->tables[i], err);
	applying_begin(a, APPLY_CLEAN);
	/* a user may have dropped a table during the load of the other tables */
	for (size_t i = 0; rc == RC_OK && i < a->ntables; i++)
		rc = table_still(&a->tables[i], err);
	if (rc == RC_OK)
		rc = remove_folder(a, err);
	if (rc == RC_OK)
		rc = cut_forget(a, err);
	return rc ? rc : applying_note(a, err, "finished");
}

/*
 * Returns true if apply will create or alter the table. For such a table, apply checks HDFS before
 * the change. For other tables, apply checks HDFS before the upload.
 */
static bool is_to_change(const struct applied *t)
{
	return !t->exists || t->result->ndifferences;
}

static int look_at_all(struct applying *a, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < a->ntables; i++)
		rc = bind_known(&a->tables[i], err);
	if (rc == RC_OK)
		rc = look_at_cluster(a, err);
	for (size_t i = 0; rc == RC_OK && i < a->ntables; i++)
		rc = table_look(&a->tables[i], err);
	for (size_t i = 0; rc == RC_OK && i < a->ntables; i++)
		if (a->opt->dry_run || is_to_change(&a->tables[i]))
			rc = world_look(&a->tables[i], err);
	return rc;
}

/* Counts the files that apply has cut, and the parts that replace them. */
static void count_parts(const struct applied *t)
{
	for (size_t i = 0; i < t->hand.nfiles; i++) {
		bool cut = t->hand.files[i].state == HAND_CUT, own = i < t->manifest->nfiles;

		t->result->recut += cut && own;
		t->result->parts += !cut && !own;
	}
}

/*
 * Checks that the tables of a finished load are still the same incarnations. Compares the cells
 * only with --check.
 */
static int look_at_finished(struct applying *a, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < a->ntables; i++) {
		rc = bind_known(&a->tables[i], err);
		if (rc == RC_OK)
			rc = table_still(&a->tables[i], err);
		if (rc == RC_CONFIG && a->opt->check) {
			applying_warn(a, "%s", err->msg);
			rc = RC_OK;
		}
	}
	return rc;
}

/* Waits for the window before the checks, and then connects again to the cluster of that time. */
static int wait_for_window(struct applying *a, struct error *err)
{
	if (a->finished || a->opt->dry_run || gentle_is_open(a->opt))
		return RC_OK;
	int rc = gentle_window(a, err);
	if (rc == RC_OK)
		rc = kept_open(a->kept, a->opt, err);
	a->hbase = a->kept->hbase;
	return rc;
}

static int hand_over_all(struct applying *a, struct error *err)
{
	int rc;

	a->result->already = a->finished;
	for (size_t i = 0; i < a->ntables; i++)
		a->result->tables[i].created = a->tables[i].created;
	rc = wait_for_window(a, err);
	if (rc)
		return rc;
	rc = a->finished ? look_at_finished(a, err) : look_at_all(a, err);
	if (rc == RC_OK && !a->finished && !a->opt->dry_run)
		rc = hand_over(a, err);
	if (rc || !a->opt->check || a->opt->dry_run)
		return rc;
	applying_begin(a, APPLY_CHECK);
	for (size_t i = 0; rc == RC_OK && i < a->ntables; i++)
		rc = check_cells(&a->tables[i], err);
	return rc;
}

static int run(struct applying *a, struct error *err)
{
	const struct apply_options *opt = a->opt;
	int rc = read_load(a, err);

	if (rc == RC_OK)
		rc = origin_open(a, err);
	if (rc == RC_OK && opt->check_access)
		return check_access(a, err);
	if (rc == RC_OK)
		rc = kept_open(a->kept, opt, err);
	if (rc)
		return rc;
	a->hbase = a->kept->hbase;
	a->result->cluster_id = arena_strdup(&a->result->arena, hbase_cluster_id(a->hbase));
	if (opt->first_cluster && strcmp(opt->first_cluster, a->result->cluster_id) == 0)
		return error_set(err, RC_CONFIG,
				 "found the cluster of --hbase (%s), expected another one",
				 opt->first_cluster);
	if (opt->abandon)
		return abandon(a, err);
	if (!opt->dry_run)
		rc = open_journal(a, err);
	return rc ? rc : hand_over_all(a, err);
}

/*
 * Adds to *err the tables that this run created or altered before the failure. These changes stay.
 */
static void name_changes(const struct applying *a, struct error *err)
{
	for (size_t i = 0; i < a->ntables; i++)
		if (a->tables[i].changed)
			error_prefix(err, "after table %s was %s: ", a->tables[i].result->name,
				     a->tables[i].result->altered ? "altered" : "created");
}

/* Removes the remains of earlier runs, for --abort and --restart. */
static int abandon_first(const struct apply_options *opt, struct error *err)
{
	struct apply_options first = *opt;
	struct apply_result r;

	first.restart = false;
	first.abandon = true;
	int rc = apply_run(&r, &first, err);
	apply_release(&r);
	return rc;
}

int apply_run(struct apply_result *out, const struct apply_options *opt, struct error *err)
{
	struct applying a = {.opt = opt,
			     .kept = opt->kept ? opt->kept : apply_kept_new(),
			     .result = out,
			     .journal = {.fd = -1},
			     .cut_lock = PTHREAD_MUTEX_INITIALIZER,
			     .said_ms = clock_ms(),
			     .phase_ms = clock_ms()};

	*out = (struct apply_result){0};
	mem_outcome("run apply again, and apply continues where its journal ends");
	int rc = opt->restart ? abandon_first(opt, err) : RC_OK;
	if (rc == RC_OK)
		rc = run(&a, err);
	if (rc && rc != RC_STOPPED)
		name_changes(&a, err);
	applying_begin(&a, APPLY_PHASES - 1);
	for (size_t i = 0; i < a.ntables; i++) {
		count_parts(&a.tables[i]);
		splits_release(&a.tables[i].splits);
		incarnation_release(&a.tables[i].bound);
		mem_free(a.tables[i].hand.files);
		mem_free(a.tables[i].sources);
		mem_free(a.tables[i].token);
		mem_free(a.tables[i].prefix);
		mem_free(a.tables[i].upload_dir);
	}
	mem_free(a.tables);
	storage_close(a.origin);
	mem_free(a.upload);
	mem_free(a.folder);
	mem_free(a.load);
	journal_close(&a.journal);
	if (!opt->kept)
		apply_kept_free(a.kept);
	else if (rc)
		kept_drop(a.kept);
	return rc;
}

void apply_release(struct apply_result *r)
{
	arena_release(&r->arena);
	*r = (struct apply_result){0};
}
