#include "input/avro_json.h"

#include <math.h>

#include "input/spell.h"
#include "pool.h"

#define LOOK_STEPS (1u << 20)

const char avro_too_costly[] =
	"an event that takes more than 10 million steps, and 16 for each of its bytes";

bool avro_may_go_on(struct avro_reader *r)
{
	uint64_t bytes = (uint64_t)(r->p - r->start);

	if (r->steps > AVRO_STEPS + AVRO_STEPS_OF_BYTE * bytes)
		return avro_fault(r, avro_too_costly);
	r->look = r->steps + LOOK_STEPS;
	return stop_flag ? avro_fault(r, "a signal") : true;
}

bool avro_boolean(struct avro_reader *r, bool *v)
{
	if (r->p == r->end || *r->p > 1)
		return avro_fault(r, "a boolean other than 0 and 1");
	*v = *r->p++;
	return true;
}

bool avro_symbol(struct avro_reader *r, const struct avro_type *t, struct bytes *v)
{
	int64_t index;

	if (!avro_long(r, &index))
		return false;
	if (index < 0 || (uint64_t)index >= t->n)
		return avro_fault(r, "a symbol number that exceeds the enum");
	*v = t->names[index];
	return true;
}

bool avro_branch(struct avro_reader *r, const struct avro_type *t, size_t *branch)
{
	int64_t index;

	if (!avro_long(r, &index))
		return false;
	if (index < 0 || (uint64_t)index >= t->n)
		return avro_fault(r, "a branch number that exceeds the union");
	*branch = (size_t)index;
	return true;
}

/*
 * Read the count of items. Items without bytes need no decoding, so read all counts of such items
 * until the final 0.
 */
bool avro_items(struct avro_reader *r, const struct avro_type *t, uint64_t *count)
{
	uint64_t least = t->of[0]->least + (t->kind == AVRO_MAP);
	int64_t n, bytes;

	do {
		if (!avro_long(r, &n))
			return false;
		if (n < 0 && !avro_long(r, &bytes))
			return false;
		*count = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
		if (least > 0 && *count > (uint64_t)(r->end - r->p) / least)
			return avro_fault(r, "more items than fit into the block");
	} while (n != 0 && least == 0);
	return avro_visit(r, *count);
}

static bool skip_items(struct avro_reader *r, const struct avro_type *t)
{
	struct bytes key;
	uint64_t count;

	while (avro_items(r, t, &count) && count > 0)
		for (; count > 0; count--)
			if ((t->kind == AVRO_MAP && !avro_bytes(r, NULL, &key)) ||
			    !avro_skip(r, t->of[0]))
				return false;
	return !r->fault;
}

static bool skip_parts(struct avro_reader *r, const struct avro_type *t)
{
	size_t branch;
	bool fine;

	if (t->empty)
		return true;
	if (++r->depth > AVRO_MOST_NESTED)
		return avro_fault(r, "values nested more than 512 deep");
	if (t->kind == AVRO_RECORD) {
		fine = avro_visit(r, t->n);
		for (size_t i = 0; fine && i < t->n; i++)
			fine = avro_skip(r, t->of[i]);
	} else if (t->kind == AVRO_UNION) {
		fine = avro_branch(r, t, &branch) && avro_skip(r, t->of[branch]);
	} else {
		fine = skip_items(r, t);
	}
	r->depth--;
	return fine;
}

bool avro_skip(struct avro_reader *r, const struct avro_type *t)
{
	struct bytes bytes;
	int64_t number;
	double real;
	bool yes;

	switch (t->kind) {
	case AVRO_NULL: return true;
	case AVRO_BOOLEAN: return avro_boolean(r, &yes);
	case AVRO_INT:
	case AVRO_LONG: return avro_long(r, &number);
	case AVRO_FLOAT: return avro_raw(r, &real, 4);
	case AVRO_DOUBLE: return avro_raw(r, &real, 8);
	case AVRO_ENUM: return avro_symbol(r, t, &bytes);
	case AVRO_BYTES:
	case AVRO_STRING:
	case AVRO_FIXED: return avro_bytes(r, t, &bytes);
	case AVRO_RECORD:
	case AVRO_ARRAY:
	case AVRO_MAP:
	case AVRO_UNION: break;
	}
	return skip_parts(r, t);
}

size_t avro_spell(uint8_t *to, const struct avro_type *t, int64_t v)
{
	switch (t->logical) {
	case AVRO_DATE: return spell_date(to, v);
	case AVRO_STAMP: return spell_stamp(to, v, t->parts, false);
	case AVRO_LOCAL_STAMP: return spell_stamp(to, v, t->parts, true);
	case AVRO_TIME:
		if (v >= 0 && v / t->parts < DAY_S)
			return spell_time(to, v, t->parts);
		break;
	case AVRO_PLAIN:
	case AVRO_DECIMAL:
	case AVRO_UUID: break;
	}
	return spell_i64(to, v);
}

