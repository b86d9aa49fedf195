/*
 * manifest.c - the form and the digest of manifest.json
 *
 * The last member is the digest of all other bytes. The digest has a fixed distance from the end,
 * so the reader notices any changed byte.
 */
#include "publish.h"

#include <string.h>

#include "io.h"
#include "shared_forms.h"
#include "hash.h"

#define MANIFEST_MOST ((size_t)1 << 30)

enum { DIGITS = 32 }; /* hex digits of a digest */

static const struct form_member file_members[] = {
	{"path", FORM_TEXT, IN(manifest_file, path),
	 "path of the file, relative to the folder of the manifest"},
	{"family", FORM_TEXT, IN(manifest_file, family), "column family"},
	{"region", FORM_SIZE, IN(manifest_file, region), "number of the file's region, from 0"},
	{"rows", FORM_COUNT, IN(manifest_file, rows), "number of row keys"},
	{"cells", FORM_COUNT, IN(manifest_file, cells), "number of cells"},
	{"bytes", FORM_COUNT, IN(manifest_file, bytes), "size of the file"},
	{"cell_bytes", FORM_COUNT, IN(manifest_file, cell_bytes), "size of the cells as KeyValues"},
	{"first_row", FORM_KEY, IN(manifest_file, first_row), "first row key"},
	{"last_row", FORM_KEY, IN(manifest_file, last_row), "last row key"},
	{"min_ts", FORM_INT, IN(manifest_file, min_ts), "oldest cell timestamp, in ms since 1970"},
	{"max_ts", FORM_INT, IN(manifest_file, max_ts), "newest cell timestamp, in ms since 1970"},
	{"digest", FORM_DIGEST, IN(manifest_file, digest), "XXH3-128 of the file"},
};
const struct form manifest_file_form = FORM(manifest_file, file_members);

static const struct form_member region_members[] = {
	{"start", FORM_KEY, IN(manifest_region, start),
	 "first row key of the region; empty means no bound"},
	{"end", FORM_KEY, IN(manifest_region, end),
	 "first row key after the region; empty means no bound"},
	{"rows", FORM_COUNT, IN(manifest_region, rows), "number of row keys"},
	{"cells", FORM_COUNT, IN(manifest_region, cells), "number of cells in the region's files"},
	{"bytes", FORM_COUNT, IN(manifest_region, bytes), "size of the region's files"},
	{"cell_bytes", FORM_COUNT, IN(manifest_region, cell_bytes),
	 "size of the cells as KeyValues"},
	{"predicted_bytes", FORM_COUNT, IN(manifest_region, predicted_bytes),
	 "size of the region's files, predicted from a sample"},
};
static const struct form region_form = FORM(manifest_region, region_members);

static const char *const aims[] = {"balance", "speed", "size", "read", NULL};
static const struct form_member tuning_members[] = {
	{"family", FORM_TEXT, IN(manifest_tuning, family), "column family"},
	{"aim", FORM_TEXT, IN(manifest_tuning, aim), "aim of `auto`", .choices = aims},
	{"level", FORM_INT, IN(manifest_tuning, level),
	 "ZSTD level; at -131072, frames have Huffman codes only"},
	{"hash_log", FORM_SIZE, IN(manifest_tuning, hash_log),
	 "hash log of ZSTD; 0 means the default of the level"},
	{"min_match", FORM_SIZE, IN(manifest_tuning, min_match),
	 "shortest match that saltmill finds; absent if ZSTD finds all matches", FORM_IF_ANY},
	{"encoding", FORM_TEXT, IN(manifest_tuning, encoding),
	 "encoding that `codec: auto` found; absent if the job gives it", FORM_IF_ANY},
	{"block_bytes", FORM_SIZE, IN(manifest_tuning, block_bytes),
	 "block size that `codec: auto` found; absent if the job gives it", FORM_IF_ANY},
	{"plain_bytes", FORM_COUNT, IN(manifest_tuning, plain_bytes), "size of the sample"},
	{"stored_bytes", FORM_COUNT, IN(manifest_tuning, stored_bytes),
	 "size of the sample after compression with these settings"},
	{"usual_bytes", FORM_COUNT, IN(manifest_tuning, usual_bytes),
	 "size of the sample with ZSTD level 3 and no encoding; absent if not tried", FORM_IF_ANY},
};
const struct form manifest_tuning_form = FORM(manifest_tuning, tuning_members);

