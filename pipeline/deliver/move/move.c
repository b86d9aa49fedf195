/*
 * move.c - move a live table to the row keys of another job, in rounds
 *
 * HBase never changes a store file. So the files of a snapshot that the snapshot of the last round
 * lacks have all later cells, whatever their timestamps. A round can be repeated, because its cells
 * are equal to those that it has written before.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "job.h"
#include "moving.h"
#include "pool.h"
#include "publish.h"

/* --- snapshots --- */

static int remove_snapshot(struct moving *m, const struct move_snapshot *s, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	do
		rc = hbase_delete_snapshot(m->hbase, s->name, &why, err);
	while (rc && hbase_retry(&why, &attempt, err));
	if (rc)
		return error_prefix(err, "cannot remove snapshot %s: ", s->name);
	m->out->removed++;
	move_say(m, "removed snapshot %s", s->name);
	return move_note(m, err, "removed %s", s->name);
}

/* Removes the snapshots of rounds before `round`, or all snapshots for UINT64_MAX. */
static int remove_snapshots(struct moving *m, uint64_t round, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < m->nsnapshots; i++) {
		const struct move_snapshot *s = &m->snapshots[i];

		if (!s->removed && (round == UINT64_MAX || (s->round && s->round < round)))
			rc = remove_snapshot(m, s, err);
	}
	return rc;
}

static int count_cells(const char *dir, uint64_t *cells, struct error *err)
{
	struct arena a = {0};
	struct manifest manifest;
	char *path = mem_format("%s/manifest.json", dir);
	int rc = manifest_read(&manifest, path, &a, err);

	*cells = rc == RC_OK ? manifest.tables->cells : 0;
	arena_release(&a);
	mem_free(path);
	return rc;
}

static int digest_jobs(const struct moving *m, char text[72], struct error *err)
{
	const char *const path[] = {m->opt->keys->from->path, m->opt->keys->to->path};
	uint8_t digest[16];
	uint64_t bytes;
	char *at = text;

	for (size_t k = 0; k < 2; k++) {
		int rc = io_digest_file(path[k], digest, &bytes, err);

		if (rc)
			return rc;
		*at = ' ';
		at += k;
		for (size_t i = 0; i < sizeof digest; i++)
			at += snprintf(at, 3, "%02x", digest[i]);
	}
	return RC_OK;
}

/* Checks that the jobs are those of the first round. Until it is applied, the user may change them. */
static int check_jobs(struct moving *m, struct error *err)
{
	char text[72];
	int rc = digest_jobs(m, text, err);

	if (rc || !m->jobs || strcmp(m->jobs, text) == 0)
		return rc;
	return error_set(
		err, RC_CONFIG,
		"%s or %s: found another content than in the first round, expected the same "
		"jobs until the end; restore them, or begin again with --abort and another "
		"table",
		m->opt->keys->from->path, m->opt->keys->to->path);
}

static int note_jobs(struct moving *m, struct error *err)
{
	char text[72];
	int rc = m->jobs ? RC_OK : digest_jobs(m, text, err);

	return rc || m->jobs ? rc : move_note(m, err, "jobs %s", text);
}

/* Writes the load of a round unless it is there, and counts its cells. */
static int make_load(struct moving *m, uint64_t round, const char *dir, uint64_t *cells,
		     struct error *err)
{
	bool there = false;
	int rc = m->jobs ? io_exists(dir, &there, err) : io_remove_tree(dir, err);

	if (rc == RC_OK && there)
		return count_cells(dir, cells, err);
	const struct move_snapshot *before = round > 1 ? move_snapshot_of(m, round - 1) : NULL;
	return rc ? rc : move_rekey(m, move_snapshot_of(m, round), before, dir, cells, err);
}

/* --- rounds --- */

static int clean_round(struct moving *m, uint64_t round, struct error *err)
{
	char *dir = move_path(m, "round", round);
	int rc = remove_snapshots(m, round, err);

	if (rc == RC_OK)
		rc = apply_remove(dir, err);
	mem_free(dir);
	return rc;
}

