/* table_files.c - write the scripts of a table, and describe its HFiles and sizes in the manifest */
#include <string.h>

#include "ddl.h"
#include "hfile.h"
#include "publish.h"

static int write_text(struct storage *to, const char *dir, const char *name, const struct buf *text,
		      uint8_t digest[16], struct error *err)
{
	char *path = mem_format("%s/%s", dir, name);
	int rc = storage_write(to, path, buf_bytes(text), digest, err);

	mem_free(path);
	return rc;
}

int table_write_scripts(struct manifest_table *m, struct storage *to, const char *dir,
			const struct table *schema, const struct splits *splits, struct error *err)
{
	struct buf text = {0};

	splits_format(splits, &text);
	int rc = write_text(to, dir, "splits.txt", &text, m->splits_digest, err);
	text.len = 0;
	if (rc == RC_OK)
		rc = ddl_create(&text, schema, splits, err);
	if (rc == RC_OK)
		rc = write_text(to, dir, "create.rb", &text, m->create_digest, err);
	buf_release(&text);
	return rc;
}

void manifest_describe_file(struct manifest_file *m, struct arena *a, const struct table *schema,
			    size_t family, size_t region, const struct hfile_summary *sum)
{
	char *dir = table_dir("", schema->name), name[HFILE_NAME_BYTES];

	hfile_summary_name(sum, name);
	*m = (struct manifest_file){
		.family = arena_strdup(a, schema->families[family].name),
		.region = region,
		.rows = sum->rows,
		.cells = sum->cells,
		.bytes = sum->file_bytes,
		.cell_bytes = sum->cell_bytes,
		.first_row = arena_bytes(a, buf_bytes(&sum->first_row)),
		.last_row = arena_bytes(a, buf_bytes(&sum->last_row)),
		.min_ts = sum->min_ts,
		.max_ts = sum->max_ts,
	};
	m->path = arena_format(a, "%s/hfiles/%s/%s", dir + 1, m->family, name);
	memcpy(m->digest, sum->digest, sizeof m->digest);
	mem_free(dir);
}

void manifest_compare_sizes(struct manifest_table *m, size_t wanted)
{
	uint64_t largest, bytes = manifest_region_bytes(m, &largest);

	m->target_bytes = bytes / wanted;
	if (bytes)
		m->largest_over_target = (double)largest * (double)wanted / (double)bytes;
}
