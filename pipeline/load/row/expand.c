/* expand.c - turn a record back into its cells; pack.c describes the payload */
#include "compiled.h"

struct unread_payload {
	const uint8_t *at, *end;
};

/*
 * Read a slice after varint(length + 1). Return false if the length is 0 or the payload is damaged.
 */
static inline bool take_slice(struct unread_payload *c, struct bytes *out)
{
	uint64_t n;

	if (c->at < c->end && *c->at < 0x80) {
		n = *c->at++;
	} else {
		size_t read = get_varint(c->at, c->end, &n);

		c->at = read ? c->at + read : c->end;
		if (!read)
			return false;
	}
	if (n == 0 || n - 1 > (uint64_t)(c->end - c->at))
		return false;
	*out = bytes_of(c->at, n - 1);
	c->at += n - 1;
	return true;
}

/* Read qualifier, value and tags of a cell. Return false if the record does not have the cell. */
static inline bool take_cell(struct unread_payload *c, const struct cell_step *s, struct cell *out)
{
	out->qualifier = s->qualifier;
	out->value = s->value;
	out->tags = s->tags;
	if (s->computed && !take_slice(c, &out->qualifier))
		return false;
	if (!s->constant && !take_slice(c, &out->value))
		return false;
	if (s->ttl_unit_ms)
		take_slice(c, &out->tags);
	return true;
}

static inline int64_t record_ts(const struct table_plan *t, const struct record *r)
{
	if (t->ts == TS_CONSTANT)
		return t->ts_constant;
	if (t->ts == TS_KEY)
		return (int64_t)(get_be64(r->key.ptr + t->ts_offset) ^ t->ts_flip);
	return INT64_MAX - (int64_t)get_be64(r->secondary);
}

int64_t row_timestamp(const struct row_plan *p, size_t table, const struct record *r)
{
	return record_ts(&p->tables[table], r);
}

#define NOT_SHORT SIZE_MAX

/*
 * Read the cells of a usual table on the fast path, which uses frames, because frames are smaller
 * than steps. Return NOT_SHORT if the length of a slice takes two bytes or the payload is damaged.
 */
static size_t short_cells(const struct table_plan *t, const struct record *r, struct row_cell *to)
{
	const uint8_t *at = r->payload.ptr, *stop = at + r->payload.len;
	const struct bytes row = r->key;
	const uint64_t seq = r->seq;
	const int64_t ts = record_ts(t, r);
	size_t n = 0;

	for (const struct cell_frame *f = t->frames, *end = f + t->ncells; f < end; f++) {
		struct bytes value = f->value;

		if (!value.ptr) {
			size_t len = at < stop ? *at : NOT_SHORT;

			if (__builtin_expect(len - 1 >= 0x7f, 0)) {
				if (len > 0)
					return NOT_SHORT;
				at++;
				continue;
			}
			value = bytes_of(at + 1, len - 1);
			at += len;
		}
		*to++ = (struct row_cell){.cell = {.row = row,
						   .family = f->family_name,
						   .qualifier = f->qualifier,
						   .ts = ts,
						   .value = value,
						   .type = CELL_PUT},
					  .family = f->family,
					  .column = f->column,
					  .seq = seq};
		n++;
	}
	return at <= stop ? n : NOT_SHORT;
}

static __attribute__((noinline)) size_t any_cells(const struct table_plan *t,
						  const struct record *r, struct row_cell *cells)
{
	struct unread_payload c = {r->payload.ptr, r->payload.ptr + r->payload.len};
	int64_t ts = record_ts(t, r);
	struct row_cell *to = cells;

	for (const struct cell_step *s = t->cells; s < t->cells + t->ncells; s++) {
		*to = (struct row_cell){.cell = {.row = r->key,
						 .family = s->family_name,
						 .ts = ts,
						 .type = s->type},
					.family = s->family,
					.column = s->column,
					.seq = r->seq};
		if (take_cell(&c, s, &to->cell))
			to++;
	}
	return (size_t)(to - cells);
}