static int make_round(struct moving *m, struct error *err)
{
	uint64_t round = m->out->rounds + 1, cells = 0;
	int64_t began = clock_ms();
	char *dir = move_path(m, "round", round);
	int rc = move_take(m, round, err);

	if (rc == RC_OK)
		rc = make_load(m, round, dir, &cells, err);
	if (rc == RC_OK)
		rc = note_jobs(m, err);
	/* the first round creates the table, even without cells */
	if (rc == RC_OK && (cells || round == 1))
		rc = move_apply(m, dir, round == 1, err);
	if (rc == RC_OK)
		rc = move_note(m, err, "moved %" PRIu64 " %" PRIu64 " %" PRId64, round, cells,
			       clock_ms() - began);
	if (rc == RC_OK)
		move_say(m, "round %" PRIu64 ": %" PRIu64 " cells in %.1f s", round, cells,
			 (double)m->out->last_ms / 1000);
	mem_free(dir);
	return rc ? rc : clean_round(m, round, err);
}

/* Returns true if more rounds would hardly shorten the last one. */
static bool is_short(const struct moving *m, uint64_t before_ms)
{
	const struct move_result *r = m->out;

	return r->last_ms <= (uint64_t)m->opt->round_ms || r->last_ms * 10 > before_ms * 9;
}

static int make_rounds(struct moving *m, struct error *err)
{
	int rc = RC_OK;

	/* a round that an earlier run began before the writers stopped */
	if (m->opt->finish && !m->last && move_snapshot_of(m, m->out->rounds + 1))
		rc = make_round(m, err);
	if (rc == RC_OK && m->opt->finish && !m->last)
		rc = move_note(m, err, "last %" PRIu64, m->out->rounds + 1);
	if (rc == RC_OK && m->last)
		return m->out->rounds < m->last ? make_round(m, err) : RC_OK;
	uint64_t before = UINT64_MAX / 10;
	while (rc == RC_OK) {
		rc = make_round(m, err);
		if (rc || is_short(m, before))
			break;
		before = m->out->last_ms;
	}
	return rc;
}

/* --- the end --- */

static int finish(struct moving *m, struct error *err)
{
	int rc = m->equal ? RC_OK : move_prove(m, err);
	char *proof = mem_format("%s/proof", m->opt->folder);

	for (uint64_t i = 1; rc == RC_OK && i <= m->repairs; i++) {
		char *dir = move_path(m, "repair", i);

		rc = apply_remove(dir, err);
		mem_free(dir);
	}
	if (rc == RC_OK)
		rc = io_remove_tree(proof, err);
	if (rc == RC_OK)
		rc = remove_snapshots(m, UINT64_MAX, err);
	mem_free(proof);
	return rc ? rc : move_note(m, err, "finished");
}

static int abandon_load(struct moving *m, const char *kind, uint64_t n, struct error *err)
{
	char *dir = move_path(m, kind, n);
	struct apply_options apply = move_apply_options(m, dir);
	struct apply_result r = {0};
	bool there;
	int rc = io_exists(dir, &there, err);

	apply.abandon = true;
	if (rc == RC_OK && there)
		rc = apply_run(&r, &apply, err);
	apply_release(&r);
	if (rc == RC_OK)
		rc = apply_remove(dir, err);
	mem_free(dir);
	return rc;
}

