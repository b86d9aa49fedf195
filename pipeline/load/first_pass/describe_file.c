/* describe_file.c - describe the schema of the inputs for manifests and reports */
#include "load/describe_file.h"

#include "mem.h"
#include "source.h"

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
