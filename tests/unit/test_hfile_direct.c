/* test_hfile_direct.c - rows that go straight into DIFF blocks, for random options and rows */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/direct_judge.h"
#include "tests/unit/draw.h"

#define ROUNDS 600

static void as_the_model(void **state)
{
	uint8_t script[6000];

	(void)state;
	random_state = 29;
	for (int round = 0; round < ROUNDS; round++) {
		size_t n = 4 + pick(round % 3 ? 200 : sizeof script - 4);

		draw_bytes(script, n);
		/* most files have few unusual rows */
		for (size_t i = 3; i < n && round % 4; i++)
			if (script[i] >= 224 && pick(8))
				script[i] = (uint8_t)pick(224);
		if (!direct_judge(script, n))
			fail_msg("round %d", round);
	}
}

/* Rows of one length with close times, as most loads have them, in blocks of many rows. */
static void usual_rows(void **state)
{
	uint8_t script[9000];

	(void)state;
	random_state = 30;
	for (int round = 0; round < 60; round++) {
		size_t n = 0;

		script[n++] = (uint8_t)(pick(4) | 8);
		script[n++] = 1 + (uint8_t)pick(255);
		script[n++] = (uint8_t)pick(256);
		for (int i = 0; i < 20; i++) { /* a row key of 21 bytes */
			script[n++] = 0;
			script[n++] = 0;
			script[n++] = (uint8_t)pick(256);
			for (int k = 0; k < 11; k++)
				script[n++] = 0;
		}
		while (n + 16 < sizeof script) {
			/* raise a byte of the row, which keeps its length */
			script[n++] = (uint8_t)(2 | (pick(2) << 3) | (pick(200) ? 0 : 224));
			script[n++] = (uint8_t)pick(256);
			for (int k = 0; k < 13; k++)
				script[n++] = (uint8_t)pick(k == 2 ? 2 : 200);
		}
		if (!direct_judge(script, n))
			fail_msg("round %d", round);
	}
}

/* Rows of equal sizes, and each block size, so that some blocks are full just before a last cell. */
static void blocks_of_each_size(void **state)
{
	uint8_t script[3000];

	(void)state;
	random_state = 31;
	for (int round = 1; round < 256; round++) {
		const uint8_t length = (uint8_t)pick(40);
		size_t n = 0;

		memset(script, 0, sizeof script);
		script[0] = 8;	  /* blocks that are large enough for the quick path */
		script[1] = 0x26; /* three columns */
		script[2] = (uint8_t)round;
		for (n = 3; n < 3 + 12 * 8; n += 8) /* a row key of 12 bytes */
			script[n + 1] = (uint8_t)pick(256);
		for (; n + 8 < sizeof script; n += 8) {
			script[n] = 2 | 1 << 3; /* raise a byte of the row, and the time */
			script[n + 1] = (uint8_t)pick(256);
			script[n + 2] = (uint8_t)pick(256);
			memset(script + n + 5, length, 3);
		}
		if (!direct_judge(script, n))
			fail_msg("round %d", round);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_model),
					   cmocka_unit_test(usual_rows),
					   cmocka_unit_test(blocks_of_each_size)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