static const struct form_member family_members[] = {
	{"name", FORM_TEXT, IN(manifest_family, name), "column family"},
};
static const struct form family_form = FORM(manifest_family, family_members);

static const struct form_member part_members[] = {
	{"name", FORM_TEXT, IN(manifest_part, name), "name of a field, or salt, hash, constant"},
	{"bytes", FORM_SIZE, IN(manifest_part, bytes),
	 "length with the terminator; 0 means any length"},
	{"terminator", FORM_KEY, IN(manifest_part, terminator),
	 "byte after the part; empty means no terminator"},
	{"buckets", FORM_SIZE, IN(manifest_part, buckets), "number of salt buckets", FORM_IF_ANY},
};
static const struct form part_form = FORM(manifest_part, part_members);

static const struct form_member table_members[] = {
	{"name", FORM_TEXT, IN(manifest_table, name),
	 "name of the table, with the namespace if it has one"},
	{"dir", FORM_TEXT, IN(manifest_table, dir), "table's folder, relative to the manifest"},
	{"families", FORM_LIST, IN(manifest_table, families), "column families, each with a folder",
	 FORM_IF_ANY, ITEMS(manifest_table, family_form, nfamilies)},
	{"rowkey", FORM_LIST, IN(manifest_table, parts), "parts of the row key, in order",
	 FORM_IF_ANY, ITEMS(manifest_table, part_form, nparts)},
	{"index_of", FORM_TEXT, IN(manifest_table, index_of),
	 "table whose row keys this index stores", FORM_IF_ANY},
	{"loaded", FORM_COUNT, IN(manifest_table, loaded), "number of events that became cells"},
	{"filtered", FORM_COUNT, IN(manifest_table, filtered),
	 "number of events without a cell for this table, because of a condition or nulls"},
	{"deduplicated", FORM_COUNT, IN(manifest_table, deduplicated),
	 "number of overwritten events (same row key, columns and timestamp)"},
	{"predicted_bytes", FORM_COUNT, IN(manifest_table, predicted_bytes),
	 "size of all files, predicted from a sample"},
	{"target_bytes", FORM_COUNT, IN(manifest_table, target_bytes),
	 "size of all files divided by the wanted number of regions"},
	{"largest_over_target", FORM_RATIO, IN(manifest_table, largest_over_target),
	 "size of the largest region divided by `target_bytes`"},
	{"rows", FORM_COUNT, IN(manifest_table, rows), "number of row keys"},
	{"cells", FORM_COUNT, IN(manifest_table, cells), "number of stored cells"},
	{"cells_deduplicated", FORM_COUNT, IN(manifest_table, cells_deduplicated),
	 "number of overwritten cells, which the files do not contain"},
	{"cells_hidden", FORM_COUNT, IN(manifest_table, cells_hidden),
	 "stored cells that delete markers of the same load hide", FORM_IF_ANY},
	{"splits_digest", FORM_DIGEST, IN(manifest_table, splits_digest), "XXH3-128 of splits.txt"},
	{"create_digest", FORM_DIGEST, IN(manifest_table, create_digest), "XXH3-128 of create.rb"},
	{"tuned", FORM_LIST, IN(manifest_table, tuned), "settings that `auto` found", FORM_IF_ANY,
	 ITEMS(manifest_table, manifest_tuning_form, ntuned)},
	{"regions", FORM_LIST, IN(manifest_table, regions),
	 "regions in the order of their row keys", ITEMS(manifest_table, region_form, nregions)},
	{"files", FORM_LIST, IN(manifest_table, files), "all HFiles",
	 ITEMS(manifest_table, manifest_file_form, nfiles)},
};
static const struct form table_form = FORM(manifest_table, table_members);

