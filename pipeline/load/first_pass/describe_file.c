/* describe_file.c - describe inputs and files for manifests and reports */
#include "load/describe_file.h"

#include "mem.h"
#include "source.h"

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

static const char *type_text(const struct schema_value *v, struct arena *a)
{
	char text[40];

	if (v->type == FIELD_DECIMAL)
		snprintf(text, sizeof text, "%s(%u)", field_type_name(v->type), v->scale);
	else
		snprintf(text, sizeof text, "%s%s", v->local ? "local " : "",
			 field_type_name(v->type));
	return arena_strdup(a, text);
}

struct manifest_column *schema_columns(struct arena *a, struct source *s, size_t *n)
{
	const struct schema_value *values;
	size_t left_out;

	*n = source_schema_values(s, &values, &left_out);
	struct manifest_column *columns = arena_alloc(a, (*n + 1) * sizeof *columns);
	for (size_t i = 0; i < *n; i++)
		columns[i] = (struct manifest_column){arena_strdup(a, values[i].path),
						      type_text(&values[i], a)};
	return columns;
}
