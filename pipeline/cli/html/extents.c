/* extents.c - finds the distribution of a table's bytes in the indexes of its files (extents.h) */
#include "extents.h"

#include <stdlib.h>
#include <string.h>

#include "cell.h"
#include "hfile.h"

/*
 * Returns the row of a flat key. A flat key contains a two-byte length, the row, and the rest of
 * the key.
 */
static struct bytes row_of_flat_key(struct bytes key)
{
	size_t len = key.len < 2 ? 0 : (size_t)key.ptr[0] << 8 | key.ptr[1];

	return len + 2 > key.len ? bytes_of(key.ptr, 0) : bytes_of(key.ptr + 2, len);
}

static size_t entries_of(struct hfile *f)
{
	struct hfile_index_entry e;
	size_t n = 0;

	while (hfile_root_entry(f, n, &e) == RC_OK)
		n++;
	return n;
}

static struct bytes kept_row(struct arena *a, struct bytes flat_key)
{
	struct bytes row = row_of_flat_key(flat_key);

	return arena_bytes(a, row);
}

/*
 * Adds a place for each index entry of a file. The blocks of an entry end at the beginning of the
 * next entry.
 */
static void take_entries(struct extents *p, struct hfile *f, size_t n, struct bytes last,
			 struct arena *a)
{
	const struct hfile_trailer *t = hfile_trailer(f);
	struct hfile_index_entry e, next;

	for (size_t i = 0; i < n; i++) {
		uint64_t end = t->load_on_open_offset;

		if (hfile_root_entry(f, i, &e))
			return;
		struct bytes row = kept_row(a, e.key), until = last;
		if (i + 1 < n && hfile_root_entry(f, i + 1, &next) == RC_OK) {
			end = next.offset;
			until = kept_row(a, next.key);
		}
		p->item[p->n++] = (struct extent){.row = row,
						  .last = until,
						  .bytes = end > e.offset ? end - e.offset : 0};
		p->bytes += p->item[p->n - 1].bytes;
	}
}

/* Reads the timestamp of the first cell in every `step`-th of the last `n` places. */
static int time_places(struct extents *p, struct hfile *f, size_t n, size_t step, struct error *err)
{
	for (size_t i = p->n - n; i < p->n; i++) {
		struct extent *at = &p->item[i];
		struct cell first = cell_first(at->row, bytes_of("", 0), bytes_of("", 0)), c;

		if (i % step)
			continue;
		int rc = hfile_seek(f, &first, err);
		if (rc == RC_OK)
			rc = hfile_next_cell(f, &c, err);
		if (rc && rc != RC_END)
			return rc;
		if (rc == RC_OK) {
			at->ts = c.ts;
			at->timed = true;
			p->timed++;
		}
	}
	return RC_OK;
}

static int read_file(struct extents *p, const char *path, struct bytes last, size_t step,
		     struct arena *a, struct error *err)
{
	struct hfile *f;
	struct hfile_source source;
	int rc = load_file_source(&source, path, err);

	if (rc == RC_OK)
		rc = hfile_open_source(&f, &source, err);
	if (rc)
		return rc;
	size_t n = entries_of(f);
	p->item = mem_reserve(p->item, &p->room, p->n + n, sizeof *p->item);
	take_entries(p, f, n, last, a);
	rc = time_places(p, f, n, step, err);
	hfile_close(f);
	return rc;
}

static int by_row(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;
	int order = bytes_cmp(x->row, y->row);

	return order ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

int extents_read(struct extents *p, const char *dir, const struct manifest_table *t, size_t times,
		 struct progress *progress, struct arena *a, struct error *err)
{
	uint64_t bytes = 0;

	*p = (struct extents){0};
	for (size_t i = 0; i < t->nfiles; i++)
		bytes += t->files[i].bytes;
	/*
	 * an entry covers at least one block of about 16 KB; with more entries, a smaller share
	 * gets a time
	 */
	size_t step = (size_t)(bytes / 16384 / times) + 1;
	for (size_t i = 0; i < t->nfiles; i++) {
		char *path = mem_format("%s/%s", dir, t->files[i].path);
		int rc = read_file(p, path, t->files[i].last_row, step, a, err);

		mem_free(path);
		progress_add(progress, 1);
		if (rc)
			return rc;
	}
	if (p->n)
		qsort(p->item, p->n, sizeof *p->item, by_row);
	return RC_OK;
}

void extents_release(struct extents *p)
{
	mem_free(p->item);
	*p = (struct extents){0};
}