static const struct form_member slice_members[] = {
	{"first", FORM_COUNT, IN(manifest_slice, first), "offset of the first byte"},
	{"end", FORM_COUNT, IN(manifest_slice, end), "offset of the first byte after the slice"},
	{"lines", FORM_COUNT, IN(manifest_slice, lines), "number of line ends before `end`"},
	{"begins", FORM_FLAG, IN(manifest_slice, begins), "true if no row is before the slice"},
	{"ends", FORM_FLAG, IN(manifest_slice, ends), "true if no row is after the slice"},
	{"size", FORM_SIZE, IN(manifest_slice, size), "size of the whole file", FORM_IF_ANY},
};
static const struct form slice_form = FORM(manifest_slice, slice_members);

static const struct form_member input_members[] = {
	{"path", FORM_TEXT, IN(manifest_input, path),
	 "path of the input in the job or in the command"},
	{"bytes", FORM_COUNT, IN(manifest_input, bytes), "size of the file, or of the slice"},
	{"rows", FORM_COUNT, IN(manifest_input, rows), "number of read events"},
	{"digest", FORM_DIGEST, IN(manifest_input, digest),
	 "XXH3-128 of the read bytes; of a file above 1 MiB, the sum for its chunks"},
	{"slice", FORM_PART, IN(manifest_input, slice),
	 "slice of the file, if the load has only this part", FORM_IF_ANY, &slice_form},
};
static const struct form input_form = FORM(manifest_input, input_members);

static const struct form_member column_members[] = {
	{"name", FORM_TEXT, IN(manifest_column, name),
	 "name from the header, the job or the schema"},
	{"type", FORM_TEXT, IN(manifest_column, type), "type from the schema", FORM_IF_ANY},
};
const struct form manifest_column_form = FORM(manifest_column, column_members);

static const struct form_member reason_members[] = {
	{"reason", FORM_TEXT, IN(reject_reason, reason),
	 "word for the reason, as in rejects.jsonl"},
	{"count", FORM_COUNT, IN(reject_reason, count), "number of events"},
};
const struct form reject_reason_form = FORM(reject_reason, reason_members);

static const struct form_member link_members[] = {
	{"load", FORM_TEXT, IN(manifest_link, load), "name of the load"},
	{"digest", FORM_DIGEST, IN(manifest_link, digest), "XXH3-128 of the load's manifest.json"},
};
static const struct form link_form = FORM(manifest_link, link_members);

static const struct form_member digests_members[] = {
	{"rejects", FORM_DIGEST, IN(manifest_digests, rejects), "XXH3-128 of rejects.jsonl"},
	{"manifest", FORM_DIGEST, IN(manifest_digests, manifest),
	 "XXH3-128 of the manifest without these 32 digits"},
};
static const struct form digests_form = FORM(manifest_digests, digests_members);