/* Removes what earlier runs have made. The journal is the last. The new table stays. */
static int abandon(struct moving *m, struct error *err)
{
	char *proof = mem_format("%s/proof", m->opt->folder);
	char *journal = mem_format("%s/journal", m->opt->folder);
	int rc = m->jobs ? abandon_load(m, "round", m->out->rounds + 1, err) : RC_OK;

	for (uint64_t i = 1; rc == RC_OK && i <= m->repairs; i++)
		rc = abandon_load(m, "repair", i, err);
	if (rc == RC_OK)
		rc = io_remove_tree(proof, err);
	if (rc == RC_OK)
		rc = remove_snapshots(m, UINT64_MAX, err);
	/* the journal is the last, so that a killed run continues */
	int folder = rc == RC_OK ? open(m->opt->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (rc == RC_OK && (folder < 0 || !io_empty_dir(folder, "journal") || unlink(journal) < 0 ||
			    rmdir(m->opt->folder) < 0))
		rc = error_errno(err, "cannot remove %s", m->opt->folder);
	if (folder >= 0)
		close(folder);
	mem_free(journal);
	mem_free(proof);
	return rc;
}

/* --- the whole --- */

static void add_step(struct moving *m, const char *fmt, ...) ERROR_FORMAT(2, 3);
static void add_step(struct moving *m, const char *fmt, ...)
{
	struct move_result *r = m->out;
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	r->steps = arena_grow(m->a, (void *)(uintptr_t)r->steps, r->nsteps, sizeof *r->steps);
	r->steps[r->nsteps++] = arena_strdup(m->a, text);
}

static void list_steps(struct moving *m)
{
	uint64_t rounds = m->out->rounds;
	const struct move_snapshot *s = move_snapshot_of(m, rounds + 1);

	if (m->finished) {
		add_step(m, "nothing: the tables are equal");
		return;
	}
	if (!m->last || rounds < m->last) {
		if (s)
			add_step(m, "continue round %" PRIu64 " with snapshot %s", rounds + 1,
				 s->name);
		else
			add_step(m, "take a snapshot of table %s", m->from);
		add_step(
			m,
			rounds ? "write the cells of its new files under the new row keys to %s/round-%" PRIu64
			       : "write its cells under the new row keys to %s/round-%" PRIu64,
			m->opt->folder, rounds + 1);
		add_step(
			m,
			rounds ? "apply this load to table %s"
			       : "apply this load to table %s, and create the table if it is missing",
			m->to);
		add_step(m, "remove the load and older snapshots of rekey");
	}
	if (!m->opt->finish && !m->last) {
		add_step(m, "repeat this until a round takes at most %" PRId64 " s",
			 m->opt->round_ms / 1000);
		return;
	}
	add_step(m, "take a snapshot of table %s", m->to);
	add_step(m, "compare it with the last snapshot of table %s, cell by cell", m->from);
	add_step(m, "remove all snapshots of rekey");
}

static int begin(struct moving *m, struct error *err)
{
	int rc = move_check(m, err);

	if (rc == RC_OK)
		rc = check_jobs(m, err);
	if (rc == RC_OK && !m->clear)
		rc = move_note(m, err, "clear");
	if (rc == RC_OK)
		rc = move_find_root(m, err);
	/* a killed run may not have removed them */
	return rc || !m->out->rounds ? rc : clean_round(m, m->out->rounds, err);
}

static int run_dry(struct moving *m, struct error *err)
{
	int rc = move_journal_read(m, err);

	if (rc == RC_OK && !m->finished)
		rc = move_check(m, err);
	if (rc == RC_OK)
		rc = check_jobs(m, err);
	if (rc == RC_OK)
		list_steps(m);
	return rc;
}

static int run(struct moving *m, struct error *err)
{
	if (m->opt->dry_run)
		return run_dry(m, err);
	int rc = move_journal_open(m, err);
	if (rc == RC_OK && m->opt->abandon)
		return abandon(m, err);
	if (rc || m->finished)
		return rc;
	rc = begin(m, err);
	if (rc == RC_OK)
		rc = make_rounds(m, err);
	return rc || !m->last ? rc : finish(m, err);
}

int move_run(struct move_result *out, const struct move_options *opt, struct error *err)
{
	struct moving m = {.opt = opt,
			   .out = out,
			   .a = &out->arena,
			   .from = opt->keys->from_table->schema.name,
			   .to = opt->keys->to_table->schema.name,
			   .journal = {.fd = -1}};
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	*out = (struct move_result){.from = m.from, .to = m.to};
	while ((rc = hbase_open(&m.hbase, opt->servers, opt->user, &why, err)) != RC_OK)
		if (!hbase_retry(&why, &attempt, err))
			break;
	if (rc == RC_OK)
		rc = run(&m, err);
	journal_close(&m.journal);
	hbase_close(m.hbase);
	return rc;
}

void move_release(struct move_result *r)
{
	arena_release(&r->arena);
}
