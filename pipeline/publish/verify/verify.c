/*
 * verify.c - check all facts of a published load that need no input
 *
 *   manifest.json  the digest; read = loaded + rejected + filtered + deduplicated; for a load from
 *                  Kafka the load before it, if it is beside DIR under its name
 *   scripts        digests of splits.txt and create.rb; splits.txt gives the regions, create.rb the
 *                  table's name
 *   files          see verify_files.c
 *   regions        sums of the files are the regions, sums of the regions are the table
 *   rejects.jsonl  the digest; the number of lines, in total and for each reason
 *   DIR            see verify_folder.c
 */
#include "publish.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ddl.h"
#include "form.h"
#include "io.h"
#include "mem.h"
#include "splits.h"
#include "verify_remote.h"

static void check_law(struct findings *out, const struct manifest *m)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < m->ninputs; i++)
		rows += m->inputs[i].rows;
	for (size_t i = 0; i < m->noffsets; i++)
		rows += (uint64_t)m->offsets[i].events;
	if (rows != m->read)
		findings_add(out, true, "manifest.json",
			     "the inputs have %" PRIu64 " rows, `read` is %" PRIu64, rows, m->read);
	for (size_t i = 0; i < m->ntables; i++) {
		const struct manifest_table *t = &m->tables[i];
		uint64_t sum = t->loaded + m->rejected + t->filtered + t->deduplicated;

		findings_add(out, sum != m->read, "manifest.json",
			     "table %s: %" PRIu64 " read %s %" PRIu64 " loaded + %" PRIu64
			     " rejected + %" PRIu64 " filtered + %" PRIu64 " deduplicated",
			     t->name, m->read, sum == m->read ? "=" : "but", t->loaded, m->rejected,
			     t->filtered, t->deduplicated);
	}
}

/* Read a script of the table. Return false after a finding. */
static bool read_script(struct findings *out, const char *dir, const char *path,
			const uint8_t expected[16], struct buf *text)
{
	struct error err = {0};
	uint8_t digest[16];
	uint64_t size;
	char *full = mem_format("%s/%s", dir, path);
	int rc = io_digest_file(full, digest, &size, &err);

	if (rc == RC_OK)
		rc = io_read_file(full, text, &err);
	mem_free(full);
	if (rc)
		findings_add(out, true, path, "%s", err.msg);
	else if (memcmp(digest, expected, 16) != 0)
		findings_add(out, true, path, "changed: found another digest than in the manifest");
	return rc == RC_OK;
}

static void escaped(struct buf *text, struct bytes key)
{
	if (key.len)
		bytes_escape(text, key);
	else
		buf_append_str(text, "(none)");
	buf_put(text, 0);
}

static void check_bound(struct findings *out, const char *path, size_t region, const char *which,
			struct bytes key, struct bytes expected)
{
	if (bytes_eq(key, expected))
		return;
	struct buf a = {0}, b = {0};
	escaped(&a, key);
	escaped(&b, expected);
	findings_add(out, true, path, "region %zu %s at %s here, at %s in the manifest", region,
		     which, (char *)a.ptr, (char *)b.ptr);
	buf_release(&a);
	buf_release(&b);
}

static void check_regions_of_splits(struct findings *out, const char *path,
				    const struct manifest_table *t, const struct splits *s)
{
	if (s->count + 1 != t->nregions) {
		findings_add(out, true, path,
			     "%zu split keys make %zu regions, but the manifest has %zu", s->count,
			     s->count + 1, t->nregions);
		return;
	}
	size_t before = out->problems;
	struct bytes none = {0};
	for (size_t i = 0; i < t->nregions; i++) {
		check_bound(out, path, i, "starts", i ? s->keys[i - 1] : none, t->regions[i].start);
		check_bound(out, path, i, "ends", i < s->count ? s->keys[i] : none,
			    t->regions[i].end);
	}
	if (out->problems == before)
		findings_add(out, false, path, "%zu regions", t->nregions);
}

/* Check that the script creates the manifest's table, whose name is in no other file of the load. */
static void check_created_table(struct findings *out, const char *path,
				const struct manifest_table *t, struct bytes script)
{
	struct arena a = {0};
	struct description d;
	struct error err;

	if (description_of_script(&d, &a, path, script, &err))
		findings_add(out, true, path, "%s", err.msg);
	else if (strcmp(d.creates, t->name) != 0)
		findings_add(out, true, path, "creates table %s, but the manifest has table %s",
			     d.creates, t->name);
	arena_release(&a);
}

