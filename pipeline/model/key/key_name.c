#include "key.h"

#include <inttypes.h>

void key_name(void *key_table, struct bytes key, size_t part, struct buf *out)
{
	const struct key_table *k = key_table;
	const struct key_schema *s = &k->schema;
	struct arena a = {0};
	struct key_piece *pieces = arena_alloc(&a, (s->nsteps + 1) * sizeof *pieces);
	size_t n = key_split(s, key, pieces);
	const char *comma = "";
	struct error err;

	for (size_t i = 0; i < n && i <= part; i++) {
		const struct layout *l = &s->steps[i].layout;

		if (s->steps[i].kind == PART_SALT && part == 0) {
			buf_printf(out, "%" PRIu64, pieces[i].number);
		} else if (s->steps[i].kind == PART_FIELD) {
			buf_printf(out, "%s%s ", comma, l->title);
			if (layout_take(l, pieces[i].bytes, &a, &pieces[i].value, &err))
				bytes_escape(out, pieces[i].bytes);
			else
				layout_text(l, &pieces[i].value, out);
			comma = ", ";
		}
	}
	arena_release(&a);
}
