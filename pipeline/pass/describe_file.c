/* describe_file.c - see describe_file.h */
#include "describe_file.h"

#include "mem.h"

struct bytes arena_bytes(struct arena *a, struct bytes b)
{
	return bytes_of(arena_strndup(a, (const char *)b.ptr, b.len), b.len);
}

void describe_file(struct arena *a, const struct table *schema, size_t region,
		   const struct cut_file *f, struct manifest_file *m)
{
	const char *family = schema->families[f->family].name;
	char *path = table_dir("", schema->name), *full;
	full = mem_format("%s/hfiles/%s/%s", path + 1, family, f->name);
	*m = (struct manifest_file){
		.path = arena_strdup(a, full),
		.family = arena_strdup(a, family),
		.region = region,
		.rows = f->sum.rows,
		.cells = f->sum.cells,
		.bytes = f->sum.file_bytes,
		.cell_bytes = f->sum.cell_bytes,
		.first_row = arena_bytes(a, buf_bytes(&f->sum.first_row)),
		.last_row = arena_bytes(a, buf_bytes(&f->sum.last_row)),
		.min_ts = f->sum.min_ts,
		.max_ts = f->sum.max_ts,
	};
	memcpy(m->digest, f->sum.digest, sizeof m->digest);
	mem_free(full);
	mem_free(path);
}
