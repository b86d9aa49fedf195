/*
 * derive.h - salts and hashes over the other parts of a key (inside pipeline/key only)
 */
#ifndef SALTMILL_KEY_DERIVE_H
#define SALTMILL_KEY_DERIVE_H

#include "key.h"

/* Write d->width bytes. */
void derive(const struct key_derived *d, struct bytes in, uint8_t *to);

#endif
