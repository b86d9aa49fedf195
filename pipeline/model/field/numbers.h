/*
 * numbers.h - how numbers are written in other lands, and decimals of a fixed scale (inside
 * pipeline/model/field only)
 */
#ifndef SALTMILL_NUMBERS_H
#define SALTMILL_NUMBERS_H

#include "field.h"

/*
 * The number in the form's signs, written with a point alone: in out.  false: digits do not stand
 * in threes behind the thousands' sign, or a point is there that is no decimal sign.
 */
bool number_plain(const struct field_form *form, struct bytes text, struct buf *out);
/* v->text, as number_plain gives it, becomes v->u, and in out its text with all digits. */
int decimal_decode(const struct field *f, struct value *v, struct buf *out, struct reject *why);

#endif
