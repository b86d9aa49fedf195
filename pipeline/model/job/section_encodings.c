/* Read `as:` and `type:` with the table of encodings. */
#include "sections.h"

int read_encoding(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct choice choices[ENCODINGS];

	for (unsigned i = 0; i < ENCODINGS; i++)
		choices[i] = (struct choice){encodings[i].name, i};
	const struct key choice = {.name = key->name, CHOICES(choices)};
	return read_choice(r, n, &choice, slot);
}

int read_field_type(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct choice choices[FIELD_TYPES];

	for (unsigned i = 0; i < FIELD_TYPES; i++)
		choices[i] = (struct choice){field_type_name((enum field_type)i), i};
	const struct key choice = {.name = key->name, CHOICES(choices)};
	return read_choice(r, n, &choice, slot);
}

int encoding_check(struct reader *r, struct pos at, size_t field, enum encode_as as)
{
	const struct field *f = &r->job->fields[field];
	const struct encoding *e = &encodings[as];

	if (encoding_fits(as, f->type))
		return RC_OK;
	if (f->type == FIELD_TIME && e->width)
		return fault(r, at,
			     "as: found %s for the time field `%.60s`, expected millis, "
			     "reversed_millis, reversed_seconds, reversed_micros, or parts of a "
			     "date: year, month, day, hour",
			     e->name, f->name);
	if (f->type == FIELD_TEXT)
		return fault(
			r, at,
			"as: found %s for `%.60s`, which is text, expected as: text; or declare it "
			"under fields with a type: `%.60s: {type: %s}`",
			e->name, f->name, f->name, e->need);
	return fault(r, at,
		     "as: found %s for `%.60s` of type %s, expected an encoding of that type "
		     "or type: %s under fields",
		     e->name, f->name, field_type_name(f->type), e->need);
}
