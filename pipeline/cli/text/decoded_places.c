/*
 * decoded_places.c - creates and frees decoders, and finds the place of each column in a CSV line
 */
#include "decoded_places.h"

#include <stdlib.h>

#include "mem.h"

static int by_place(const void *a, const void *b)
{
	const struct decoded_place *x = a, *y = b;
	int c = bytes_cmp(x->family, y->family);

	return c ? c : bytes_cmp(x->qualifier, y->qualifier);
}

static bool is_named(const struct answer_decoding *how, struct bytes family, struct bytes qualifier)
{
	for (size_t i = 0; i < how->ncolumns; i++) {
		const struct query_column *c = &how->columns[i];

		if (bytes_eq(how->families[c->family].name, family) &&
		    (c->all || bytes_eq(c->qualifier, qualifier)))
			return true;
	}
	return how->ncolumns == 0;
}

static void add_place(struct decoded *d, struct decoded_place p)
{
	for (size_t i = 0; i < d->nplaces; i++)
		if (by_place(&d->places[i], &p) == 0)
			return;
	d->places[d->nplaces++] = p;
}

static void find_places(struct decoded *d)
{
	const struct answer_decoding *how = &d->how;
	const struct stored *s = how->stored;

	d->places = arena_alloc(&d->arena, (s->ncolumns + how->ncolumns + 1) * sizeof *d->places);
	for (size_t i = 0; i < s->ncolumns; i++) {
		const struct stored_column *c = &s->columns[i];

		if (cell_type_marks_family(c->spec->marker) ||
		    !is_named(how, c->family, c->constant))
			continue;
		if (c->spec->qualifier_constant)
			add_place(d, (struct decoded_place){.family = c->family,
							    .qualifier = c->constant,
							    .column = c});
		else
			d->line_a_cell = true;
	}
	for (size_t i = 0; i < how->ncolumns; i++)
		if (!how->columns[i].all)
			add_place(d, (struct decoded_place){
					     .family = how->families[how->columns[i].family].name,
					     .qualifier = how->columns[i].qualifier});
	if (d->nplaces)
		qsort(d->places, d->nplaces, sizeof *d->places, by_place);
}

static void find_shown(struct decoded *d)
{
	const struct field_form *form = d->how.stored->forms->form;

	for (size_t i = 0; i < d->nplaces; i++) {
		const struct stored_column *c = d->places[i].column;

		d->places[i].shown = (struct shown){.kind = SHOWN_TEXT};
		if (c && c->spec->kind == VALUE_FIELD)
			d->places[i].shown = shown_of(&c->value, form[c->spec->field].field->type);
	}
}

static void find_key_places(struct decoded *d)
{
	const struct key_schema *k = &d->how.stored->keys->schema;
	const struct field_form *form = d->how.stored->forms->form;
	size_t at = 0;

	d->key_places = arena_alloc(&d->arena, (k->nsteps + 1) * sizeof *d->key_places);
	for (size_t i = 0; i < k->nsteps; i++) {
		const struct layout *l = &k->steps[i].layout;
		bool field = k->steps[i].kind == PART_FIELD;

		if (l->width == 0 && (field || k->steps[i].kind == PART_KEY))
			return;
		if (field)
			d->key_places[d->nkey_places++] = (struct key_place){
				at, shown_of(l, form[k->parts[i].field].field->type)};
		at += l->width + (l->terminator != NO_TERMINATOR);
	}
	d->key_bytes = at;
}

struct decoded *decoded_new(const struct answer_decoding *how, enum answer_format format)
{
	struct decoded *d = mem_calloc(1, sizeof *d);

	d->how = *how;
	d->format = format;
	d->line_a_cell = how->versions;
	d->pieces = arena_alloc(&d->arena, (how->stored->max_pieces + 1) * sizeof *d->pieces);
	find_places(d);
	find_shown(d);
	find_key_places(d);
	return d;
}

void decoded_free(struct decoded *d)
{
	if (!d)
		return;
	buf_release(&d->key);
	buf_release(&d->name);
	buf_release(&d->last);
	buf_release(&d->text);
	buf_release(&d->object);
	field_scratch_release(&d->scratch);
	arena_release(&d->values);
	arena_release(&d->arena);
	mem_free(d);
}
