/*
 * mend_manifest.h - gives a manifest the correct digest of itself
 *
 * Otherwise the digest stops a fuzzer at the first byte that it changes.
 */
#ifndef SALTMILL_FUZZ_MEND_MANIFEST_H
#define SALTMILL_FUZZ_MEND_MANIFEST_H

#include <stdio.h>
#include <xxhash.h>

#include "bytes.h"

/* Changes the digits only at their usual place. The reader must refuse other manifests
 * (manifest.c). */
static inline void mend_manifest(uint8_t *p, size_t size)
{
	static const char before[] = "\"manifest\": \"", behind[] = "\"\n  }\n}\n";

	enum { HEAD = sizeof before - 1, DIGITS = 32, TAIL = sizeof behind - 1 };
	if (size < HEAD + DIGITS + TAIL)
		return;
	uint8_t *digits = p + size - TAIL - DIGITS;
	if (memcmp(digits - HEAD, before, HEAD) != 0 || memcmp(digits + DIGITS, behind, TAIL) != 0)
		return;
	char hex[DIGITS + 1];
	struct buf rest = {0};
	buf_append(&rest, p, size - TAIL - DIGITS);
	buf_append(&rest, behind, TAIL);
	XXH128_hash_t h = XXH3_128bits(rest.ptr, rest.len);
	snprintf(hex, sizeof hex, "%016llx%016llx", (unsigned long long)h.high64,
		 (unsigned long long)h.low64);
	memcpy(digits, hex, DIGITS);
	buf_release(&rest);
}

#endif
