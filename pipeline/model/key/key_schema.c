/* key_schema.c - convert the parts of a row key or a qualifier to flat arrays */
#include "key.h"
#include "cell.h"

struct layout key_layout(const struct key_maker *m, size_t field, enum encode_as as, bool key)
{
	const struct field *f = &m->job->fields[field];
	struct layout l = layout_of(f->name, f->type, as, key);

	l.zone = f->zone;
	l.slot = m->slots ? m->slots[field] : field;
	return l;
}

/*
 * Make a salt or hash. The input of a field is the field's bytes in the key. If the key lacks the
 * field, the input is the field's natural encoding.
 */
static void make_derived(struct key_maker *m, struct key_derived *d, const struct key_part *part,
			 size_t n, size_t at)
{
	const struct key_part *self = &part[at];

	d->part = self;
	d->at = at;
	d->width = self->width;
	d->nof = self->nof;
	d->of = arena_alloc(m->arena, (self->nof + 1) * sizeof *d->of);
	for (size_t i = 0; i < self->nof; i++) {
		struct hash_input *h = &d->of[i];

		while (h->part < n &&
		       (part[h->part].kind != PART_FIELD || part[h->part].field != self->of[i]))
			h->part++;
		h->in_parts = h->part < n;
		enum field_type type = m->job->fields[self->of[i]].type;
		h->natural = key_layout(m, self->of[i], encoding_natural(type), true);
	}
	d->number = m->nsalts++;
	d->byte_of_part = self->kind == PART_SALT && self->hash == HASH_MURMUR3 && d->width == 1 &&
			  !self->draw && !self->fanout && d->nof == 1 && d->of[0].in_parts;
}

static void make_field(struct key_maker *m, struct layout *l, const struct key_part *part)
{
	*l = key_layout(m, part->field, part->as, true);
	l->zone = part->zone;
	l->terminator = part->terminator;
	l->pad = part->pad;
	l->pad_left = part->pad_left;
	l->exact = part->exact;
	if (!l->width)
		l->width = part->width;
	if (l->kind != LAY_DATE)
		return;
	struct buf title = {0};
	buf_printf(&title, "%s.%s", l->name, encodings[l->as].name);
	l->title = arena_strndup(m->arena, title.ptr, title.len);
	buf_release(&title);
}

static void make_step(struct key_maker *m, struct key_schema *s, size_t n, size_t at)
{
	struct key_step *step = &s->steps[at];
	const struct key_part *part = &s->parts[at];

	*step = (struct key_step){.kind = part->kind, .at = s->fixed};
	step->layout = (struct layout){.width = key_part_bytes(part), .terminator = NO_TERMINATOR};
	if (part->kind == PART_FIELD)
		make_field(m, &step->layout, part);
	else if (part->kind == PART_KEY)
		step->layout.slot = part->table;
	else if (part->kind == PART_CONST)
		step->constant = part->constant;
	else
		make_derived(m, &s->derived[s->nderived++], s->parts, n, at);
	const struct layout *l = &step->layout;
	bool number = part->kind == PART_FIELD && l->kind == LAY_NUMBER;
	s->spans[at] = (struct span){step->at, l->width};
	s->simple = s->simple && l->terminator == NO_TERMINATOR &&
		    (number || part->kind == PART_SALT || part->kind == PART_HASH);
	s->fixed += l->width + (l->terminator != NO_TERMINATOR);
}

/* Collect the data for building a simple key in one compact array. */
static void make_numbers(struct key_maker *m, struct key_schema *s)
{
	s->numbers = arena_alloc(m->arena, (s->nsteps + 1) * sizeof *s->numbers);
	for (size_t i = 0; i < s->nsteps; i++) {
		const struct layout *l = &s->steps[i].layout;

		if (s->steps[i].kind == PART_FIELD)
			s->numbers[s->nnumbers++] =
				(struct number){.bias = l->bias,
						.span = l->span,
						.flip = l->flip,
						.slot = (uint32_t)l->slot,
						.at = (uint16_t)s->steps[i].at,
						.shift = (uint16_t)(64 - 8 * l->width)};
	}
	for (size_t i = 0; i < s->nderived; i++) {
		struct key_derived *d = &s->derived[i];
		uint32_t width = d->byte_of_part ? s->steps[d->of[0].part].layout.width : 0;

		if (width < 1 || width > 8)
			continue;
		d->keep = UINT64_MAX >> (64 - 8 * width);
		d->of_at = s->spans[d->of[0].part].at;
		d->of_bytes = width;
		d->to = s->spans[d->at].at;
	}
	s->one_salt = s->nderived == 1 && s->derived->keep;
	s->drawn = s->nderived == 1 && s->derived->part->draw;
}

void key_schema_make(struct key_schema *s, struct key_maker *m, const struct key_part *parts,
		     size_t n)
{
	*s = (struct key_schema){.parts = parts, .nsteps = n, .simple = true};
	s->spans = arena_alloc(m->arena, (n + 1) * sizeof *s->spans);
	s->steps = arena_alloc(m->arena, (n + 1) * sizeof *s->steps);
	s->derived = arena_alloc(m->arena, (n + 1) * sizeof *s->derived);
	if (m->max_steps < n)
		m->max_steps = n;
	for (size_t i = 0; i < n; i++)
		make_step(m, s, n, i);
	s->simple = s->simple && s->fixed <= ROW_KEY_MAX;
	if (s->simple)
		make_numbers(m, s);
}

struct key_shape key_shape(const struct job_table *t)
{
	struct key_shape s = {0};

	for (; s.nparts < t->nrowkey && s.nparts < SHAPE_MAX_PARTS; s.nparts++) {
		const struct key_part *p = &t->rowkey[s.nparts];
		uint32_t width = key_part_bytes(p);

		s.parts[s.nparts].terminator = p->terminator;
		s.parts[s.nparts].width = width ? width + (p->terminator != NO_TERMINATOR) : 0;
	}
	if (t->rowkey[0].kind == PART_SALT) {
		s.salt_bytes = s.parts[0].width;
		s.buckets = t->rowkey[0].buckets;
	}
	return s;
}

void key_table_open(struct key_table *k, const struct job *job, const struct job_table *t)
{
	*k = (struct key_table){.job = job, .table = t};
	k->maker = (struct key_maker){.job = job, .arena = &k->arena};
	key_schema_make(&k->schema, &k->maker, t->rowkey, t->nrowkey);
	key_scratch_init(&k->scratch, &k->maker);
}

void key_table_close(struct key_table *k)
{
	key_scratch_release(&k->scratch);
	arena_release(&k->arena);
}
