/*
 * mob.c - read the values of MOB references (MobUtils, HMobStore.resolve; README.md 9)
 *
 * HBase moves a large value to a MOB file when it writes a store file. The cell in the store file
 * keeps its key. Its value is the size of the moved value and the name of the MOB file. A tag names
 * the table that owns the MOB file.
 */
#include "mob.h"

#define REFERENCE_TAG 5 /* TagType.MOB_REFERENCE_TAG_TYPE */
#define TABLE_TAG     6 /* TagType.MOB_TABLE_NAME_TAG_TYPE */
#define SIZE_BYTES    4 /* the size before the name */
#define MOST_OPEN     16

struct mob_file {
	struct arena arena; /* has `table` and `file`, and the source's memory */
	struct bytes table, file;
	struct hfile *hfile; /* NULL if the place is free */
	uint64_t used;	     /* number of the last use */
};

struct mob_reader {
	struct mob_file files[MOST_OPEN];
	uint64_t uses;
	struct hfile_batch batch;
};

static int complain(const struct query_file *f, const struct cell *c, struct error *err,
		    const char *found)
{
	struct buf row = {0};

	bytes_escape(&row, c->row);
	int rc = error_set(err, RC_DATA, "%s: row %.*s: %s", f->name,
			   (int)(row.len < 100 ? row.len : 100), (const char *)row.ptr, found);
	buf_release(&row);
	return rc;
}

/* Read what the reference names. */
static bool read_reference(const struct cell *c, struct mob_reference *out)
{
	struct bytes v = c->value, table;

	if (v.len <= SIZE_BYTES || !cell_tag(c, TABLE_TAG, &table) || table.len == 0)
		return false;
	*out = (struct mob_reference){.table = table,
				      .family = c->family,
				      .file = bytes_of(v.ptr + SIZE_BYTES, v.len - SIZE_BYTES),
				      .bytes = get_be32(v.ptr)};
	return true;
}

static void close_file(struct mob_file *f)
{
	hfile_close(f->hfile);
	arena_release(&f->arena);
	*f = (struct mob_file){0};
}

/* Return the open file, or a free place for it. */
static struct mob_file *find_place(struct mob_reader *m, const struct mob_reference *r)
{
	struct mob_file *oldest = m->files;

	for (size_t i = 0; i < MOST_OPEN; i++) {
		struct mob_file *f = &m->files[i];

		if (f->hfile && bytes_eq(f->file, r->file) && bytes_eq(f->table, r->table))
			return f;
		if (f->used < oldest->used)
			oldest = f;
	}
	close_file(oldest);
	return oldest;
}

static int open_file(struct mob_file *f, const struct query_mobs *mobs,
		     const struct mob_reference *r, struct error *err)
{
	struct hfile_source source;
	int rc = mobs->open(mobs, r, &f->arena, &source, err);

	if (rc == RC_OK)
		rc = hfile_open_source(&f->hfile, &source, err);
	if (rc == RC_OK) {
		f->table = arena_bytes(&f->arena, r->table);
		f->file = arena_bytes(&f->arena, r->file);
	} else {
		close_file(f);
	}
	return rc;
}

/* Find the cell with the key of `c` in an open MOB file. Returns RC_END if there is none. */
static int find_cell(struct mob_reader *m, struct hfile *h, const struct cell *c,
		     const struct cell **out, struct error *err)
{
	int rc = hfile_seek(h, c, err);

	if (rc == RC_OK)
		rc = hfile_next_batch(h, &m->batch, err);
	if (rc)
		return rc;
	*out = &m->batch.cells[0];
	return cell_key_cmp(*out, c) == 0 ? RC_OK : RC_END;
}

static int read_value(struct mob_reader *m, const struct query_file *f,
		      const struct mob_reference *r, struct cell *c, struct error *err)
{
	struct mob_file *file = find_place(m, r);
	const struct cell *found = NULL;
	int rc = file->hfile ? RC_OK : open_file(file, f->mobs, r, err);

	file->used = ++m->uses;
	if (rc == RC_OK)
		rc = find_cell(m, file->hfile, c, &found, err);
	if (rc < 0)
		return rc;
	if (rc == RC_END || found->value.len != r->bytes)
		return complain(f, c, err,
				"found no value of the reference's size in its MOB file, expected "
				"one; restore the MOB file from a backup");
	c->value = found->value;
	c->tags = found->tags;
	return RC_OK;
}

int mob_resolve(struct mob_reader **m, const struct query_file *f, struct cell *c,
		struct error *err)
{
	struct mob_reference r;
	struct bytes tag;

	if (!c->tags.len || !cell_tag(c, REFERENCE_TAG, &tag))
		return RC_OK;
	if (!f->mobs)
		return complain(f, c, err,
				"found a reference to a MOB file, expected a value; read the table "
				"with --table-dir ROOT/data/NAMESPACE/TABLE, or a snapshot of it "
				"with --snapshot");
	if (!read_reference(c, &r))
		return complain(f, c, err,
				"found a damaged reference to a MOB file, expected a size, a file "
				"and a table");
	if (!*m)
		*m = mem_try_calloc(1, sizeof **m);
	return *m ? read_value(*m, f, &r, c, err) : error_memory(err, sizeof **m, "MOB files");
}

void mob_close(struct mob_reader *m)
{
	for (size_t i = 0; m && i < MOST_OPEN; i++)
		close_file(&m->files[i]);
	mem_free(m);
}
