/* hex.h - converts hex digits in tests to bytes */
#ifndef SALTMILL_TEST_HEX_H
#define SALTMILL_TEST_HEX_H

/* Include it after cmocka.h and the headers that cmocka.h needs. */
#include "bytes.h"

static inline int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Reads hex digits, and skips the blanks between them. */
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
