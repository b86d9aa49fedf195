/*
 * cut_file.c - cut a file of the load at the borders of live regions
 *
 * saltmill writes the parts with the settings of the file. Each cell of the file is in exactly one
 * part. The folder of the parts is beside the journal. The name of a part is the digest of its
 * bytes, as for all files of a load:
 *
 *   JOURNAL.saltmill-parts/9f8e7d6c5b4a39210123456789abcdef
 *
 * The journal notes the folder before apply creates it. If the folder already exists, apply fails.
 * So all files in the folder belong to apply.
 *
 * In the journal a part is FIRST:LAST:CELLS:BYTES:DIGEST, with the first row, the last row and the
 * digest in hex.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applying.h"
#include "hfile.h"
#include "io.h"
#include "pool.h"
#include "bytes.h"

#define CUT_TEMP     ".cut-" /* the numbers of table, file and part follow */
#define DIGEST_CHARS 32
#define LOOK_CELLS   65536 /* cells between two checks of the stop flag */

static char *parts_dir(const struct applying *a)
{
	return mem_format("%s.saltmill-parts", a->journal.path);
}

struct file_cutting {
	struct applied *table;
	size_t file;
	const struct hbase_regions *regions;
	/*
	 * index of the region before which the current part ends, or the number of regions for the
	 * last part
	 */
	size_t border;
	struct hfile *in;
	struct hfile_options opt;
	struct hfile_writer *out; /* NULL before the first part */
	char *dir, *temp;
	uint64_t cells;
	unsigned nparts;
	struct buf *words;
};

/*
 * Sets the writer's options from the file. Takes options that the file does not contain from the
 * table and the manifest.
 */
static void describe(struct file_cutting *c)
{
	const struct applied *t = c->table;
	const char *family = t->sources[c->file].family;
	const struct described *d = description_family(&t->want, family);
	const char *block = d ? attributes_get(&d->items, "BLOCKSIZE") : NULL;

	hfile_options_of(c->in, &c->opt);
	c->opt.family = bytes_str(family);
	c->opt.block_bytes = block ? (uint32_t)strtoul(block, NULL, 10) : 0;
	for (size_t i = 0; i < t->manifest->ntuned; i++) {
		const struct manifest_tuning *m = &t->manifest->tuned[i];

		if (strcmp(m->family, family) != 0)
			continue;
		c->opt.level = (int)m->level;
		c->opt.hash_log = (uint32_t)m->hash_log;
		c->opt.min_match = (uint32_t)m->min_match;
	}
}

static int part_begin(struct file_cutting *c, struct error *err)
{
	mem_free(c->temp);
	c->temp = mem_format("%s/" CUT_TEMP "%zu-%zu-%u", c->dir, c->table->index, c->file,
			     c->nparts);
	unlink(c->temp); /* a run that died may have left this file */
	return hfile_writer_new(&c->out, c->temp, &c->opt, err);
}

/* Reads the part back, and compares it with the written cells. */
static int part_prove(const struct file_cutting *c, const struct hfile_summary *s,
		      struct error *err)
{
	struct hfile_summary found = {0};
	int rc = hfile_verify(c->temp, &found, err);

	if (rc == RC_OK &&
	    (found.cells != s->cells || memcmp(found.digest, s->digest, sizeof s->digest) != 0))
		rc = error_set(err, RC_IO,
			       "%s: found other cells than apply wrote, expected the same cells; "
			       "check the disk",
			       c->temp);
	hfile_summary_release(&found);
	return rc;
}

static int part_end(struct file_cutting *c, struct error *err)
{
	struct hfile_summary s = {0};
	struct buf path = {0};

	if (!c->out)
		return RC_OK;
	int rc = hfile_finish(c->out, &s, err);
	c->out = NULL;
	if (rc == RC_OK)
		rc = part_prove(c, &s, err);
	if (rc == RC_OK) {
		buf_put(c->words, ' ');
		bytes_hex(c->words, buf_bytes(&s.first_row));
		buf_put(c->words, ':');
		bytes_hex(c->words, buf_bytes(&s.last_row));
		buf_printf(c->words, ":%" PRIu64 ":%" PRIu64 ":", s.cells, s.file_bytes);
		bytes_hex(c->words, bytes_of(s.digest, sizeof s.digest));
		buf_printf(&path, "%s/", c->dir);
		bytes_hex(&path, bytes_of(s.digest, sizeof s.digest));
		buf_put(&path, 0);
		if (rename(c->temp, (const char *)path.ptr) < 0)
			rc = error_errno(err, "cannot rename %s to %s", c->temp,
					 (const char *)path.ptr);
		c->nparts++;
		c->cells += s.cells;
	}
	buf_release(&path);
	hfile_summary_release(&s);
	return rc;
}

