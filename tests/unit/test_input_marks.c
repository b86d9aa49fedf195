/* Compares marks with a loop over the bytes, for every variant that the CPU supports and windows at
 * any place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "pipeline/input/marks.h"
#include "tests/unit/draw.h"

#define TEXT_BYTES 20000

static bool is_mark(uint8_t c, uint8_t delimiter)
{
	return c == delimiter || c == '"' || c == '\n' || c == '\r';
}

/* Fills the text. One byte in `rare` is a mark. The other bytes are random or differ from a mark by
 * one bit. */
static void fill(uint8_t *text, size_t len, uint8_t delimiter, unsigned rare)
{
	const uint8_t marks[] = {delimiter, '"', '\n', '\r'};

	for (size_t i = 0; i < len; i++) {
		unsigned near = marks[pick(4)] ^ (1u << pick(8));

		text[i] = pick(rare) == 0 ? marks[pick(4)] : (uint8_t)(pick(2) ? pick(256) : near);
	}
}

static void every_way(void **state)
{
	scan_marks *ways[MARKS_WAYS];
	size_t nways = marks_ways(ways);

	(void)state;
	assert_true(nways >= 1 && nways <= MARKS_WAYS);
	for (unsigned round = 0; round < 2000; round++) {
		size_t len = (1 + pick(20)) * (size_t)MARKS_BLOCK;
		uint8_t *text = malloc(len), delimiter = pick(2) ? ',' : (uint8_t)(128 + pick(128));
		uint16_t *at = malloc((len + MARKS_SLACK) * sizeof *at);

		fill(text, len, delimiter, round % 4 ? 1 + pick(40) : 1);
		for (size_t way = 0; way < nways; way++) {
			size_t n = ways[way](at, text, len, delimiter, '"'), k = 0;

			for (size_t i = 0; i < len; i++) {
				if (!is_mark(text[i], delimiter))
					continue;
				assert_true(k < n);
				assert_int_equal(at[k++], i);
			}
			assert_int_equal(k, n);
		}
		free(at);
		free(text);
	}
}

/* Consecutive windows give all marks, even if the caller skips some. */
static void windows(void **state)
{
	uint8_t *text = malloc(TEXT_BYTES + MARKS_BLOCK);

	(void)state;
	for (unsigned round = 0; round < 100; round++) {
		struct marks m;
		size_t from = pick(5000);

		marks_open(&m, ',', '"');
		fill(text, TEXT_BYTES + MARKS_BLOCK, ',', 1 + pick(30));
		text[TEXT_BYTES - 1] = '\n';
		marks_scan(&m, text + from, text + TEXT_BYTES - 1);
		for (size_t i = from; i < TEXT_BYTES; i++) {
			if (pick(500) == 0) {
				i += pick(pick(4) ? 30 : 12000);
				marks_pass(&m, text + i);
			}
			if (i >= TEXT_BYTES || !is_mark(text[i], ','))
				continue;
			while (m.next == m.n)
				marks_scan(&m, m.scanned, text + TEXT_BYTES - 1);
			assert_ptr_equal(m.base + m.at[m.next++], text + i);
		}
		marks_close(&m);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way),
		cmocka_unit_test(windows),
	};

	random_state = 20261121;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
