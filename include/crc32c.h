/* crc32c.h - CRC-32C (Castagnoli; RFC 3720, B.4) */
#ifndef SALTMILL_CRC32C_H
#define SALTMILL_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#define CRC32C_START 0xffffffff

/* The register behind n bytes more; what begins with CRC32C_START is inverted at the end. */
uint32_t crc32c_add(uint32_t crc, const uint8_t *p, size_t n);

#endif
