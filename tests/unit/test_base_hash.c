/* Compares hashes with published vectors and with the vectors of model/key/README.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "hash.h"

static void murmur_vectors(void **state)
{
	static const struct {
		const char *text;
		uint32_t seed, hash;
	} cases[] = {
		{"", 0, 0},
		{"", 1, 0x514e28b7},
		{"", 0xffffffff, 0x81f16f39},
		{"a", 0x9747b28c, 0x7fa09ea6},
		{"aa", 0x9747b28c, 0x5d211726},
		{"aaa", 0x9747b28c, 0x283e0130},
		{"aaaa", 0x9747b28c, 0x5a97808a},
		{"abc", 0, 0xb3dd93fa},
		{"hello", 0, 0x248bfa47},
		{"hello, world", 0, 0x149bbb7f},
		{"Hello, world!", 0x9747b28c, 0x24884cba},
		{"The quick brown fox jumps over the lazy dog", 0, 0x2e4ff723},
		{"The quick brown fox jumps over the lazy dog", 0x9747b28c, 0x2fa826cd},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(murmur3_32(bytes_str(cases[i].text), cases[i].seed),
				 cases[i].hash);
	assert_int_equal(murmur3_32(bytes_of("\xff\xff\xff\xff", 4), 0), 0x76293b50);
	assert_int_equal(murmur3_32(bytes_of("\x21\x43\x65\x87", 4), 0), 0xf55b516b);
	assert_int_equal(murmur3_32(bytes_of("\x21\x43\x65\x87", 4), 0x5082edee), 0x2362f9de);
	assert_int_equal(murmur3_32(bytes_of("\x21\x43\x65", 3), 0), 0x7e4a8634);
	assert_int_equal(murmur3_32(bytes_of("\x21\x43", 2), 0), 0xa0f7b07a);
	assert_int_equal(murmur3_32(bytes_of("\x21", 1), 0), 0x72661cf4);
	assert_int_equal(murmur3_32(bytes_of("\0\0\0\0", 4), 0), 0x2362f9de);
	assert_int_equal(murmur3_32(bytes_of("\0\0\0", 3), 0), 0x85f0b427);
}

static void java_vectors(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		int32_t hash;
	} cases[] = {
		{"", 0, 1},
		{"a", 1, 128},
		{"abc", 3, 126145},
		{"user0001", 8, -2075063987},
		{"\xff", 1, 30},
		{"\0", 1, 31},
		{"\xff\xff\xff\xff", 4, 892737},
		{"2024-01-01T00:00:00Z", 20, -92852601},
		{"device-42", 9, -171353484},
		{"ykgomr/o", 8, INT32_MIN},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(java31(bytes_of(cases[i].text, cases[i].len)), cases[i].hash);
}

/* RFC 1321, appendix A.5. */
static void md5_vectors(void **state)
{
	static const char *const cases[][2] = {
		{"", "d41d8cd98f00b204e9800998ecf8427e"},
		{"a", "0cc175b9c0f1b6a831c399e269772661"},
		{"abc", "900150983cd24fb0d6963f7d28e17f72"},
		{"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
		{"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
		 "d174ab98d277d9f5a5611c2c9f419d9f"},
		{"1234567890123456789012345678901234567890"
		 "1234567890123456789012345678901234567890",
		 "57edf4a22be3c955ac49da2e2107b67a"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t digest[16];
		char hex[33];

		md5(bytes_str(cases[i][0]), digest);
		for (size_t k = 0; k < 16; k++)
			snprintf(hex + 2 * k, 3, "%02x", digest[k]);
		assert_string_equal(hex, cases[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(murmur_vectors),
		cmocka_unit_test(java_vectors),
		cmocka_unit_test(md5_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
