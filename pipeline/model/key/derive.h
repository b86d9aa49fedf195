/* derive.h - compute salts and hashes from other parts of a key (inside pipeline/model/key only) */
#ifndef SALTMILL_KEY_DERIVE_H
#define SALTMILL_KEY_DERIVE_H

#include "key.h"

/*
 * Write the d->width bytes of a salt or hash. `rest` has all bytes after a salt, for the salt's
 * fan-out. The salt must not be a random one.
 */
void derive(const struct key_derived *d, struct bytes in, struct bytes rest, uint8_t *to);
/*
 * Return the first bucket of a salt with a fan-out. The other buckets have the next numbers, modulo
 * the number of buckets.
 */
uint64_t fanout_first(const struct key_part *part, struct bytes in);
/* Write the number of a salt, big-endian. */
void salt_write(uint64_t salt, uint32_t width, uint8_t *to);

#endif
