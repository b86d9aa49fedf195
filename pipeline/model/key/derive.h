/*
 * derive.h - salts and hashes over the other parts of a key (inside pipeline/model/key only)
 */
#ifndef SALTMILL_KEY_DERIVE_H
#define SALTMILL_KEY_DERIVE_H

#include "key.h"

/* Write d->width bytes.  rest: all behind a salt, for its fan-out.  Not of one that is drawn. */
void derive(const struct key_derived *d, struct bytes in, struct bytes rest, uint8_t *to);
/* The first bucket of a salt with a fan-out; it and the next ones, modulo all, are the others. */
uint64_t fanout_first(const struct key_part *part, struct bytes in);
/* A number as a salt has it. */
void salt_write(uint64_t salt, uint32_t width, uint8_t *to);

#endif