static void check_scripts(struct findings *out, const char *dir, const struct manifest_table *t)
{
	struct buf text = {0};
	struct splits splits = {0};
	struct error err = {0};
	char *path = mem_format("%s/splits.txt", t->dir);

	if (read_script(out, dir, path, t->splits_digest, &text)) {
		if (splits_parse(&splits, path, buf_bytes(&text), &err))
			findings_add(out, true, path, "%s", err.msg);
		else
			check_regions_of_splits(out, path, t, &splits);
	}
	splits_release(&splits);
	mem_free(path);
	text.len = 0;
	path = mem_format("%s/create.rb", t->dir);
	size_t before = out->problems;
	if (read_script(out, dir, path, t->create_digest, &text))
		check_created_table(out, path, t, buf_bytes(&text));
	if (out->problems == before)
		findings_add(out, false, path, "as written");
	mem_free(path);
	buf_release(&text);
}

/* The totals of the files of one region. */
struct region_sum {
	uint64_t rows, largest, cells, bytes, cell_bytes;
	const char *family;
	bool several; /* true if the region has files of several families */
};

static bool region_agrees(const struct manifest_region *r, const struct region_sum *s)
{
	/*
	 * A row may be in the files of several families, so the files give only bounds of the
	 * number of rows.
	 */
	bool rows = s->several ? r->rows <= s->rows && r->rows >= s->largest : r->rows == s->rows;

	return rows && r->cells == s->cells && r->bytes == s->bytes &&
	       r->cell_bytes == s->cell_bytes;
}

static void check_sums(struct findings *out, const struct manifest_table *t)
{
	struct region_sum *sums = mem_calloc(t->nregions, sizeof *sums);

	for (size_t i = 0; i < t->nfiles; i++) {
		const struct manifest_file *f = &t->files[i];

		if (f->region >= t->nregions)
			continue; /* verify_files has already reported this file */
		struct region_sum *s = &sums[f->region];
		s->rows += f->rows;
		s->largest = f->rows > s->largest ? f->rows : s->largest;
		s->cells += f->cells;
		s->bytes += f->bytes;
		s->cell_bytes += f->cell_bytes;
		s->several = s->several || (s->family && strcmp(s->family, f->family) != 0);
		s->family = f->family;
	}
	uint64_t rows = 0, cells = 0;
	size_t before = out->problems;
	for (size_t i = 0; i < t->nregions; i++) {
		const struct manifest_region *r = &t->regions[i];
		const struct region_sum *s = &sums[i];

		rows += r->rows;
		cells += r->cells;
		if (!region_agrees(r, s))
			findings_add(out, true, "manifest.json",
				     "table %s: region %zu has %" PRIu64 " rows, %" PRIu64
				     " cells, %" PRIu64 " bytes, its files %" PRIu64 ", %" PRIu64
				     ", %" PRIu64,
				     t->name, i, r->rows, r->cells, r->bytes, s->rows, s->cells,
				     s->bytes);
	}
	if (rows != t->rows || cells != t->cells)
		findings_add(out, true, "manifest.json",
			     "table %s: %" PRIu64 " rows and %" PRIu64
			     " cells, its regions have %" PRIu64 " and %" PRIu64,
			     t->name, t->rows, t->cells, rows, cells);
	if (out->problems == before)
		findings_add(out, false, "manifest.json",
			     "table %s: %" PRIu64 " rows, %" PRIu64 " cells in %zu regions add up",
			     t->name, rows, cells, t->nregions);
	mem_free(sums);
}

/* Count a line of rejects.jsonl by its reason. Return false if the line has another form. */
static bool count_reject(const struct manifest *m, uint64_t *counts, const char *line, size_t len)
{
	struct reject_view v = {0};
	struct arena a = {0};
	struct error ignored;
	bool good =
		len && line[len - 1] == '\n' &&
		form_parse(&reject_form, &v, bytes_of(line, len), "", "", &a, &ignored) == RC_OK;

	for (size_t i = 0; good && i < m->nreasons; i++)
		counts[i] += strcmp(m->reasons[i].reason, v.reason) == 0;
	arena_release(&a);
	return good;
}

static void check_reject_lines(struct findings *out, const struct manifest *m, const char *path,
			       FILE *f)
{
	size_t before = out->problems, cap = 0;
	uint64_t *counts = mem_calloc(m->nreasons, sizeof *counts), lines = 0;
	char *line = NULL;

	for (ssize_t n; (n = getline(&line, &cap, f)) > 0;) {
		lines++;
		if (!count_reject(m, counts, line, (size_t)n))
			findings_add(out, true, path,
				     "line %" PRIu64 " is not a JSON object with a reason", lines);
	}
	if (ferror(f))
		findings_add(out, true, path, "cannot be read: %s", strerror(errno));
	if (lines != m->rejected)
		findings_add(out, true, path,
			     "%" PRIu64 " lines, but the manifest has %" PRIu64 " rejected", lines,
			     m->rejected);
	for (size_t i = 0; i < m->nreasons; i++)
		if (counts[i] != m->reasons[i].count)
			findings_add(out, true, path,
				     "%" PRIu64
				     " lines of reason %s, but the manifest has %" PRIu64,
				     counts[i], m->reasons[i].reason, m->reasons[i].count);
	if (out->problems == before)
		findings_add(out, false, path, "%" PRIu64 " lines", lines);
	free(line);
	mem_free(counts);
}

