/* crc32c.c - CRC-32C with isa-l */
#include "hash.h"

#include <isa-l/crc.h>

/* isa-l declares a non-const pointer but only reads the bytes. */
uint32_t crc32c_add(uint32_t crc, const uint8_t *p, size_t n)
{
	union {
		const uint8_t *in;
		uint8_t *out;
	} u = {.in = p};
	return crc32_iscsi(u.out, (int)n, crc);
}
