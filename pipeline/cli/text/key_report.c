#include "cli/reports.h"

#include <inttypes.h>

#include "field.h"
#include "show_json.h"

static const struct field *field_of(const struct key_table *k, size_t part)
{
	return &k->job->fields[k->schema.parts[part].field];
}

/* Numbers as JSON has them; jansson's own end at 2^63. */
static void put_json_value(struct buf *out, const struct field *f, const struct value *v)
{
	enum field_type t = f->type;
	struct buf text = {0};

	field_text(f, v, &text);
	if (t == FIELD_U32 || t == FIELD_U64 || t == FIELD_I64 || t == FIELD_F64 ||
	    t == FIELD_DECIMAL || t == FIELD_BOOL)
		buf_append(out, text.ptr, text.len);
	else
		show_json_text(out, buf_bytes(&text));
	buf_release(&text);
}

static void put_json(struct buf *out, const struct key_table *k, struct bytes key,
		     const struct key_piece *pieces)
{
	const struct key_schema *s = &k->schema;
	struct buf row = {0};
	const char *comma = "";

	bytes_escape(&row, key);
	buf_append_str(out, "{\"row\": ");
	show_json_text(out, buf_bytes(&row));
	buf_release(&row);
	if (s->steps[0].kind == PART_SALT)
		buf_printf(out, ", \"salt\": %" PRIu64, pieces[0].number);
	buf_append_str(out, ", \"key\": {");
	for (size_t i = 0; i < s->nsteps; i++) {
		const struct layout *l = &s->steps[i].layout;

		if (s->steps[i].kind != PART_FIELD)
			continue;
		buf_append_str(out, comma);
		show_json_text(out, bytes_str(l->title));
		buf_append_str(out, ": ");
		if (l->kind == LAY_DATE)
			layout_text(l, &pieces[i].value, out);
		else
			put_json_value(out, field_of(k, i), &pieces[i].value);
		comma = ", ";
	}
	buf_append_str(out, "}}\n");
}

void key_report(struct buf *out, const struct key_table *k, struct bytes key,
		const struct key_piece *pieces, bool json)
{
	const struct key_schema *s = &k->schema;
	const char *comma = "";

	if (json) {
		put_json(out, k, key, pieces);
		return;
	}
	for (size_t i = 0; i < s->nsteps; i++) {
		const struct layout *l = &s->steps[i].layout;

		if (s->steps[i].kind == PART_SALT) {
			buf_printf(out, "salt %" PRIu64, pieces[i].number);
		} else if (s->steps[i].kind == PART_FIELD) {
			buf_printf(out, "%s%s ", comma, l->title);
			if (l->kind == LAY_DATE)
				layout_text(l, &pieces[i].value, out);
			else
				field_text(field_of(k, i), &pieces[i].value, out);
		} else {
			continue;
		}
		comma = ", ";
	}
	buf_put(out, '\n');
}