static void check_rejects(struct findings *out, const char *dir, const struct manifest *m)
{
	char *name = manifest_rejects_path(m);
	struct error err;
	uint8_t digest[16];
	uint64_t size;
	char *path = mem_format("%s/%s", dir, name);

	FILE *f = fopen(path, "re");
	if (!f)
		findings_add(out, true, name, "cannot be opened: %s", strerror(errno));
	else if (m->digests.known && io_digest_file(path, digest, &size, &err))
		findings_add(out, true, name, "%s", err.msg);
	else if (m->digests.known && memcmp(digest, m->digests.rejects, sizeof digest) != 0)
		findings_add(out, true, name, "changed: found another digest than in the manifest");
	if (f) {
		check_reject_lines(out, m, name, f);
		fclose(f);
	}
	mem_free(name);
	mem_free(path);
}

/* Report the digests that manifest_read has compared. */
static void say_digests(struct findings *out, const struct manifest *m)
{
	findings_add(out, false, "manifest.json", "%s",
		     m->digests.known
			     ? "as written"
			     : "an old version wrote this manifest without digests of the "
			       "manifest and of rejects.jsonl, so verify cannot detect all "
			       "changes of the manifest and of rejects");
}

/*
 * Check the link to the previous load, if that load is in the same parent folder, as in a stream.
 */
static void check_link(struct findings *out, const char *dir, const struct manifest *m)
{
	const struct manifest_link *link = &m->previous;
	struct error ignored;
	uint8_t digest[16];
	uint64_t size;

	if (!link->known || !m->load)
		return;
	char *path = mem_format("%s/../%s/manifest.json", dir, link->load);
	if (io_digest_file(path, digest, &size, &ignored))
		findings_add(out, false, "manifest.json",
			     "load %s, after load %s as in the manifest", m->load, link->load);
	else if (memcmp(digest, link->digest, sizeof digest) == 0)
		findings_add(out, false, "manifest.json",
			     "load %s, after load %s in the same "
			     "folder",
			     m->load, link->load);
	else
		findings_add(
			out, true, "manifest.json",
			"load %s follows load %s with other bytes than the load of that name in "
			"the same folder",
			m->load, link->load);
	mem_free(path);
}

/* If `from` is not NULL, it has the load, and `dir` is an empty folder for copies. */
static int verify_parts(struct verify_result *out, const char *dir, struct storage *from,
			const struct manifest *m, unsigned threads, struct progress *progress,
			struct error *err)
{
	if (from)
		verify_bring(&out->findings, from, m, dir);
	say_digests(&out->findings, m);
	check_law(&out->findings, m);
	check_link(&out->findings, dir, m);
	for (size_t i = 0; i < m->ntables; i++)
		check_scripts(&out->findings, dir, &m->tables[i]);
	int rc = verify_files(&out->findings, dir, from, m, threads, progress, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < m->ntables; i++) {
		check_sums(&out->findings, &m->tables[i]);
		out->files += m->tables[i].nfiles;
		out->rows += m->tables[i].rows;
		out->cells += m->tables[i].cells;
	}
	check_rejects(&out->findings, dir, m);
	if (from)
		verify_objects(&out->findings, from, m);
	else
		verify_folder(&out->findings, dir, m);
	return RC_OK;
}

static int verify_remote(struct verify_result *out, const char *uri, const struct manifest *m,
			 unsigned threads, const char *temp_dir, struct progress *progress,
			 struct error *err)
{
	struct storage *from;
	char *dir = NULL;
	int rc = storage_open(&from, uri, NULL, err);

	if (rc)
		return rc;
	rc = io_make_temp_dir(&dir, temp_dir, "saltmill-verify", err);
	if (rc == RC_OK) {
		struct error ignored;

		rc = verify_parts(out, dir, from, m, threads, progress, err);
		io_remove_tree(dir, &ignored);
	}
	mem_free(dir);
	storage_close(from);
	return rc;
}

int verify_load(struct verify_result *out, const char *dir, unsigned threads, const char *temp_dir,
		struct progress *progress, struct error *err)
{
	*out = (struct verify_result){0};
	struct arena a = {0};
	struct manifest m;
	size_t n = strlen(dir);
	while (n > 1 && dir[n - 1] == '/')
		n--;
	char *root = arena_strndup(&a, dir, n), *path = mem_format("%s/manifest.json", root);
	struct error bad = {0};
	int rc = RC_OK;
	if (manifest_read(&m, path, &a, &bad))
		findings_add(&out->findings, true, "manifest.json", "%s", bad.msg);
	else if (storage_is_remote(root))
		rc = verify_remote(out, root, &m, threads, temp_dir, progress, err);
	else
		rc = verify_parts(out, root, NULL, &m, threads, progress, err);
	mem_free(path);
	arena_release(&a);
	return rc;
}

void verify_release(struct verify_result *r)
{
	findings_release(&r->findings);
}
