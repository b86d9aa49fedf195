/*
 * static_crc32.c - CRC-32C (RFC 3720, B.4) for the static worker, because there is no static
 * libisal
 *
 * The interface is that of isa-l's crc32_iscsi. The function does not invert the register before or
 * after.
 */
#include <isa-l/crc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78u /* Castagnoli's polynomial, with reversed bits */

static unsigned table[256];

__attribute__((constructor)) static void fill_table(void)
{
	for (unsigned i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? POLYNOMIAL : 0);
	}
}

static unsigned by_bytes(const uint8_t *p, size_t n, unsigned crc)
{
	for (; n > 0; n--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 255];
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static unsigned by_words(const uint8_t *p, size_t n, unsigned crc)
{
	unsigned long long wide = crc;
	for (; n >= 8; n -= 8, p += 8) {
		unsigned long long v;
		memcpy(&v, p, 8);
		wide = __builtin_ia32_crc32di(wide, v);
	}
	return by_bytes(p, n, (unsigned)wide);
}

static bool has_words(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#else
static unsigned by_words(const uint8_t *p, size_t n, unsigned crc)
{
	return by_bytes(p, n, crc);
}

static bool has_words(void)
{
	return false;
}
#endif

unsigned int crc32_iscsi(unsigned char *buffer, int len, unsigned int init_crc)
{
	return (has_words() ? by_words : by_bytes)(buffer, (size_t)len, init_crc);
}
