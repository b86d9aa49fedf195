/*
 * xxhash_fast.h - XXH3 with the widest instructions of the processor, which libxxhash chooses at run time
 *
 * xxhash.h alone uses only instructions that every processor has, at half the speed. The digests
 * are equal.
 */
#ifndef SALTMILL_XXHASH_FAST_H
#define SALTMILL_XXHASH_FAST_H

#define XXH_STATIC_LINKING_ONLY /* allows states on the stack, which cannot fail */
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#endif
