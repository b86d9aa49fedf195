/*
 * form_seal.h - the digest that ends a sealed object (inside pipeline/base only; form.h)
 */
#ifndef SALTMILL_BASE_FORM_SEAL_H
#define SALTMILL_BASE_FORM_SEAL_H

#include <jansson.h>
#include <stdbool.h>

#include "bytes.h"

#define FORM_SEAL_KEY	 "digest"
#define FORM_SEAL_DIGITS 32

/* Compute the digest of an object that a form wrote without its digest. */
void form_seal_text(struct bytes text, char hex[FORM_SEAL_DIGITS + 1]);
/*
 * Compare the digest of an object with its content. If `old` is true, an object without a digest is
 * right, too.
 */
bool form_seal_holds(json_t *object, bool old);

#endif