/* --- as JSON --- */

static bool json_whole(struct avro_reader *r, const struct avro_type *t, struct buf *out)
{
	uint8_t text[SPELL_BYTES];
	int64_t v;

	if (!avro_long(r, &v))
		return false;
	struct bytes spelt = bytes_of(text, avro_spell(text, t, v));
	if (t->logical == AVRO_PLAIN)
		buf_append(out, spelt.ptr, spelt.len);
	else
		spell_json(out, spelt, false);
	return true;
}

static bool json_real(struct avro_reader *r, const struct avro_type *t, struct buf *out)
{
	uint8_t text[SPELL_BYTES];
	double wide = 0;
	float narrow = 0;
	size_t n;

	if (t->kind == AVRO_FLOAT) {
		if (!avro_raw(r, &narrow, sizeof narrow))
			return false;
		wide = (double)narrow;
		n = spell_f32(text, narrow);
	} else {
		if (!avro_raw(r, &wide, sizeof wide))
			return false;
		n = spell_f64(text, wide);
	}
	if (!isfinite(wide))
		buf_append_str(out, "null");
	else
		buf_append(out, text, n);
	return true;
}

static bool json_bytes(struct avro_reader *r, const struct avro_type *t, struct buf *out)
{
	uint8_t text[SPELL_BYTES];
	struct bytes v;

	if (!avro_bytes(r, t, &v))
		return false;
	if (v.len > AVRO_JSON_MAX)
		return avro_fault(r, "a value of more than 64 MiB in an array, a map or a record");
	if (t->logical == AVRO_DECIMAL && v.len <= 16)
		buf_append(out, text, spell_decimal(text, decimal_of(v.ptr, v.len), t->scale));
	else if (t->logical == AVRO_UUID && t->kind == AVRO_FIXED)
		spell_json(out, bytes_of(text, spell_uuid(text, v.ptr)), false);
	else
		spell_json(out, v, t->kind != AVRO_STRING);
	return true;
}

static bool json_items(struct avro_reader *r, const struct avro_type *t, struct buf *out)
{
	bool map = t->kind == AVRO_MAP, first = true;
	struct bytes key;
	uint64_t count;

	buf_put(out, map ? '{' : '[');
	while (avro_items(r, t, &count) && count > 0)
		for (; count > 0; count--, first = false) {
			if (!first)
				buf_put(out, ',');
			if (map) {
				if (!avro_bytes(r, NULL, &key))
					return false;
				spell_json(out, key, false);
				buf_put(out, ':');
			}
			if (!avro_json(r, t->of[0], out))
				return false;
		}
	buf_put(out, map ? '}' : ']');
	return !r->fault;
}

static bool json_fields(struct avro_reader *r, const struct avro_type *t, struct buf *out)
{
	if (!avro_visit(r, t->n))
		return false;
	buf_put(out, '{');
	for (size_t i = 0; i < t->n; i++) {
		if (i > 0)
			buf_put(out, ',');
		spell_json(out, t->names[i], false);
		buf_put(out, ':');
		if (!avro_json(r, t->of[i], out))
			return false;
	}
	buf_put(out, '}');
	return true;
}

static bool json_parts(struct avro_reader *r, const struct avro_type *t, struct buf *out)
{
	size_t branch;
	bool fine;

	if (++r->depth > AVRO_MOST_NESTED)
		return avro_fault(r, "values nested more than 512 deep");
	if (t->kind == AVRO_RECORD)
		fine = json_fields(r, t, out);
	else if (t->kind == AVRO_UNION)
		fine = avro_branch(r, t, &branch) && avro_json(r, t->of[branch], out);
	else
		fine = json_items(r, t, out);
	r->depth--;
	return fine;
}

bool avro_json(struct avro_reader *r, const struct avro_type *t, struct buf *out)
{
	struct bytes symbol;
	bool yes;

	if (out->len > AVRO_JSON_MAX)
		return avro_fault(r, "an array, a map or a record of more than 64 MiB as JSON");
	switch (t->kind) {
	case AVRO_NULL: buf_append_str(out, "null"); return true;
	case AVRO_BOOLEAN:
		if (!avro_boolean(r, &yes))
			return false;
		buf_append_str(out, yes ? "true" : "false");
		return true;
	case AVRO_ENUM:
		if (!avro_symbol(r, t, &symbol))
			return false;
		spell_json(out, symbol, false);
		return true;
	case AVRO_INT:
	case AVRO_LONG: return json_whole(r, t, out);
	case AVRO_FLOAT:
	case AVRO_DOUBLE: return json_real(r, t, out);
	case AVRO_BYTES:
	case AVRO_STRING:
	case AVRO_FIXED: return json_bytes(r, t, out);
	case AVRO_RECORD:
	case AVRO_ARRAY:
	case AVRO_MAP:
	case AVRO_UNION: break;
	}
	return json_parts(r, t, out);
}