size_t row_cells(const struct row_plan *p, size_t table, const struct record *r,
		 struct row_cell *cells)
{
	const struct table_plan *t = &p->tables[table];
	size_t n = t->constant_columns ? short_cells(t, r, cells) : NOT_SHORT;

	return n != NOT_SHORT ? n : any_cells(t, r, cells);
}

static __attribute__((noinline)) size_t any_values(const struct table_plan *t,
						   const struct record *r, struct cell_value *out)
{
	struct unread_payload c = {r->payload.ptr, r->payload.ptr + r->payload.len};
	struct cell_value *to = out;

	for (size_t i = 0; i < t->ncells; i++) {
		struct bytes value = t->frames[i].value;

		if (value.ptr || take_slice(&c, &value))
			*to++ = (struct cell_value){value.ptr, (uint32_t)value.len, (uint16_t)i,
						    true};
	}
	return (size_t)(to - out);
}

/* Get the values of a table with constant cells, as row_values does. */
static __attribute__((noinline)) size_t mixed_values(const struct table_plan *t,
						     const struct record *r, struct cell_value *out)
{
	const uint8_t *at = r->payload.ptr, *stop = at + r->payload.len;
	struct cell_value *to = out;

	for (size_t i = 0; i < t->ncells; i++) {
		struct bytes value = t->frames[i].value;

		if (value.ptr) {
			*to++ = (struct cell_value){value.ptr, (uint32_t)value.len, (uint16_t)i,
						    true};
			continue;
		}
		size_t len = at < stop ? *at : NOT_SHORT;
		if (len - 1 < 0x7f)
			*to++ = (struct cell_value){at + 1, (uint32_t)len - 1, (uint16_t)i, true};
		else if (len > 0)
			return any_values(t, r, out);
		at += len ? len : 1; /* the length 0 means that the cell is absent */
	}
	return at <= stop ? (size_t)(to - out) : any_values(t, r, out);
}

size_t row_values(const struct row_plan *p, size_t table, const struct record *r, int64_t *ts,
		  struct cell_value *out)
{
	const struct table_plan *t = &p->tables[table];
	const uint8_t *at = r->payload.ptr, *stop = at + r->payload.len;
	struct cell_value *to = out;

	*ts = record_ts(t, r);
	if (t->constant_values)
		return mixed_values(t, r, out);
	for (size_t i = 0, n = t->ncells; i < n; i++) {
		if (__builtin_expect(at >= stop, 0))
			return any_values(t, r, out);
		size_t len = *at;
		if (__builtin_expect(len - 1 < 0x7f, 1)) {
			*to++ = (struct cell_value){at + 1, (uint32_t)len - 1, (uint16_t)i, true};
			at += len;
			continue;
		}
		if (len > 0)
			return any_values(t, r, out);
		at++; /* this cell is absent */
	}
	return at <= stop ? (size_t)(to - out) : any_values(t, r, out);
}

struct usual_weight row_usual_weight(const struct row_plan *p, size_t table)
{
	return p->tables[table].usual;
}

uint64_t row_weigh(const void *row_weigher, const struct record *r)
{
	const struct row_weigher *w = row_weigher;
	const struct table_plan *t = &w->plan->tables[w->table];

	if (weight_is_usual(&t->usual, r))
		return weigh_usual(&t->usual, r);
	struct unread_payload c = {r->payload.ptr, r->payload.ptr + r->payload.len};
	uint64_t sum = 0;
	for (const struct cell_step *s = t->cells; s < t->cells + t->ncells; s++) {
		struct cell cell;

		if (!take_cell(&c, s, &cell))
			continue;
		/* `weight` includes the constant qualifiers */
		sum += s->weight + r->key.len + (s->computed ? cell.qualifier.len : 0) +
		       (s->constant ? 0 : cell.value.len);
	}
	return sum;
}
