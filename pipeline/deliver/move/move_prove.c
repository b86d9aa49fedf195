/*
 * move_prove.c - prove that both tables are equal, and repair the new one
 *
 * The proof compares two snapshots, so a write at the same time does not disturb it. Both tables
 * have the same rules, so equal store files show the same cells. If sums of the cells differ, the old
 * snapshot is written under the new row keys, and compared cell by cell.
 *
 * The new table can have cells that the old one has lost: if HBase writes a delete marker to a file and
 * drops it in a compaction of all files of the store between two rounds, no snapshot has the marker.
 * It can lack cells that the old one uncovers: a compaction may have removed an older version before
 * a delete of the newest one came.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "clock.h"
#include "hfile.h"
#include "io.h"
#include "job.h"
#include "moving.h"
#include "publish.h"

#define REPAIR_CELLS 100000 /* most cells of a repair, in memory */
#define REPAIR_MOST  10	    /* a repair may uncover older versions, so there may be several */

struct move_proof {
	struct moving *m;
	struct published old, new; /* under the new row keys */
	struct diff_result found;
	int64_t now_ms;
};

/* --- the two sides --- */

static int open_old(struct move_proof *p, struct error *err)
{
	struct moving *m = p->m;
	char *dir = mem_format("%s/proof", m->opt->folder);
	const char *const dirs[] = {dir};
	bool there;
	uint64_t cells;
	int rc = io_exists(dir, &there, err);

	if (rc == RC_OK && !there)
		rc = move_rekey(m, move_snapshot_of(m, m->last), NULL, dir, &cells, err);
	if (rc == RC_OK)
		rc = offline_open_loads(&p->old, NULL, dirs, 1, err);
	mem_free(dir);
	return rc;
}

/* Adds a repair to the files of the new table, as the newest one. */
static int add_repair(struct move_proof *p, uint64_t n, struct error *err)
{
	char *dir = move_path(p->m, "repair", n);
	uint64_t rank = 0;

	for (size_t i = 0; i < p->new.nfiles; i++)
		rank = p->new.files[i].age_rank > rank ? p->new.files[i].age_rank : rank;
	int rc = published_add_load(&p->new, p->m->to, dir, rank + 1, err);
	mem_free(dir);
	return rc;
}

static int open_new(struct move_proof *p, struct error *err)
{
	int rc = move_open_snapshot(p->m, move_snapshot_of(p->m, 0), &p->new, err);

	for (uint64_t i = 1; rc == RC_OK && i <= p->m->repairs; i++)
		rc = add_repair(p, i, err);
	return rc;
}

static int compare(struct move_proof *p, struct error *err)
{
	const struct query q = {.versions = INT32_MAX, .now_ms = p->now_ms};
	const struct diff_side side[2] = {{.files = &p->old}, {.files = &p->new}};
	const struct move_options *o = p->m->opt;
	const struct diff_options d = {.query = &q,
				       .shown = REPAIR_CELLS,
				       .threads = o->common->threads,
				       .progress = o->progress,
				       .listener = o->listener};

	arena_release(&p->found.arena);
	return diff_run(&p->found, side, &d, err);
}

/* --- a repair --- */

/*
 * Returns the cell that gives the new table the old state: the old cell, or a delete marker for one
 * version.
 */
static struct cell mend(const struct differing_cell *d)
{
	if (d->kind != DIFF_ONLY_B)
		return d->a;
	struct cell c = d->b;

	c.type = CELL_DELETE;
	c.value = c.tags = (struct bytes){0};
	return c;
}

