/*
 * compile.c - key parts, qualifiers and cells of a job table as flat arrays of ops
 */
#include "compiled.h"

#define LONG_MAX_VALUE ((uint64_t)INT64_MAX)

static bool is_integer(enum field_type t)
{
	return t == FIELD_U32 || t == FIELD_U64 || t == FIELD_I64;
}

static bool fits(enum field_type t, enum encode_as as)
{
	switch (as) {
	case AS_TEXT:
	case AS_REVERSED: return true;
	case AS_BYTES: return t == FIELD_TEXT || t == FIELD_BYTES || t == FIELD_HEX;
	case AS_F32:
	case AS_F64: return is_integer(t) || t == FIELD_F64;
	case AS_BOOL: return t == FIELD_BOOL;
	case AS_MILLIS:
	case AS_REVERSED_MILLIS: return t == FIELD_TIME;
	default: return is_integer(t);
	}
}

static uint32_t width_of(enum encode_as as)
{
	switch (as) {
	case AS_TEXT:
	case AS_BYTES:
	case AS_REVERSED: return 0;
	case AS_U8:
	case AS_BOOL: return 1;
	case AS_U16: return 2;
	case AS_U32:
	case AS_I32:
	case AS_F32: return 4;
	default: return 8;
	}
}

static enum op_kind kind_of(enum field_type t, enum encode_as as)
{
	switch (as) {
	case AS_TEXT: return OP_TEXT;
	case AS_BYTES: return t == FIELD_HEX ? OP_BYTES : OP_TEXT;
	case AS_REVERSED: return OP_REVERSED;
	case AS_F32: return OP_F32;
	case AS_F64: return OP_F64;
	default: return OP_NUMBER;
	}
}

static void set_range(struct op *op)
{
	uint64_t max = UINT64_MAX >> (64 - 8 * op->width);
	bool from_signed = op->from == FIELD_I64;
	if (op->as == AS_REVERSED_MILLIS) {
		op->span = op->flip = LONG_MAX_VALUE;
	} else if (op->as == AS_MILLIS) {
		op->span = op->ordered ? LONG_MAX_VALUE : UINT64_MAX;
	} else if (op->as == AS_I32 || op->as == AS_I64) {
		op->bias = from_signed ? 0 - (max / 2 + 1) : 0;
		op->span = from_signed ? max : max / 2;
		op->flip = op->ordered ? max / 2 + 1 : 0;
	} else {
		/* a negative number, taken as unsigned, is beyond Long.MAX_VALUE */
		op->span = from_signed && max > LONG_MAX_VALUE ? LONG_MAX_VALUE : max;
	}
}

int op_compile(struct op *op, const struct row_plan *p, size_t field, enum encode_as as,
	       bool ordered, struct pos pos, struct error *err)
{
	const struct field *f = &p->job->fields[field];
	if (!fits(f->type, as))
		return error_set(
			err, RC_CONFIG,
			"%s:%u:%u: field `%s` has a type that cannot be laid down like this, "
			"expected an `as` that goes with its type",
			p->job->path, pos.line, pos.column, f->name);
	*op = (struct op){.kind = kind_of(f->type, as),
			  .width = width_of(as),
			  .slot = p->slots[field],
			  .ordered = ordered,
			  .from = f->type,
			  .as = as,
			  .terminator = NO_TERMINATOR,
			  .spec = f};
	if (op->kind == OP_NUMBER)
		set_range(op);
	return 0;
}

/* A field's own encoding, for a salt over a field that is not in the key. */
static enum encode_as natural_as(enum field_type t)
{
	switch (t) {
	case FIELD_TEXT: return AS_TEXT;
	case FIELD_BYTES:
	case FIELD_HEX: return AS_BYTES;
	case FIELD_U32: return AS_U32;
	case FIELD_U64: return AS_U64;
	case FIELD_I64: return AS_I64;
	case FIELD_F64: return AS_F64;
	case FIELD_BOOL: return AS_BOOL;
	case FIELD_TIME: return AS_MILLIS;
	}
	return AS_TEXT;
}

