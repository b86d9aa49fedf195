/*
 * xxhash_fast.h - XXH3 by the widest instructions of the processor at hand, chosen by libxxhash
 * itself
 *
 * Plain xxhash.h has what every processor of the kind has: half the speed.  The digests are equal.
 */
#ifndef SALTMILL_XXHASH_FAST_H
#define SALTMILL_XXHASH_FAST_H

#define XXH_STATIC_LINKING_ONLY /* states on the stack: nothing that can fail */
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#endif
