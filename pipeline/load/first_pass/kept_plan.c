/* kept_plan.c - read a plan that an earlier `saltmill plan` saved */
#include "pass.h"

#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "publish.h"
#include "hash.h"

#define BLOCK_MOST (16u << 20) /* as in the job */

static int read_splits(struct kept_table *t, const struct settings_table *s, const char *dir,
		       struct error *err)
{
	uint8_t digest[16];
	uint64_t size;
	char *folder = table_dir(dir, s->name), *path = mem_format("%s/splits.txt", folder);
	int rc = io_digest_file(path, digest, &size, err);

	if (rc == RC_OK && memcmp(digest, s->splits_digest, sizeof digest) != 0)
		rc = error_set(
			err, RC_CONFIG,
			"%s: found other bytes than plan wrote; run `saltmill plan` again, or "
			"use these keys in the job with `regions: {split: file}`",
			path);
	if (rc == RC_OK && size > 0)
		rc = splits_read(&t->splits, path, err);
	mem_free(path);
	mem_free(folder);
	return rc;
}

static int take_tuning(struct kept_plan *k, struct kept_table *t, const struct settings_table *s,
		       const struct table *schema, struct error *err)
{
	if (!tuning_asked(schema))
		return RC_OK;
	t->tuned = arena_alloc(&k->arena, schema->nfamilies * sizeof *t->tuned);
	for (size_t i = 0; i < s->ntuned; i++) {
		const struct manifest_tuning *from = &s->tuned[i];
		size_t f = 0;

		while (f < schema->nfamilies && strcmp(schema->families[f].name, from->family) != 0)
			f++;
		enum block_encoding encoding = ENCODING_NONE;
		if (f == schema->nfamilies || from->level > 22 || from->level < LEVEL_HUFFMAN ||
		    from->hash_log > 30 || from->min_match > 8 || from->block_bytes > BLOCK_MOST ||
		    (from->encoding && !encoding_named(from->encoding, &encoding)))
			return error_set(
				err, RC_DATA,
				"the plan: found invalid tuning for family %s of table %s, "
				"expected a "
				"family of the job and values that ZSTD supports; run `saltmill "
				"plan` again",
				from->family, schema->name);
		t->tuned[f] = (struct hfile_tuning){.level = (int)from->level,
						    .hash_log = (uint32_t)from->hash_log,
						    .min_match = (uint32_t)from->min_match,
						    .chosen = from->encoding != NULL,
						    .encoding = encoding,
						    .block_bytes = (uint32_t)from->block_bytes,
						    .usual_bytes = from->usual_bytes,
						    .plain_bytes = from->plain_bytes,
						    .stored_bytes = from->stored_bytes};
	}
	return RC_OK;
}

static int take_tables(struct kept_plan *k, const struct plan_settings *s, const char *dir,
		       const struct job *job, struct error *err)
{
	int rc = RC_OK;

	k->ntables = job->ntables;
	k->tables = arena_alloc(&k->arena, (job->ntables + 1) * sizeof *k->tables);
	for (size_t t = 0; rc == RC_OK && t < job->ntables; t++) {
		const struct table *schema = &job->tables[t].schema;

		if (t >= s->ntables || strcmp(s->tables[t].name, schema->name) != 0)
			return error_set(err, RC_CONFIG,
					 "%s: found a plan with other tables, expected the "
					 "tables of %s; run `saltmill plan` again",
					 dir, job->path);
		if (tuning_asked(schema) && !s->tuned)
			return error_set(err, RC_CONFIG,
					 "%s: found no level for table %s, expected one because of "
					 "`level: auto`; make the plan with --tune",
					 dir, schema->name);
		k->tables[t].disk_per_byte = s->tables[t].disk_per_byte;
		rc = read_splits(&k->tables[t], &s->tables[t], dir, err);
		if (rc == RC_OK)
			rc = take_tuning(k, &k->tables[t], &s->tables[t], schema, err);
	}
	return rc;
}

/*
 * Set the plan's digest to the digest of the settings. The settings contain the digests of all
 * splits.
 */
static int identify(struct kept_plan *k, const char *settings, const struct job *job,
		    struct error *err)
{
	static const char version[] = "saltmill " SALTMILL_VERSION;
	XXH128_canonical_t canonical;
	XXH3_state_t x;
	struct buf text = {0};
	int rc = io_read_file(settings, &text, err);

	XXH3_128bits_reset(&x);
	XXH3_128bits_update(&x, version, sizeof version);
	XXH3_128bits_update(&x, job->digest, sizeof job->digest);
	XXH3_128bits_update(&x, text.ptr, text.len);
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&x));
	memcpy(k->identity, canonical.digest, sizeof k->identity);
	buf_release(&text);
	return rc;
}

int kept_plan_read(struct kept_plan *k, const char *dir, const struct job *job, struct error *err)
{
	struct plan_settings s;

	*k = (struct kept_plan){0};
	char *path = mem_format("%s/settings.json", dir);
	s = (struct plan_settings){0};
	bool there;
	int rc = io_exists(path, &there, err);
	if (rc == RC_OK)
		rc = there ? settings_read(&s, path, &k->arena, err)
			   : error_set(err, RC_CONFIG,
				       "%s: found no settings.json, expected a folder of "
				       "`saltmill plan JOB FILE... -o DIR`, or of --from samples "
				       "that all have the same columns",
				       dir);
	if (rc == RC_OK && memcmp(s.job_digest, job->digest, sizeof job->digest) != 0)
		rc = error_set(err, RC_CONFIG,
			       "%s: found a plan of another job, expected a plan of %s; run "
			       "`saltmill plan` again",
			       dir, job->path);
	if (rc == RC_OK)
		rc = take_tables(k, &s, dir, job, err);
	if (rc == RC_OK)
		rc = identify(k, path, job, err);
	k->columns = arena_alloc(&k->arena, (s.ncolumns + 1) * sizeof *k->columns);
	for (k->ncolumns = 0; rc == RC_OK && k->ncolumns < s.ncolumns; k->ncolumns++) {
		struct bytes name = s.columns[k->ncolumns].name;

		k->columns[k->ncolumns] = arena_strndup(&k->arena, name.ptr, name.len);
	}
	mem_free(path);
	return rc;
}

int kept_plan_columns(const struct kept_plan *k, const char *const *columns, size_t n,
		      const char *input, struct error *err)
{
	bool same = n == k->ncolumns;

	for (size_t i = 0; same && i < n; i++)
		same = strcmp(columns[i], k->columns[i]) == 0;
	return same ? RC_OK
		    : error_set(err, RC_DATA,
				"%s: found other columns than in the planned input; run "
				"`saltmill plan` with this input",
				input);
}

void kept_plan_release(struct kept_plan *k)
{
	for (size_t t = 0; k->tables && t < k->ntables; t++)
		splits_release(&k->tables[t].splits);
	arena_release(&k->arena);
	*k = (struct kept_plan){0};
}