/* Ends the current part if `row` is at or after the border. */
static int pass_borders(struct file_cutting *c, struct bytes row, struct error *err)
{
	const struct hbase_regions *r = c->regions;

	if (c->border >= r->count || bytes_cmp(row, r->item[c->border].start) < 0)
		return RC_OK;
	while (c->border < r->count && bytes_cmp(row, r->item[c->border].start) >= 0)
		c->border++;
	return part_end(c, err);
}

static int cut_cells(struct file_cutting *c, struct error *err)
{
	struct cell cell;
	int rc = RC_OK, step;

	hfile_rewind(c->in);
	c->border = 1; /* start at 1, because the first region begins before every row */
	for (uint64_t n = 0; rc == RC_OK; n++) {
		step = hfile_next_cell(c->in, &cell, err);
		if (step == RC_END)
			return part_end(c, err);
		rc = step < 0 ? step : n % LOOK_CELLS ? RC_OK : stop_check(err);
		if (rc == RC_OK)
			rc = pass_borders(c, cell.row, err);
		if (rc == RC_OK && !c->out)
			rc = part_begin(c, err);
		if (rc == RC_OK)
			rc = hfile_add(c->out, &cell, err);
	}
	return rc;
}

/*
 * Notes the folder of parts. Returns RC_CONFIG if the folder already exists, because then apply did
 * not create it.
 */
static int note_dir(struct applying *a, const char *dir, struct error *err)
{
	bool there;
	int rc = io_exists(dir, &there, err);

	if (rc == RC_OK && there)
		rc = error_set(
			err, RC_CONFIG,
			"%s already exists, and this load did not create it, but apply needs "
			"that name for the parts of cut files; move it away, or choose another "
			"place with --journal",
			dir);
	if (rc == RC_OK)
		rc = applying_note(a, err, "parts");
	a->cut_begun = rc == RC_OK;
	return rc;
}

static int make_dir(const struct file_cutting *c, struct error *err)
{
	struct applying *a = c->table->run;
	int rc = RC_OK;

	pthread_mutex_lock(&a->cut_lock); /* several threads cut files at once */
	if (!a->cut_begun)
		rc = note_dir(a, c->dir, err);
	if (rc == RC_OK && mkdir(c->dir, 0777) < 0 && errno != EEXIST)
		rc = error_errno(err, "cannot make %s", c->dir);
	if (rc == RC_OK)
		rc = io_sync_parent(c->dir, err);
	pthread_mutex_unlock(&a->cut_lock);
	return rc;
}

static void say_cut(const struct file_cutting *c, const struct hand_file *f)
{
	char first[84], last[84];
	struct buf row = {0};

	bytes_escape(&row, f->first);
	text_quote(first, sizeof first - 4, buf_bytes(&row));
	row.len = 0;
	bytes_escape(&row, f->last);
	text_quote(last, sizeof last - 4, buf_bytes(&row));
	buf_release(&row);
	const char *table = c->table->result->name, *path = c->table->sources[c->file].path;
	if (c->nparts > 1)
		applying_say(
			c->table->run,
			"table %s: %s, rows %s to %s, crosses borders of the live regions; apply "
			"cuts it into %u files with the same %" PRIu64 " cells",
			table, path, first, last, c->nparts, c->cells);
	else
		applying_say(
			c->table->run,
			"table %s: %s, rows %s to %s, crossed a border of the live regions that "
			"no longer exists; apply writes it again unchanged, with %" PRIu64 " cells",
			table, path, first, last, c->cells);
}

int cut_at_regions(void *self, const struct hand_file *f, const struct hbase_regions *r,
		   struct buf *words, struct error *err)
{
	struct applied *t = self;
	struct file_cutting c = {.table = t,
				 .file = (size_t)(f - t->hand.files),
				 .regions = r,
				 .dir = parts_dir(t->run),
				 .words = words};
	const struct applied_file *s = &t->sources[c.file];
	int rc = source_prove(t->run, s, err);