static int check_derived(const struct job *job, const struct key_part *part, struct error *err)
{
	struct pos at = part->pos;
	bool plain = part->hash == HASH_MURMUR3;
	if (part->kind == PART_SALT) {
		if (part->hash == HASH_MD5)
			return error_set(err, RC_CONFIG,
					 "%s:%u:%u: a salt by md5, expected murmur3, "
					 "phoenix, opentsdb or hbasewd",
					 job->path, at.line, at.column);
		if (part->buckets < 1 || part->buckets > INT32_MAX || part->width > 8)
			return error_set(err, RC_CONFIG,
					 "%s:%u:%u: a salt of %u buckets in %u bytes, "
					 "expected 1..2147483647 in at most 8",
					 job->path, at.line, at.column, part->buckets, part->width);
		return 0;
	}
	if (!plain && part->hash != HASH_MD5)
		return error_set(err, RC_CONFIG,
				 "%s:%u:%u: a hash that is only a salt, expected "
				 "murmur3 or md5",
				 job->path, at.line, at.column);
	if (part->width > (plain ? 4 : 16))
		return error_set(err, RC_CONFIG,
				 "%s:%u:%u: %u bytes of a hash, expected at most %d", job->path,
				 at.line, at.column, part->width, plain ? 4 : 16);
	return 0;
}

static int derived_compile(struct row_plan *p, struct derived *d, const struct key_part *part,
			   size_t n, size_t at, struct error *err)
{
	const struct key_part *self = &part[at];
	int rc = check_derived(p->job, self, err);
	d->part = self;
	d->at = at;
	d->width = self->width		     ? self->width
		   : self->kind == PART_SALT ? 1
		   : self->hash == HASH_MD5  ? 16
					     : 4;
	d->nof = self->nof;
	d->of = arena_alloc(&p->arena, (self->nof + 1) * sizeof(*d->of));
	for (size_t i = 0; i < self->nof && !rc; i++) {
		struct hash_input *h = &d->of[i];
		while (h->part < n &&
		       (part[h->part].kind != PART_FIELD || part[h->part].field != self->of[i]))
			h->part++;
		h->in_parts = h->part < n;
		rc = op_compile(&h->natural, p, self->of[i],
				natural_as(p->job->fields[self->of[i]].type), true, self->pos, err);
	}
	d->number = p->nsalts++;
	d->byte_of_part = self->kind == PART_SALT && self->hash == HASH_MURMUR3 && d->width == 1 &&
			  d->nof == 1 && d->of[0].in_parts;
	return rc;
}

static int part_compile(struct row_plan *p, struct parts *out, const struct key_part *part,
			size_t n, size_t at, struct error *err)
{
	struct op *op = &out->ops[at];
	const struct key_part *self = &part[at];
	int rc;
	*op = (struct op){.terminator = NO_TERMINATOR};
	if (self->kind == PART_CONST) {
		op->kind = OP_CONST;
		op->constant = self->constant;
		op->width = (uint32_t)self->constant.len;
	} else if (self->kind != PART_FIELD) {
		struct derived *d = &out->derived[out->nderived++];
		rc = derived_compile(p, d, part, n, at, err);
		if (rc)
			return rc;
		op->kind = OP_DERIVED;
		op->width = d->width;
	} else {
		rc = op_compile(op, p, self->field, self->as, true, self->pos, err);
		if (rc)
			return rc;
		op->terminator = self->terminator;
		op->pad = self->pad;
		op->pad_left = self->pad_left;
		if (!op->width)
			op->width = self->width;
	}
	op->at = out->fixed;
	out->spans[at] = (struct span){op->at, op->width};
	out->simple = out->simple && op->terminator == NO_TERMINATOR &&
		      (op->kind == OP_NUMBER || op->kind == OP_DERIVED);
	out->fixed += op->width + (op->terminator != NO_TERMINATOR);
	return 0;
}

