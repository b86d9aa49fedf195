/*
 * hash.h - the hashes that a key or a salt may name
 *
 * murmur3_32: MurmurHash3_x86_32 (A. Appleby).  java31: java.util.Arrays.hashCode(byte[]), bytes
 * signed, 32-bit wraparound (key/README.md 1).
 */
#ifndef SALTMILL_HASH_H
#define SALTMILL_HASH_H

#include "bytes.h"

uint32_t murmur3_32(struct bytes key, uint32_t seed);
int32_t java31(struct bytes key);
void md5(struct bytes key, uint8_t digest[16]);

#endif