static const struct form_member manifest_members[] = {
	{"folder", FORM_TEXT, IN(manifest, folder),
	 "in S3: folder of all other files, relative to the manifest", FORM_IF_ANY},
	{"job", FORM_TEXT, IN(manifest, job_path), "path of the job file in the command"},
	{"rewritten", FORM_TEXT, IN(manifest, rewritten),
	 "merge, convert or rekey, which made the load from HFiles; absent for a load of events. The "
	 "events of such a load are cells, and `job` is empty",
	 FORM_IF_ANY},
	{"job_digest", FORM_DIGEST, IN(manifest, job_digest), "digest of the job file"},
	{"created_ms", FORM_INT, IN(manifest, created_ms),
	 "timestamp of the files (the newest cell, never the clock), in ms since 1970"},
	{"inputs", FORM_LIST, IN(manifest, inputs), "input files, in the order of the load",
	 ITEMS(manifest, input_form, ninputs)},
	{"columns", FORM_LIST, IN(manifest, columns),
	 "columns of the inputs, for delimited text and inputs with a schema", FORM_IF_ANY,
	 ITEMS(manifest, manifest_column_form, ncolumns)},
	{"cluster", FORM_TEXT, IN(manifest, cluster), "the id of the Kafka cluster", FORM_IF_ANY},
	{"topic", FORM_TEXT, IN(manifest, topic), "Kafka: topic of the offsets without a topic",
	 FORM_IF_ANY},
	{"load", FORM_TEXT, IN(manifest, load), "Kafka: name of the load in its state folder",
	 FORM_IF_ANY},
	{"previous", FORM_PART, IN(manifest, previous), "the previous load from Kafka", FORM_IF_ANY,
	 &link_form},
	{"offsets", FORM_LIST, IN(manifest, offsets),
	 "for Kafka, the ranges of read offsets, by topic and partition", FORM_IF_ANY,
	 ITEMS(manifest, offset_range_form, noffsets)},
	{"read", FORM_COUNT, IN(manifest, read), "number of events"},
	{"rejected", FORM_COUNT, IN(manifest, rejected),
	 "number of bad events, which are in rejects.jsonl"},
	{"rejected_lines", FORM_COUNT, IN(manifest, rejected_lines),
	 "number of line ends inside rejected events", FORM_IF_ANY},
	{"filtered_lines", FORM_COUNT, IN(manifest, filtered_lines),
	 "number of line ends inside events that no table takes", FORM_IF_ANY},
	{"reasons", FORM_LIST, IN(manifest, reasons), "reasons of the rejects, most frequent first",
	 ITEMS(manifest, reject_reason_form, nreasons)},
	{"tables", FORM_LIST, IN(manifest, tables), "tables in the order of the job",
	 ITEMS(manifest, table_form, ntables)},
	{"joined", FORM_SIZE, IN(manifest, joined), "number of joined loads; absent means one load",
	 FORM_IF_ANY},
	{"digests", FORM_PART, IN(manifest, digests), "digests that prove that nothing changed",
	 FORM_IF_ANY, &digests_form},
};
const struct form manifest_form =
	NAMED_FORM(manifest, manifest_members, "manifest",
		   "manifest.json of a load; merge, convert and rekey --json", .digits = 6);

uint64_t manifest_region_bytes(const struct manifest_table *t, uint64_t *largest)
{
	uint64_t bytes = 0;

	*largest = 0;
	for (size_t i = 0; i < t->nregions; i++) {
		bytes += t->regions[i].bytes;
		if (t->regions[i].bytes > *largest)
			*largest = t->regions[i].bytes;
	}
	return bytes;
}

static const char *default_dir(const char *name, struct arena *a)
{
	char *dir = arena_strdup(a, name), *colon = strchr(dir, ':');

	if (colon)
		*colon = '/';
	return dir;
}

/* Find the digits of the manifest's digest. Return false if they are not at the expected offset. */
static bool find_seal(struct bytes text, size_t *at)
{
	static const char before[] = "\"manifest\": \"", behind[] = "\"\n  }\n}\n";
	size_t head = sizeof before - 1, tail = sizeof behind - 1;

	if (text.len < head + DIGITS + tail)
		return false;
	*at = text.len - tail - DIGITS;
	return memcmp(text.ptr + *at + DIGITS, behind, tail) == 0 &&
	       memcmp(text.ptr + *at - head, before, head) == 0;
}

static void seal_of(struct bytes text, size_t at, uint8_t digest[16])
{
	XXH3_state_t s;
	XXH128_canonical_t c;

	XXH3_128bits_reset(&s);
	XXH3_128bits_update(&s, text.ptr, at);
	XXH3_128bits_update(&s, text.ptr + at + DIGITS, text.len - at - DIGITS);
	XXH128_canonicalFromHash(&c, XXH3_128bits_digest(&s));
	memcpy(digest, c.digest, sizeof c.digest);
}

static void put_seal(struct buf *out, size_t from)
{
	struct bytes text = bytes_of(out->ptr + from, out->len - from);
	struct buf hex = {0};
	uint8_t digest[16];
	size_t at;

	if (!find_seal(text, &at))
		return;
	seal_of(text, at, digest);
	bytes_hex(&hex, bytes_of(digest, sizeof digest));
	memcpy(out->ptr + from + at, hex.ptr, DIGITS);
	buf_release(&hex);
}