/* Writes the cells of a family as an HFile of any settings, because the load has those of the table. */
static int write_family(const struct move_proof *p, const char *dir, struct bytes family,
			struct error *err)
{
	const struct hfile_options o = {.family = family, .tags = true};
	struct hfile_writer *out = NULL;
	struct hfile_summary sum = {0};
	char *folder = mem_format("%s/%.*s", dir, (int)family.len, (const char *)family.ptr);
	char *path = mem_format("%s/cells", folder);
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < p->found.nfirst; i++) {
		const struct cell c = mend(&p->found.first[i]);

		if (!bytes_eq(c.family, family))
			continue;
		if (!out)
			rc = io_make_dir(folder, err);
		if (rc == RC_OK && !out)
			rc = hfile_writer_new(&out, path, &o, err);
		if (rc == RC_OK)
			rc = hfile_add(out, &c, err);
	}
	if (rc == RC_OK && out) {
		rc = hfile_finish(out, &sum, err);
		out = NULL;
	}
	hfile_abort(out);
	hfile_summary_release(&sum);
	mem_free(path);
	mem_free(folder);
	return rc;
}

/* Publishes the HFiles below `cells` as a load of the new table. */
static int publish_repair(const struct move_proof *p, const char *cells, const char *dir,
			  struct error *err)
{
	const struct offline_place place = {.kind = OFFLINE_HFILES, .uri = cells};
	const struct rewrite_change none = {.family = NULL};
	struct published files = {0};
	struct rewrite_result r = {0};
	int rc = offline_open(&files, &place, err);

	if (rc)
		return rc;
	files.table = p->old.table;
	files.description = p->old.description;
	files.nregions = p->old.nregions;
	files.split_keys = p->old.split_keys;
	const struct rewrite_options o = {.name = "merge",
					  .tables = &files,
					  .ntables = 1,
					  .output = dir,
					  .change = &none,
					  .keep_all = true,
					  .threads = p->m->opt->common->threads};
	rc = rewrite_run(&r, &o, err);
	arena_release(&r.arena);
	published_release(&files);
	return rc;
}

static int make_repair(struct move_proof *p, uint64_t n, struct error *err)
{
	char *cells = mem_format("%s/cells", p->m->opt->folder);
	char *dir = move_path(p->m, "repair", n);
	int rc = io_remove_tree(cells, err);

	if (rc == RC_OK)
		rc = io_remove_tree(dir, err);
	if (rc == RC_OK)
		rc = io_make_dir(cells, err);
	for (size_t i = 0; rc == RC_OK && i < p->new.nfamilies; i++)
		rc = write_family(p, cells, p->new.families[i].name, err);
	if (rc == RC_OK)
		rc = publish_repair(p, cells, dir, err);
	if (rc == RC_OK)
		rc = io_remove_tree(cells, err);
	mem_free(dir);
	mem_free(cells);
	return rc ? rc : add_repair(p, n, err);
}

static int refuse(const struct move_proof *p, const char *fix, struct error *err)
{
	const struct diff_result *r = &p->found;
	const struct differing_cell *d = &r->first[0];
	const struct cell *c = d->kind == DIFF_ONLY_B ? &d->b : &d->a;
	struct buf row = {0}, column = {0};

	bytes_escape(&row, c->row);
	bytes_escape(&column, c->qualifier);
	error_set(err, RC_DATA,
		  "table %s differs from the last snapshot of table %s: found %" PRIu64
		  " missing cells, %" PRIu64 " "
		  "extra ones and %" PRIu64
		  " with other values or tags, expected none; the first is row "
		  "%.*s, column %.*s:%.*s, timestamp %" PRId64 "; %s",
		  p->m->to, p->m->from, r->count[DIFF_ONLY_A], r->count[DIFF_ONLY_B],
		  r->count[DIFF_VALUE] + r->count[DIFF_TAGS], (int)row.len, (const char *)row.ptr,
		  (int)c->family.len, (const char *)c->family.ptr, (int)column.len,
		  (const char *)column.ptr, c->ts, fix);
	buf_release(&row);
	buf_release(&column);
	return err->code;
}

static uint64_t differing(const struct move_proof *p)
{
	const uint64_t *n = p->found.count;

	return n[DIFF_ONLY_A] + n[DIFF_ONLY_B] + n[DIFF_VALUE] + n[DIFF_TAGS];
}

