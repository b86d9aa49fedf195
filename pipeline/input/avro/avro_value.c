/*
 * avro_value.c - Avro's binary encoding (specification 1.11, "Binary Encoding")
 *
 * The data is untrusted. The reader checks a length against the rest of the data and a count
 * against the shortest item. It does not visit items without bytes one by one.
 */
#include <stdio.h>

#include "input/avro.h"
#include "input/avro_json.h"
#include "input/spell.h"

struct avro_decoder {
	struct avro_reader in;
	struct column *columns;
	size_t ncolumns;
	uint8_t *text;	  /* SPELL_BYTES per column */
	struct buf *json; /* one per column; the next value reuses its memory */
};

struct avro_decoder *avro_decoder_new(size_t ncolumns)
{
	struct avro_decoder *d = mem_calloc(1, sizeof *d);

	d->ncolumns = ncolumns;
	d->columns = mem_calloc(ncolumns + 1, sizeof *d->columns);
	d->text = mem_calloc(ncolumns + 1, SPELL_BYTES);
	d->json = mem_calloc(ncolumns + 1, sizeof *d->json);
	return d;
}

void avro_decoder_free(struct avro_decoder *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->ncolumns; i++)
		buf_release(&d->json[i]);
	mem_free(d->json);
	mem_free(d->text);
	mem_free(d->columns);
	mem_free(d);
}

/* --- scalars --- */

static void put(struct avro_decoder *d, size_t column, const uint8_t *ptr, size_t len, bool text)
{
	d->columns[column] = (struct column){.ptr = ptr, .len = (uint32_t)len, .quoted = text};
}

static bool take_bytes(struct avro_decoder *d, const struct avro_plan *plan)
{
	const struct avro_type *t = plan->type;
	uint8_t *to = d->text + plan->column * SPELL_BYTES;
	struct bytes v;

	if (!avro_bytes(&d->in, t, &v))
		return false;
	if (v.len > UINT32_MAX)
		return avro_fault(&d->in, "text or bytes of 4 GiB or more");
	if (t->logical == AVRO_DECIMAL) {
		if (v.len > 16)
			return avro_fault(&d->in, "a decimal of more than 16 bytes");
		put(d, plan->column, to, spell_decimal(to, decimal_of(v.ptr, v.len), t->scale),
		    false);
	} else if (t->logical == AVRO_UUID && t->kind == AVRO_FIXED) {
		put(d, plan->column, to, spell_uuid(to, v.ptr), true);
	} else {
		put(d, plan->column, v.ptr, v.len, true);
	}
	return true;
}

static bool take_whole(struct avro_decoder *d, const struct avro_plan *plan)
{
	const struct avro_type *t = plan->type;
	uint8_t *to = d->text + plan->column * SPELL_BYTES;
	int64_t v;

	if (!avro_long(&d->in, &v))
		return false;
	if (t->kind == AVRO_INT && (v < INT32_MIN || v > INT32_MAX))
		return avro_fault(&d->in, "an int of more than 32 bits");
	size_t n;
	bool number = plan->as != TYPED_TEXT || t->logical == AVRO_PLAIN;
	if (t->logical == AVRO_PLAIN)
		n = spell_i64(to, v);
	else if (!number)
		n = avro_spell(to, t, v);
	else if (t->logical == AVRO_DATE)
		n = spell_i64(to, v * DAY_S * 1000);
	else
		n = spell_ms(to, v, t->parts);
	put(d, plan->column, to, n, !number);
	return true;
}

static bool take_real(struct avro_decoder *d, const struct avro_plan *plan)
{
	uint8_t *to = d->text + plan->column * SPELL_BYTES;
	double wide;
	float narrow;

	if (plan->type->kind == AVRO_FLOAT) {
		if (!avro_raw(&d->in, &narrow, sizeof narrow))
			return false;
		put(d, plan->column, to, spell_f32(to, narrow), false);
		return true;
	}
	if (!avro_raw(&d->in, &wide, sizeof wide))
		return false;
	put(d, plan->column, to, spell_f64(to, wide), false);
	return true;
}

