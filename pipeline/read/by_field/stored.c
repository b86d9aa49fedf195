/* stored.c - find and decode the values of fields in stored cells (by_field.h) */
#include "by_field.h"

void stored_open(struct stored *s, const struct key_table *keys, const struct field_forms *forms)
{
	const struct job_table *t = keys->table;
	struct key_maker maker = keys->maker;

	*s = (struct stored){.keys = keys, .forms = forms, .ncolumns = t->ncells};
	maker.arena = &s->arena;
	s->columns = arena_alloc(&s->arena, (t->ncells + 1) * sizeof *s->columns);
	s->max_pieces = keys->schema.nsteps;
	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_spec *c = &t->cells[i];
		struct stored_column *to = &s->columns[i];

		to->spec = c;
		to->family = bytes_str(t->schema.families[c->family].name);
		if (c->qualifier_constant)
			to->constant = c->nqualifier ? c->qualifier[0].constant : bytes_of("", 0);
		else
			key_schema_make(&to->qualifier, &maker, c->qualifier, c->nqualifier);
		if (c->nqualifier > s->max_pieces)
			s->max_pieces = c->nqualifier;
		if (c->kind == VALUE_FIELD)
			to->value = key_layout(&maker, c->field, c->as, false);
	}
}

void stored_release(struct stored *s)
{
	arena_release(&s->arena);
}

/* Returns true if the qualifier consists of these parts. */
static bool is_made_of(const struct key_schema *s, struct bytes qualifier, struct key_piece *pieces)
{
	if (key_split(s, qualifier, pieces) < s->nsteps ||
	    pieces[s->nsteps - 1].end != qualifier.len)
		return false;
	for (size_t i = 0; i < s->nsteps; i++)
		if (s->steps[i].kind == PART_CONST &&
		    !bytes_eq(pieces[i].bytes, s->steps[i].constant))
			return false;
	return true;
}

const struct stored_column *stored_find(const struct stored *s, struct bytes family,
					struct bytes qualifier, struct key_piece *pieces)
{
	const struct stored_column *computed = NULL;

	for (size_t i = 0; i < s->ncolumns; i++) {
		const struct stored_column *c = &s->columns[i];

		if (!bytes_eq(c->family, family))
			continue;
		if (c->spec->qualifier_constant && bytes_eq(c->constant, qualifier))
			return c;
		if (!c->spec->qualifier_constant && !computed &&
		    is_made_of(&c->qualifier, qualifier, pieces))
			computed = c;
	}
	return computed;
}

/*
 * Reads the text as the field's type. The decimal sign of stored numbers is a point, independent of
 * the source.
 */
static int read_text(const struct field_form *form, struct value *v, struct field_scratch *scratch,
		     struct error *err)
{
	struct field_form plain = *form;
	struct reject why;

	plain.thousands = plain.decimal = (struct bytes){0};
	plain.minus = MINUS_FRONT;
	if (field_read(&plain, v, scratch, &why))
		return error_set(err, RC_DATA, "%s: %s", form->field->name, why.detail);
	return RC_OK;
}

int stored_take(const struct layout *l, const struct field_form *form, struct bytes in,
		struct arena *a, struct field_scratch *scratch, struct value *v, struct error *err)
{
	int rc = layout_take(l, in, a, v, err);

	if (rc == RC_OK && v->text.ptr)
		return read_text(form, v, scratch, err);
	v->text = bytes_of("", 0);
	return rc;
}

bool stored_reference(const struct stored *s, const struct cell *c, struct key_piece *pieces,
		      struct bytes *key)
{
	const struct stored_column *column = stored_find(s, c->family, c->qualifier, pieces);

	if (!column)
		return false;
	size_t last = column->spec->nqualifier;
	bool by_name = last > 0 && column->spec->qualifier[last - 1].kind == PART_KEY;
	*key = by_name ? pieces[last - 1].bytes : c->value;
	return by_name || column->spec->kind == VALUE_KEY;
}