/* Makes repairs until the tables are equal, and notes them. */
static int make_repairs(struct move_proof *p, struct error *err)
{
	uint64_t n = p->m->repairs, cells = 0;
	int rc = RC_OK;

	while (rc == RC_OK && differing(p)) {
		if (!p->m->opt->repair)
			return refuse(p,
				      "if only rekey has written the new table, --repair gives it "
				      "the cells of the snapshot",
				      err);
		if (n == REPAIR_MOST || differing(p) > p->found.nfirst)
			return refuse(p,
				      "--repair cannot change this; begin again with --abort and "
				      "another table",
				      err);
		cells += differing(p);
		rc = make_repair(p, ++n, err);
		if (rc == RC_OK)
			rc = compare(p, err);
	}
	return rc || !cells ? rc : move_note(p->m, err, "repairs %" PRIu64 " %" PRIu64, n, cells);
}

static int apply_repairs(struct moving *m, struct error *err)
{
	int rc = RC_OK;

	for (uint64_t i = 1; rc == RC_OK && i <= m->repairs; i++) {
		char *dir = move_path(m, "repair", i);

		rc = move_apply(m, dir, false, err);
		mem_free(dir);
	}
	if (rc || !m->repairs || m->repaired)
		return rc;
	move_say(m, "repaired %" PRIu64 " cells of table %s", m->out->repaired, m->to);
	return move_note(m, err, "repaired");
}

/*
 * Compares sums of the cells, which needs no room for the old table under the new row keys. Sets *equal
 * to false if the sums differ, or do not show whether rows were joined.
 */
static int compare_sums(struct move_proof *p, bool *equal, struct error *err)
{
	struct moving *m = p->m;
	const struct move_options *o = m->opt;
	struct published old = {0};
	struct cells_sum sum[2] = {{0}};
	struct cells_sum_options s = {.table = &old,
				      .keys = o->keys,
				      .now_ms = p->now_ms,
				      .threads = o->common->threads,
				      .progress = o->progress};
	int rc = move_open_snapshot(m, move_snapshot_of(m, m->last), &old, err);

	*equal = false;
	if (rc == RC_OK)
		rc = cells_sum(&sum[0], &s, err);
	crash_at("rekey-summed");
	s.table = &p->new;
	s.keys = NULL;
	if (rc == RC_OK)
		rc = cells_sum(&sum[1], &s, err);
	if (rc == RC_OK)
		*equal = memcmp(&sum[0], &sum[1], sizeof *sum) == 0;
	p->found.rows[0] = sum[0].rows;
	p->found.cells[0] = sum[0].cells;
	published_release(&old);
	return rc == RC_END ? RC_OK : rc;
}

/* Compares cell by cell, and repairs the new table. */
static int compare_cells(struct move_proof *p, struct error *err)
{
	int rc = open_old(p, err);

	if (rc == RC_OK)
		rc = compare(p, err);
	crash_at("rekey-compared");
	if (rc == RC_OK)
		rc = make_repairs(p, err);
	return rc ? rc : apply_repairs(p->m, err);
}

int move_prove(struct moving *m, struct error *err)
{
	bool equal = false;
	struct move_proof p = {.m = m, .now_ms = clock_wall_ms()};
	int rc = move_take(m, 0, err);

	if (rc == RC_OK && !m->repairs)
		move_say(
			m,
			"table %s has all cells, and programs may read it; let them write it after the "
			"proof, because --repair needs a table that only rekey has written",
			m->to);
	if (rc == RC_OK)
		rc = open_new(&p, err);
	if (rc == RC_OK && !m->repairs)
		rc = compare_sums(&p, &equal, err);
	if (rc == RC_OK && !equal)
		rc = compare_cells(&p, err);
	if (rc == RC_OK)
		rc = move_note(m, err, "equal %" PRIu64 " %" PRIu64, p.found.rows[0],
			       p.found.cells[0]);
	arena_release(&p.found.arena);
	published_release(&p.new);
	published_release(&p.old);
	return rc;
}