static bool take_scalar(struct avro_decoder *d, const struct avro_plan *plan)
{
	uint8_t *to = d->text + plan->column * SPELL_BYTES;
	bool yes;
	struct bytes symbol;

	switch (plan->type->kind) {
	case AVRO_NULL: d->columns[plan->column] = (struct column){.absent = true}; return true;
	case AVRO_BOOLEAN:
		if (!avro_boolean(&d->in, &yes))
			return false;
		put(d, plan->column, to, spell_bool(to, yes), false);
		return true;
	case AVRO_ENUM:
		if (!avro_symbol(&d->in, plan->type, &symbol))
			return false;
		put(d, plan->column, symbol.ptr, symbol.len, true);
		return true;
	case AVRO_INT:
	case AVRO_LONG: return take_whole(d, plan);
	case AVRO_FLOAT:
	case AVRO_DOUBLE: return take_real(d, plan);
	case AVRO_BYTES:
	case AVRO_STRING:
	case AVRO_RECORD:
	case AVRO_ARRAY:
	case AVRO_MAP:
	case AVRO_UNION:
	case AVRO_FIXED: break;
	}
	return take_bytes(d, plan);
}

/* --- types with parts --- */

static bool take(struct avro_decoder *d, const struct avro_plan *plan);

static bool take_items(struct avro_decoder *d, const struct avro_plan *plan)
{
	const struct avro_type *t = plan->type;
	struct bytes key = {0};
	uint64_t index = 0, count;

	while (avro_items(&d->in, t, &count) && count > 0)
		for (; count > 0; count--, index++) {
			const struct avro_plan *part = NULL;

			if (t->kind == AVRO_MAP && !avro_bytes(&d->in, NULL, &key))
				return false;
			for (size_t i = 0; i < plan->nwanted; i++)
				if (key.ptr ? bytes_eq(plan->wanted[i].key, key)
					    : plan->wanted[i].index == index)
					part = plan->wanted[i].plan;
			if (!(part ? take(d, part) : avro_skip(&d->in, t->of[0])))
				return false;
		}
	return !d->in.fault;
}

static bool take_parts(struct avro_decoder *d, const struct avro_plan *plan)
{
	const struct avro_type *t = plan->type;
	size_t branch;

	if (t->kind == AVRO_ARRAY || t->kind == AVRO_MAP)
		return take_items(d, plan);
	if (t->kind == AVRO_UNION)
		return avro_branch(&d->in, t, &branch) && take(d, plan->part[branch]);
	if (!avro_visit(&d->in, t->n))
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (!(plan->part[i] ? take(d, plan->part[i]) : avro_skip(&d->in, t->of[i])))
			return false;
	return true;
}

static bool take_json(struct avro_decoder *d, const struct avro_plan *plan)
{
	struct buf *json = &d->json[plan->column];

	json->len = 0;
	if (!avro_json(&d->in, plan->type, json))
		return false;
	buf_reserve(json, EVENT_ROOM_BYTES);
	put(d, plan->column, json->ptr, json->len, true);
	return true;
}

static bool take(struct avro_decoder *d, const struct avro_plan *plan)
{
	enum avro_kind kind = plan->type->kind;
	bool parts = kind == AVRO_RECORD || kind == AVRO_ARRAY || kind == AVRO_MAP;
	const uint8_t *start = d->in.p;

	if (kind == AVRO_UNION)
		return take_parts(d, plan);
	if (!parts)
		return plan->column == NO_COLUMN ? avro_skip(&d->in, plan->type)
						 : take_scalar(d, plan);
	if (plan->column != NO_COLUMN) {
		if (!take_json(d, plan))
			return false;
		d->in.p = start; /* other columns may need parts of this value */
	}
	return take_parts(d, plan);
}

const char *avro_decode(struct avro_decoder *d, const struct avro_plan *plan, struct bytes data,
			const struct column **columns, size_t *took)
{
	d->in = (struct avro_reader){.p = data.ptr, .end = data.ptr + data.len, .start = data.ptr};
	for (size_t i = 0; i < d->ncolumns; i++)
		d->columns[i] = (struct column){.absent = true};
	bool fine = take(d, plan);
	*took = (size_t)(d->in.p - data.ptr);
	*columns = d->columns;
	return fine ? NULL : d->in.fault;
}
