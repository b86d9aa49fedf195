/* move_steps.c - the snapshots, loads and applies of a table that moves (moving.h) */
#include <inttypes.h>

#include "moving.h"
#include "publish.h"
#include "splits.h"

char *move_path(const struct moving *m, const char *kind, uint64_t n)
{
	return mem_format("%s/%s-%" PRIu64, m->opt->folder, kind, n);
}

static int name_snapshot(struct moving *m, uint64_t round, struct error *err)
{
	uint64_t id[2];
	int rc = hbase_draw_nonces(id, err);

	return rc ? rc
		  : move_note(m, err, "snapshot %" PRIu64 " saltmill-rekey-%016" PRIx64 "-%" PRIu64,
			      round, id[0], round);
}

int move_take(struct moving *m, uint64_t round, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {.rounds = true}; /* a snapshot may take minutes */
	int rc = move_snapshot_of(m, round) ? RC_OK : name_snapshot(m, round, err);

	if (rc)
		return rc;
	const struct move_snapshot *s = move_snapshot_of(m, round);
	if (s->taken)
		return RC_OK;
	const char *table = round ? m->from : m->to;
	progress_begin(m->opt->progress, "snapshot", PROGRESS_SECONDS, 0);
	do
		rc = hbase_snapshot(m->hbase, s->name, table, &why, err);
	while (rc && hbase_retry(&why, &attempt, err));
	if (rc)
		return error_prefix(err, "table %s: cannot take snapshot %s: ", table, s->name);
	move_say(m, "took snapshot %s of table %s", s->name, table);
	return move_note(m, err, "taken %s", s->name);
}

int move_open_snapshot(const struct moving *m, const struct move_snapshot *s, struct published *out,
		       struct error *err)
{
	char *uri = mem_format("%s/.hbase-snapshot/%s", m->root, s->name);
	const struct offline_place place = {.kind = OFFLINE_SNAPSHOT,
					    .uri = uri,
					    .storage = m->opt->storage};
	int rc = offline_open(out, &place, err);

	mem_free(uri);
	return rc ? error_prefix(err, "snapshot %s: ", s->name) : RC_OK;
}

/* --- the load of a round --- */

/* Takes the regions of the new table, so that apply need not split files. */
static int live_splits(struct moving *m, struct splits *out, struct error *err)
{
	struct hbase_regions r;
	int rc = move_regions(m, m->to, &r, err);

	for (size_t i = 1; rc == RC_OK && i < r.count; i++)
		rc = splits_add(out, r.item[i].start, err);
	hbase_regions_release(&r);
	return rc;
}

int move_rekey(struct moving *m, const struct move_snapshot *s, const struct move_snapshot *before,
	       const char *dir, uint64_t *cells, struct error *err)
{
	const struct move_options *o = m->opt;
	struct published source = {0}, known = {0};
	struct rekey_options keys = *o->keys;
	struct rewrite_result r = {0};
	struct splits splits = {0};
	const struct rewrite_change none = {.family = NULL};
	struct rewrite_options rewrite = {.name = "rekey",
					  .tables = &source,
					  .ntables = 1,
					  .output = dir,
					  .change = &none,
					  .rekey = &keys,
					  .keep_all = true,
					  .threads = o->common->threads,
					  .progress = o->progress};
	int rc = move_open_snapshot(m, s, &source, err);

	if (rc == RC_OK && before)
		rc = move_open_snapshot(m, before, &known, err);
	if (rc == RC_OK && m->out->rounds)
		rc = live_splits(m, &splits, err);
	keys.before = before ? &known : NULL;
	rewrite.splits = m->out->rounds ? &splits : NULL;
	if (rc == RC_OK)
		rc = rewrite_run(&r, &rewrite, err);
	if (rc == RC_OK)
		*cells = r.manifest->tables->cells;
	arena_release(&r.arena);
	splits_release(&splits);
	published_release(&known);
	published_release(&source);
	return rc;
}

struct apply_options move_apply_options(const struct moving *m, const char *dir)
{
	const struct move_options *o = m->opt;

	return (struct apply_options){.common = o->common,
				      .dir = dir,
				      .servers = o->servers,
				      .user = o->user,
				      .upload = o->upload,
				      .http = o->http,
				      .never_renamed = true,
				      .progress = o->progress};
}

int move_apply(struct moving *m, const char *dir, bool create, struct error *err)
{
	struct apply_options apply = move_apply_options(m, dir);
	struct apply_result r = {0};

	apply.create = create;
	int rc = apply_run(&r, &apply, err);

	for (size_t i = 0; i < r.nwarnings; i++)
		move_say(m, "%s", r.warnings[i]);
	apply_release(&r);
	return rc ? error_prefix(err, "%s: ", dir) : RC_OK;
}