/* What a simple key takes, laid close together. */
static void numbers_compile(struct row_plan *p, struct parts *out)
{
	out->numbers = arena_alloc(&p->arena, (out->nops + 1) * sizeof(*out->numbers));
	for (size_t i = 0; i < out->nops; i++) {
		const struct op *op = &out->ops[i];
		if (op->kind == OP_NUMBER)
			out->numbers[out->nnumbers++] =
				(struct number){.bias = op->bias,
						.span = op->span,
						.flip = op->flip,
						.slot = (uint32_t)op->slot,
						.at = (uint16_t)op->at,
						.shift = (uint16_t)(64 - 8 * op->width)};
	}
	for (size_t i = 0; i < out->nderived; i++) {
		struct derived *d = &out->derived[i];
		uint32_t width = d->byte_of_part ? out->ops[d->of[0].part].width : 0;
		if (width < 1 || width > 8)
			continue;
		d->keep = UINT64_MAX >> (64 - 8 * width);
		d->of_at = out->spans[d->of[0].part].at;
		d->of_bytes = width;
		d->to = out->spans[d->at].at;
	}
	out->one_salt = out->nderived == 1 && out->derived->keep;
}

int parts_compile(struct row_plan *p, struct parts *out, const struct key_part *part, size_t n,
		  struct error *err)
{
	int rc = 0;
	*out = (struct parts){.nops = n, .simple = true};
	out->spans = arena_alloc(&p->arena, (n + 1) * sizeof(*out->spans));
	out->ops = arena_alloc(&p->arena, (n + 1) * sizeof(*out->ops));
	out->derived = arena_alloc(&p->arena, (n + 1) * sizeof(*out->derived));
	if (p->max_ops < n)
		p->max_ops = n;
	for (size_t i = 0; i < n && !rc; i++)
		rc = part_compile(p, out, part, n, i, err);
	out->simple = out->simple && out->fixed <= ROW_KEY_MAX;
	if (!rc && out->simple)
		numbers_compile(p, out);
	return rc;
}

static void constant_qualifier(struct row_plan *p, struct cell_step *s, const struct cell_spec *c)
{
	size_t len = 0;
	for (size_t i = 0; i < c->nqualifier; i++)
		len += c->qualifier[i].constant.len;
	uint8_t *q = arena_alloc(&p->arena, len + 1);
	s->qualifier = bytes_of(q, len);
	for (size_t i = 0; i < c->nqualifier; i++) {
		copy_short(q, c->qualifier[i].constant.ptr, c->qualifier[i].constant.len);
		q += c->qualifier[i].constant.len;
	}
}

static void qualifier_slots(struct row_plan *p, struct cell_step *s, const struct cell_spec *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->nqualifier; i++)
		n += 1 + c->qualifier[i].nof;
	s->qualifier_slots = arena_alloc(&p->arena, (n + 1) * sizeof(size_t));
	for (size_t i = 0; i < c->nqualifier; i++) {
		const struct key_part *part = &c->qualifier[i];
		if (part->kind == PART_FIELD)
			s->qualifier_slots[s->nqualifier_slots++] = p->slots[part->field];
		for (size_t k = 0; k < part->nof; k++)
			s->qualifier_slots[s->nqualifier_slots++] = p->slots[part->of[k]];
	}
}

static int cell_compile(struct row_plan *p, struct cell_step *s, const struct job_table *table,
			size_t column, struct error *err)
{
	const struct cell_spec *c = &table->cells[column];
	int rc = 0;
	*s = (struct cell_step){.family = c->family,
				.column = column,
				.computed = !c->qualifier_constant && c->nqualifier > 0,
				.constant = c->kind == VALUE_CONST,
				.optional = c->optional};
	if (s->computed) {
		qualifier_slots(p, s, c);
		rc = parts_compile(p, &s->parts, c->qualifier, c->nqualifier, err);
	} else {
		constant_qualifier(p, s, c);
	}
	if (s->constant)
		s->value = c->constant;
	else if (!rc)
		rc = op_compile(&s->op, p, c->field, c->as, false, c->pos, err);
	s->plain = !s->computed && !s->constant && s->op.kind == OP_TEXT;
	/* KeyValue: two lengths, row length, family length, timestamp, type (hfile/README.md 3.1)
	 */
	s->weight = 4 + 4 + 2 + 1 + 8 + 1 + strlen(table->schema.families[c->family].name) +
		    s->qualifier.len + s->value.len;
	return rc;
}

static bool cell_before(const struct cell_step *a, const struct cell_step *b)
{
	if (a->family != b->family)
		return a->family < b->family;
	if (a->computed || b->computed)
		return !a->computed;
	return bytes_cmp(a->qualifier, b->qualifier) < 0;
}

