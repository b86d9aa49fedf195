/*
 * numbers.h - numbers with other thousands and decimal signs, and decimals of a fixed scale (inside
 * pipeline/model/field only)
 */
#ifndef SALTMILL_NUMBERS_H
#define SALTMILL_NUMBERS_H

#include "field.h"

/*
 * Convert a number with the form's signs to a number with a plain point, in `out`. Returns false if
 * digits after a thousands sign are not in groups of three, or if the number has another point than
 * the signs.
 */
bool number_plain(const struct field_form *form, struct bytes text, struct buf *out);
/*
 * Decode v->text, the output of number_plain, into v->u. Write the number with all digits of the
 * scale to `out`.
 */
int decimal_decode(const struct field *f, struct value *v, struct buf *out, struct reject *why);

#endif
