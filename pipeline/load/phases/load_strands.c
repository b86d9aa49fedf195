/*
 * load_strands.c - check that no two files of one region and family have the same cell
 */
#include "load_join.h"

#include "hfile.h"
#include "mem.h"
#include "pool.h"

static bool overlap(const struct manifest_file *a, const struct manifest_file *b)
{
	return bytes_cmp(a->first_row, b->last_row) <= 0 &&
	       bytes_cmp(b->first_row, a->last_row) <= 0;
}

/* A file that one of several strands reads. */
struct strand {
	const struct joined_file *of;
	struct hfile *file;
	struct cell cell;
	bool ended;
};

static int advance(struct strand *s, struct progress *progress, struct error *err)
{
	int rc = hfile_next_cell(s->file, &s->cell, err);

	s->ended = rc == RC_END;
	if (s->ended)
		progress_add(progress, 1);
	return rc == RC_END ? RC_OK : rc;
}

static int open_strands(const struct store_range *s, struct strand *strands, size_t *n,
			struct progress *progress, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < s->n; i++) {
		bool alone = true;

		for (size_t k = 0; k < s->n && alone; k++)
			alone = k == i || !overlap(s->files[i].file, s->files[k].file);
		if (alone) {
			progress_add(progress, 1);
			continue;
		}
		struct strand *to = &strands[(*n)++];
		char *path = mem_format("%s/%s", s->files[i].part->dir, s->files[i].file->path);
		to->of = &s->files[i];
		rc = hfile_open(&to->file, path, err);
		if (rc == RC_OK) {
			hfile_rewind(to->file);
			rc = advance(to, progress, err);
		}
		mem_free(path);
	}
	return rc;
}

static int same_cell(const struct store_range *s, const struct strand *a, const struct strand *b,
		     struct error *err)
{
	struct buf row = {0};

	bytes_escape(&row, a->cell.row);
	error_set(err, RC_DATA,
		  "table %s, region %zu, family %s: %s and %s both have the cell of row %.*s "
		  "with timestamp %lld, and HBase may return either cell; use map and reduce, "
		  "which keep the cell that `duplicates` selects",
		  s->table->schema.name, s->region, s->family, a->of->part->dir, b->of->part->dir,
		  (int)row.len, (const char *)row.ptr, (long long)a->cell.ts);
	buf_release(&row);
	return RC_DATA;
}

static int compare_strands(const struct store_range *s, struct strand *strands, size_t n,
			   struct progress *progress, struct error *err)
{
	for (uint64_t cells = 0;; cells++) {
		struct strand *least = NULL;

		for (size_t i = 0; i < n; i++) {
			if (strands[i].ended)
				continue;
			int c = least ? cell_key_cmp(&strands[i].cell, &least->cell) : -1;
			if (c == 0)
				return same_cell(s, least, &strands[i], err);
			if (c < 0)
				least = &strands[i];
		}
		int rc = least ? advance(least, progress, err) : RC_END;
		if (rc == RC_OK && cells % 4096 == 0)
			rc = stop_check(err);
		if (rc)
			return rc == RC_END ? RC_OK : rc;
	}
}

int load_check_store(const struct store_range *s, struct progress *progress, struct error *err)
{
	struct strand *strands = mem_calloc(s->n, sizeof *strands);
	size_t n = 0;
	int rc = open_strands(s, strands, &n, progress, err);

	if (rc == RC_OK)
		rc = compare_strands(s, strands, n, progress, err);
	for (size_t i = 0; i < n; i++)
		hfile_close(strands[i].file);
	mem_free(strands);
	return rc;
}