/* Insertion: few, and the order of equals must stay. */
static void cells_sort(struct cell_step *s, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct cell_step moved = s[i];
		size_t k = i;
		for (; k > 0 && cell_before(&moved, &s[k - 1]); k--)
			s[k] = s[k - 1];
		s[k] = moved;
	}
}

/* The timestamp stands in every key at the same place: no need to store it again. */
static void ts_from_key(struct table_plan *t)
{
	size_t at = 0;
	for (const struct op *op = t->key.ops; op < t->key.ops + t->key.nops; op++) {
		bool millis = op->kind == OP_NUMBER &&
			      (op->as == AS_MILLIS || op->as == AS_REVERSED_MILLIS);
		if (millis && op->slot == t->ts_slot) {
			t->ts = TS_KEY;
			t->ts_offset = at;
			t->ts_flip = op->flip;
			return;
		}
		if (!op->width && op->kind != OP_CONST)
			return;
		at += op->width + (op->terminator != NO_TERMINATOR);
	}
}

static int ts_compile(struct row_plan *p, struct table_plan *t, struct error *err)
{
	const struct job_table *table = t->table;
	t->ts = TS_MINOR;
	if (table->timestamp_constant) {
		t->ts = TS_CONSTANT;
		t->ts_constant = table->timestamp_ms;
		if (t->ts_constant < 0 || t->ts_constant == INT64_MAX)
			return error_set(err, RC_CONFIG,
					 "%s: table %s has timestamp %lld, expected "
					 "0..9223372036854775806 ms",
					 p->job->path, table->schema.name,
					 (long long)t->ts_constant);
		return 0;
	}
	t->ts_slot = p->slots[table->timestamp_field];
	t->ts_spec = &p->job->fields[table->timestamp_field];
	if (t->ts_spec->type != FIELD_TIME)
		return error_set(err, RC_CONFIG,
				 "%s: table %s takes its timestamp from field `%s`, which "
				 "is no time; expected a field with type: time",
				 p->job->path, table->schema.name, t->ts_spec->name);
	ts_from_key(t);
	return 0;
}

/* A value of no bytes must not look like one in the record. */
static void frames_compile(struct row_plan *p, struct table_plan *t)
{
	t->frames = arena_alloc(&p->arena, (t->ncells + 1) * sizeof(*t->frames));
	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_step *s = &t->cells[i];
		t->frames[i] = (struct cell_frame){s->family, s->column, s->qualifier, {0}};
		if (s->constant)
			t->frames[i].value =
				bytes_of(s->value.len ? (const void *)s->value.ptr : "",
					 s->value.len);
	}
}

/*
 * Nothing is absent, and the payload too short for a slice whose length takes two bytes: then it is
 * the bytes of all slices and one byte for each.
 */
static struct usual_weight usual_weight(const struct table_plan *t)
{
	struct usual_weight u = {.per_key_byte = t->ncells, .payload_below = 0x80};
	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_step *s = &t->cells[i];
		u.base += s->weight - (size_t)s->computed - !s->constant;
		if (s->optional)
			u.payload_below = 0;
	}
	return u;
}

int table_compile(struct row_plan *p, struct table_plan *t, const struct job_table *table,
		  struct error *err)
{
	t->table = table;
	t->ncells = table->ncells;
	t->constant_columns = true;
	t->cells = arena_alloc(&p->arena, (table->ncells + 1) * sizeof(*t->cells));
	int rc = parts_compile(p, &t->key, table->rowkey, table->nrowkey, err);
	if (!rc && t->key.fixed > ROW_KEY_MAX)
		rc = error_set(err, RC_CONFIG,
			       "%s: the row key of table %s takes at least %zu bytes, "
			       "expected at most %d",
			       p->job->path, table->schema.name, t->key.fixed, ROW_KEY_MAX);
	if (!rc)
		rc = ts_compile(p, t, err);
	for (size_t i = 0; i < table->ncells && !rc; i++) {
		rc = cell_compile(p, &t->cells[i], table, i, err);
		const struct cell_step *s = &t->cells[i];
		t->constant_columns = t->constant_columns && !s->computed;
	}
	if (rc)
		return rc;
	t->usual = usual_weight(t);
	cells_sort(t->cells, t->ncells);
	frames_compile(p, t);
	return 0;
}
