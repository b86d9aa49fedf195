#include "cli/reports.h"

#include <inttypes.h>

#include "field.h"
#include "bytes.h"

static const struct field *field_of(const struct key_table *k, size_t part)
{
	return &k->job->fields[k->schema.parts[part].field];
}

/* --- JSON --- */

struct pair_view {
	const char *title;
	struct bytes value;
};
struct key_view {
	struct bytes row;
	bool has_salt;
	uint64_t salt;
	struct pair_view *pairs;
	size_t npairs;
};

static const struct form_member pair_members[] = {
	{"field", FORM_TEXT, IN(pair_view, title), "field of the job"},
	{"value", FORM_JSON, IN(pair_view, value), "its value"},
};
static const struct form pair_form = FORM(pair_view, pair_members);

static const struct form_member key_members[] = {
	{"row", FORM_KEY, IN(key_view, row), "row key"},
	{"salt", FORM_COUNT, IN(key_view, salt), "salt bucket, if the row key starts with a salt",
	 FORM_IF, IF(key_view, has_salt)},
	{"key", FORM_MAP, IN(key_view, pairs), "names and values of the fields of the row key",
	 ITEMS(key_view, pair_form, npairs)},
};
const struct form key_form =
	NAMED_FORM(key_view, key_members, "key-decode", "a line of `key decode --json`");

/* Returns the value as JSON, with all digits of a number. */
static struct bytes value_json(const struct key_table *k, size_t part, const struct value *v,
			       struct arena *a)
{
	enum field_type t = field_of(k, part)->type;
	struct buf text = {0}, quoted = {0};
	bool bare = k->schema.steps[part].layout.kind == LAY_DATE || t == FIELD_U32 ||
		    t == FIELD_U64 || t == FIELD_I64 || t == FIELD_F64 || t == FIELD_DECIMAL ||
		    t == FIELD_BOOL;

	key_piece_text(k, part, v, &text);
	if (!bare)
		text_json_shown(&quoted, buf_bytes(&text));
	const struct buf *out = bare ? &text : &quoted;
	struct bytes kept = bytes_of(arena_strndup(a, (const char *)out->ptr, out->len), out->len);
	buf_release(&text);
	buf_release(&quoted);
	return kept;
}

static void put_json(struct buf *out, const struct key_table *k, struct bytes key,
		     const struct key_piece *pieces)
{
	const struct key_schema *s = &k->schema;
	struct arena a = {0};
	struct key_view v = {.row = key,
			     .has_salt = s->steps[0].kind == PART_SALT,
			     .salt = pieces[0].number,
			     .pairs = arena_alloc(&a, s->nsteps * sizeof *v.pairs)};

	for (size_t i = 0; i < s->nsteps; i++) {
		const struct layout *l = &s->steps[i].layout;

		if (s->steps[i].kind == PART_FIELD)
			v.pairs[v.npairs++] =
				(struct pair_view){l->title,
						   value_json(k, i, &pieces[i].value, &a)};
	}
	form_put(out, &key_form, &v, FORM_SPACED);
	buf_put(out, '\n');
	arena_release(&a);
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
			key_piece_text(k, i, &pieces[i].value, out);
		} else {
			continue;
		}
		comma = ", ";
	}
	buf_put(out, '\n');
}