	if (rc == RC_OK)
		rc = make_dir(&c, err);
	if (rc == RC_OK)
		rc = hfile_open(&c.in, s->path, err);
	if (rc == RC_OK) {
		describe(&c);
		rc = cut_cells(&c, err);
	}
	if (rc == RC_OK && c.cells != s->cells)
		rc = error_set(err, RC_DATA,
			       "%s has %" PRIu64 " cells, but its parts have "
			       "%" PRIu64,
			       s->path, s->cells, c.cells);
	if (rc == RC_OK)
		rc = io_sync_dir(c.dir, err);
	if (rc == RC_OK)
		say_cut(&c, f);
	hfile_abort(c.out);
	hfile_close(c.in);
	mem_free(c.dir);
	mem_free(c.temp);
	return rc;
}

/* --- parts, as the journal names them --- */

/* Reads hex up to the next colon or the end. The arena owns the row. */
static bool take_row(struct arena *a, const char **p, struct bytes *out)
{
	size_t n = strcspn(*p, ":");
	char *hex = arena_strndup(a, *p, n);
	uint8_t *row = arena_alloc(a, n / 2 + 1);

	*out = bytes_of(row, n / 2);
	*p += n;
	return n && n % 2 == 0 && bytes_unhex(row, n / 2, hex) && *(*p)++ == ':';
}

static bool take_count(const char **p, uint64_t *out)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	*out = strtoull(*p, &end, 10);
	*p = end + 1;
	return *end == ':';
}

int cut_part(void *self, size_t of, const char *word, struct hand_file *out, struct error *err)
{
	struct applied *t = self;
	struct applying *a = t->run;
	struct arena *kept = &a->result->arena;
	size_t i = t->hand.nfiles;
	const char *p = word;
	struct applied_file s = {.family = t->sources[of].family};

	if (!take_row(kept, &p, &out->first) || !take_row(kept, &p, &out->last) ||
	    !take_count(&p, &s.cells) || !take_count(&p, &s.bytes) ||
	    !bytes_unhex(s.digest, sizeof s.digest, p))
		return error_set(err, RC_DATA, "found `%.100s`, expected a part of a file", word);
	char *dir = parts_dir(a), *path = mem_format("%s/%s", dir, p);
	s.path = arena_strdup(kept, path);
	mem_free(path);
	mem_free(dir);
	t->sources = mem_reserve(t->sources, &t->sources_room, i + 1, sizeof *t->sources);
	t->sources[i] = s;
	out->upload = s.path;
	out->bytes = s.bytes;
	if (t->upload_dir)
		upload_place(t, out, i);
	a->nfiles++;
	return RC_OK;
}

/*
 * Returns true if apply gives such names to parts. If a run died, the folder may have parts that
 * the journal does not list.
 */
static bool is_ours(const char *name)
{
	return strncmp(name, CUT_TEMP, sizeof CUT_TEMP - 1) == 0 ||
	       (strlen(name) == DIGEST_CHARS && strspn(name, "0123456789abcdef") == DIGEST_CHARS);
}

static int remove_ours(const char *path, DIR *d, bool *others, struct error *err)
{
	const struct dirent *e;

	while ((errno = 0, e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (!is_ours(e->d_name))
			*others = true;
		else if (unlinkat(dirfd(d), e->d_name, 0) < 0)
			return error_errno(err, "cannot remove %s/%s", path, e->d_name);
	}
	return errno ? error_errno(err, "cannot read %s", path) : RC_OK;
}

/*
 * Removes the parts. If the folder contains other files, keeps the folder and sets *others. A
 * missing folder is no error.
 */
static int remove_parts(const char *dir, bool *others, struct error *err)
{
	DIR *d = opendir(dir);

	*others = false;
	if (!d)
		return errno == ENOENT ? RC_OK : error_errno(err, "cannot look into %s", dir);
	int rc = remove_ours(dir, d, others, err);
	closedir(d);
	if (rc == RC_OK && !*others && rmdir(dir) < 0)
		rc = error_errno(err, "cannot remove %s", dir);
	return rc;
}

int cut_forget(struct applying *a, struct error *err)
{
	bool others;

	if (!a->cut_begun)
		return RC_OK;
	char *dir = parts_dir(a);
	int rc = remove_parts(dir, &others, err);
	if (rc == RC_OK && others)
		applying_warn(
			a,
			"apply did not remove %s, because it contains files that apply did not "
			"create",
			dir);
	mem_free(dir);
	return rc;
}
