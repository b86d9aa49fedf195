/* hex.h - bytes written as hex digits in tests */
#ifndef SALTMILL_TEST_HEX_H
#define SALTMILL_TEST_HEX_H

/* Include behind cmocka.h and what it needs. */
#include "bytes.h"

static inline int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Hex digits, blanks between them ignored. */
static inline struct buf unhex(const char *hex)
{
	struct buf b = {0};

	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		buf_put(&b, (uint8_t)(digit(hex[0]) << 4 | digit(hex[1])));
		hex++;
	}
	return b;
}

static inline void assert_hex(struct bytes found, const char *hex)
{
	struct buf expected = unhex(hex);

	assert_int_equal(found.len, expected.len);
	if (found.len)
		assert_memory_equal(found.ptr, expected.ptr, found.len);
	buf_release(&expected);
}

#endif