static int check_seal(const struct manifest *m, struct bytes text, const char *path,
		      struct error *err)
{
	uint8_t digest[16];
	size_t at;
	bool sealed = find_seal(text, &at);

	if (!sealed && !m->digests.known)
		return RC_OK;
	if (sealed && m->digests.known) {
		seal_of(text, at, digest);
		if (memcmp(digest, m->digests.manifest, sizeof digest) == 0)
			return RC_OK;
	}
	return error_set(
		err, RC_DATA,
		"%s: found another digest than the content's; the file is damaged, or another "
		"program changed it",
		path);
}

static struct manifest with_dirs(const struct manifest *m, struct arena *a)
{
	struct manifest named = *m;

	named.tables = arena_alloc(a, m->ntables * sizeof *m->tables);
	for (size_t i = 0; i < m->ntables; i++) {
		named.tables[i] = m->tables[i];
		if (!m->tables[i].dir)
			named.tables[i].dir = default_dir(m->tables[i].name, a);
	}
	return named;
}

void manifest_format(const struct manifest *m, struct buf *out)
{
	struct arena a = {0};
	struct manifest named = with_dirs(m, &a);
	size_t before = out->len;

	form_put(out, &manifest_form, &named, FORM_FILE);
	if (m->digests.known)
		put_seal(out, before);
	arena_release(&a);
}

int manifest_write(const struct manifest *m, struct storage *to, const char *path,
		   struct error *err)
{
	struct buf text = {0};

	manifest_format(m, &text);
	int rc = storage_write(to, path, buf_bytes(&text), NULL, err);
	buf_release(&text);
	return rc;
}

/* Check that each terminator has at most one byte, because the form cannot express this rule. */
static int check_terminators(const struct manifest *m, const char *path, struct error *err)
{
	for (size_t i = 0; i < m->ntables; i++)
		for (size_t k = 0; k < m->tables[i].nparts; k++)
			if (m->tables[i].parts[k].terminator.len > 1)
				return error_set(err, RC_DATA,
						 "%s: tables[%zu].rowkey[%zu].terminator: found "
						 "%zu bytes, expected at most one",
						 path, i, k, m->tables[i].parts[k].terminator.len);
	return RC_OK;
}

/* Return true if the name is that of one folder, which leads to no other place. */
static bool is_folder_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

/* Add the folder to all paths, so that readers need no case for it. */
static int enter_folder(struct manifest *m, const char *path, struct arena *a, struct error *err)
{
	if (!m->folder)
		return RC_OK;
	if (!is_folder_name(m->folder))
		return error_set(err, RC_DATA, "%s: folder: found \"%.200s\", expected one name",
				 path, m->folder);
	for (size_t i = 0; i < m->ntables; i++) {
		struct manifest_table *t = &m->tables[i];

		t->dir = arena_format(a, "%s/%s", m->folder, t->dir);
		for (size_t k = 0; k < t->nfiles; k++)
			t->files[k].path = arena_format(a, "%s/%s", m->folder, t->files[k].path);
	}
	return RC_OK;
}

static int text_of(const char *path, struct buf *text, struct error *err)
{
	struct storage *s;

	if (!storage_is_remote(path))
		return io_read_file(path, text, err);
	int rc = storage_open(&s, path, NULL, err);
	if (rc)
		return rc;
	rc = storage_read(s, storage_path(s), MANIFEST_MOST, text, err);
	storage_close(s);
	return rc;
}

int manifest_read(struct manifest *m, const char *path, struct arena *a, struct error *err)
{
	*m = (struct manifest){0};
	struct buf text = {0};
	int rc = text_of(path, &text, err);
	if (rc == RC_OK)
		rc = form_parse(&manifest_form, m, buf_bytes(&text), path, "a manifest", a, err);
	if (rc == RC_OK)
		rc = check_seal(m, buf_bytes(&text), path, err);
	if (rc == RC_OK)
		rc = check_terminators(m, path, err);
	if (rc == RC_OK)
		rc = enter_folder(m, path, a, err);
	buf_release(&text);
	return rc;
}
