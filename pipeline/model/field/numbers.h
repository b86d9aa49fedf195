/*
 * numbers.h - numbers in other countries' notation, and decimals of a fixed scale (inside
 * pipeline/model/field only)
 */
#ifndef SALTMILL_NUMBERS_H
#define SALTMILL_NUMBERS_H

#include "field.h"

/*
 * Convert a number in the form's signs to one with a plain point, in out. Returns false if digits
 * after the thousands sign are not in groups of three, or if a point is not the decimal sign.
 */
bool number_plain(const struct field_form *form, struct bytes text, struct buf *out);
/* Decode v->text, as number_plain wrote it, into v->u. out gets its text with all digits. */
int decimal_decode(const struct field *f, struct value *v, struct buf *out, struct reject *why);

#endif
