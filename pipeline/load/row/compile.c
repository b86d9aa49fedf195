/* compile.c - compile the cells of a job's table into flat arrays, and find the cell timestamp */
#include "compiled.h"

#include <stdlib.h>

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

static struct slots slots_of(struct row_plan *p, const struct key_part *parts, size_t nparts)
{
	struct slots s = {0};
	size_t n = 0;

	for (size_t i = 0; i < nparts; i++)
		n += 1 + parts[i].nof;
	s.of = arena_alloc(&p->arena, (n + 1) * sizeof *s.of);
	for (size_t i = 0; i < nparts; i++) {
		if (parts[i].kind == PART_FIELD)
			s.of[s.n++] = p->slots[parts[i].field];
		for (size_t k = 0; k < parts[i].nof; k++)
			s.of[s.n++] = p->slots[parts[i].of[k]];
	}
	return s;
}

/*
 * Return true if the record stores the cell. A record stores a cell that may be missing even if the
 * content of the cell is constant.
 */
static bool stands_in_record(const struct cell_step *s, const struct cell_spec *c,
			     bool may_be_hidden)
{
	return c->kind != VALUE_CONST || ((c->when || may_be_hidden) && !s->computed);
}

static void tags_compile(struct row_plan *p, struct cell_step *s, const struct cell_spec *c)
{
	const size_t labels = c->visibility.len, fixed = labels + c->acl.len;
	uint8_t *tags = arena_alloc(&p->arena, fixed + CELL_TTL_TAG_BYTES);

	if (labels)
		memcpy(tags, c->visibility.ptr, labels);
	if (c->acl.len)
		memcpy(tags + labels, c->acl.ptr, c->acl.len);
	if (c->ttl_ms)
		cell_put_ttl(tags + fixed, c->ttl_ms);
	s->tags = bytes_of(tags, fixed + (c->ttl_ms ? CELL_TTL_TAG_BYTES : 0));
	s->ttl_unit_ms = c->ttl_unit_ms;
	if (c->ttl_unit_ms)
		s->ttl_slot = p->slots[c->ttl_field];
}

static void cell_compile(struct row_plan *p, const struct table_plan *t, size_t column)
{
	const struct job_table *table = t->table;
	struct cell_step *s = &t->cells[column];
	const struct cell_spec *c = &table->cells[column];

	*s = (struct cell_step){.family = (uint32_t)c->family,
				.family_name = bytes_str(table->schema.families[c->family].name),
				.column = (uint32_t)column,
				.type = c->marker ? c->marker : CELL_PUT,
				.computed = !c->qualifier_constant && c->nqualifier > 0,
				.optional = c->optional};
	s->constant = !stands_in_record(s, c, t->markers && !c->marker);
	if (s->computed) {
		s->qualifier_slots = slots_of(p, c->qualifier, c->nqualifier);
		key_schema_make(&s->parts, &p->maker, c->qualifier, c->nqualifier);
	} else {
		constant_qualifier(p, s, c);
	}
	s->key_value = c->kind == VALUE_KEY;
	s->refers =
		s->key_value || (c->nqualifier && c->qualifier[c->nqualifier - 1].kind == PART_KEY);
	if (c->kind == VALUE_CONST)
		s->value = bytes_of(c->constant.len ? (const void *)c->constant.ptr : "",
				    c->constant.len);
	else if (c->kind == VALUE_FIELD)
		s->layout = key_layout(&p->maker, c->field, c->as, false);
	tags_compile(p, s, c);
	s->plain = !s->computed && !s->ttl_unit_ms && c->kind == VALUE_FIELD &&
		   s->layout.kind == LAY_TEXT && !s->layout.invert;
	/*
	 * a KeyValue has two lengths, row length, family length, timestamp and type
	 * (hfile/README.md 3.1)
	 */
	s->weight = 4 + 4 + 2 + 1 + 8 + 1 + strlen(table->schema.families[c->family].name) +
		    s->qualifier.len + (s->constant ? s->value.len : 0);
}

static bool cell_before(const struct cell_step *a, const struct cell_step *b)
{
	if (a->family != b->family)
		return a->family < b->family;
	if (a->computed || b->computed)
		return !a->computed;
	return bytes_cmp(a->qualifier, b->qualifier) < 0;
}

/* Return true if the marker deletes every version that the Put of the same event can have. */
static bool hides(const struct cell_step *marker, const struct cell_step *put)
{
	if (marker->type == CELL_PUT || put->type != CELL_PUT || marker->family != put->family)
		return false;
	if (cell_type_marks_family(marker->type))
		return true;
	return !marker->computed && !put->computed && bytes_eq(marker->qualifier, put->qualifier);
}

static void covers_compile(struct row_plan *p, struct table_plan *t)
{
	for (struct cell_step *s = t->cells; t->markers && s < t->cells + t->ncells; s++) {
		s->covers.of = arena_alloc(&p->arena, (t->ncells + 1) * sizeof *s->covers.of);
		for (size_t i = 0; i < t->ncells; i++)
			if (hides(&t->cells[i], s))
				s->covers.of[s->covers.n++] = i;
	}
}

/* Compare cells. Equal cells keep their order, so compare their addresses. */
static int by_place(const void *a, const void *b)
{
	const struct cell_step *x = *(const struct cell_step *const *)a;
	const struct cell_step *y = *(const struct cell_step *const *)b;

	return cell_before(x, y) ? -1 : cell_before(y, x) ? 1 : (x > y) - (x < y);
}

static void cells_sort(struct cell_step *s, size_t n)
{
	struct cell_step *sorted = mem_alloc((n + 1) * sizeof *sorted);
	const struct cell_step **order = mem_alloc((n + 1) * sizeof *order);

	for (size_t i = 0; i < n; i++)
		order[i] = &s[i];
	qsort(order, n, sizeof *order, by_place);
	for (size_t i = 0; i < n; i++)
		sorted[i] = *order[i];
	memcpy(s, sorted, n * sizeof *s);
	mem_free(order);
	mem_free(sorted);
}

/*
 * Check whether every key contains the timestamp at the same offset. The record then does not store
 * the timestamp again.
 */
static void ts_from_key(struct table_plan *t)
{
	for (size_t i = 0; i < t->key.nsteps; i++) {
		const struct key_step *step = &t->key.steps[i];
		const struct layout *l = &step->layout;

		if (step->kind == PART_FIELD && l->slot == t->ts_slot &&
		    (l->as == AS_MILLIS || l->as == AS_REVERSED_MILLIS)) {
			t->ts = TS_KEY;
			t->ts_offset = step->at;
			t->ts_flip = l->flip;
			return;
		}
		if (step->kind == PART_FIELD && !l->width)
			return;
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
			return error_set(
				err, RC_CONFIG,
				"%s: table %s has timestamp %lld, expected 0..9223372036854775806 ms",
				p->job->path, table->schema.name, (long long)t->ts_constant);
		return 0;
	}
	t->ts_slot = p->slots[table->timestamp_field];
	t->ts_spec = &p->job->fields[table->timestamp_field];
	if (t->ts_spec->type != FIELD_TIME)
		return error_set(
			err, RC_CONFIG,
			"%s: table %s: found field `%s` as the source of the timestamp, expected "
			"a field with `type: time`",
			p->job->path, table->schema.name, t->ts_spec->name);
	ts_from_key(t);
	return 0;
}

/*
 * Compile the cells with constant qualifiers. An empty constant value must differ from a value in
 * the record. CELL_ROOM_BYTES of each constant value are readable.
 */
static void frames_compile(struct row_plan *p, struct table_plan *t)
{
	t->frames = arena_alloc(&p->arena, (t->ncells + 1) * sizeof *t->frames);
	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_step *s = &t->cells[i];

		t->frames[i] = (struct cell_frame){
			s->family, s->column, s->family_name, s->qualifier, {0}};
		if (!s->constant)
			continue;
		uint8_t *value = arena_alloc(&p->arena, s->value.len + CELL_ROOM_BYTES);
		copy_short(value, s->value.ptr, s->value.len);
		t->frames[i].value = bytes_of(value, s->value.len);
		t->constant_values = true;
	}
}

/*
 * Compute the weight of a usual record. Such a record has all cells, and each length takes one
 * byte. The weight is the bytes of all slices plus one byte for each.
 */
static struct usual_weight usual_weight(const struct table_plan *t)
{
	struct usual_weight u = {.per_key_byte = t->ncells, .payload_below = 0x80};

	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_step *s = &t->cells[i];

		u.base += s->weight - (size_t)s->computed - !s->constant;
		if (s->optional || s->when || s->refers || s->ttl_unit_ms || t->markers)
			u.payload_below = 0;
	}
	return u;
}

static int conditions_compile(struct row_plan *p, struct table_plan *t,
			      const struct field_forms *forms, struct error *err)
{
	const struct job_table *table = t->table;
	int rc = RC_OK;

	t->conditional = table->when || t->markers;
	if (table->when)
		rc = predicate_new(&t->when, table->when, forms, &p->arena, err);
	for (size_t i = 0; rc == RC_OK && i < table->ncells; i++) {
		const struct job_condition *when = table->cells[i].when;

		if (!when)
			continue;
		t->conditional = true;
		rc = predicate_new(&t->cells[i].when, when, forms, &p->arena, err);
	}
	t->key_slots = slots_of(p, table->rowkey, table->nrowkey);
	return rc;
}

/*
 * Return true if several cells have one column. Conditions choose between these cells, so they need
 * no order.
 */
static bool has_twins(const struct table_plan *t)
{
	for (size_t i = 1; i < t->ncells; i++)
		if (!t->cells[i].computed && t->cells[i].family == t->cells[i - 1].family &&
		    bytes_eq(t->cells[i].qualifier, t->cells[i - 1].qualifier))
			return true;
	return false;
}

int table_compile(struct row_plan *p, struct table_plan *t, const struct job_table *table,
		  const struct field_forms *forms, struct error *err)
{
	t->table = table;
	t->ncells = table->ncells;
	t->constant_columns = true;
	t->cells = arena_alloc(&p->arena, (table->ncells + 1) * sizeof *t->cells);
	key_schema_make(&t->key, &p->maker, table->rowkey, table->nrowkey);
	int rc = ts_compile(p, t, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < table->ncells; i++)
		t->markers |= table->cells[i].marker != 0;
	for (size_t i = 0; i < table->ncells; i++) {
		cell_compile(p, t, i);
		t->constant_columns = t->constant_columns && !t->cells[i].computed &&
				      !cell_has_tags(&table->cells[i]);
	}
	rc = conditions_compile(p, t, forms, err);
	t->usual = usual_weight(t);
	cells_sort(t->cells, t->ncells);
	t->constant_columns = t->constant_columns && !has_twins(t) && !t->markers;
	covers_compile(p, t);
	frames_compile(p, t);
	return rc;
}
