/* line_ends.c - count and find line ends */
#include "line_ends.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

uint64_t csv_lines(const uint8_t *data, size_t len)
{
	const uint8_t *p = data, *end = data + len;
	uint64_t lines = 0;

#ifdef __SSE2__
	const __m128i newline = _mm_set1_epi8('\n');
	while (end - p >= 16) {
		/* a byte lane can count only to 255 */
		ptrdiff_t n = (end - p) / 16 < 255 ? (end - p) / 16 : 255;
		__m128i lanes = _mm_setzero_si128();

		for (; n > 0; n--, p += 16) {
			__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);

			lanes = _mm_sub_epi8(lanes, _mm_cmpeq_epi8(v, newline));
		}
		lanes = _mm_sad_epu8(lanes, _mm_setzero_si128());
		lines += (uint64_t)_mm_extract_epi16(lanes, 0) +
			 (uint64_t)_mm_extract_epi16(lanes, 4);
	}
#endif
	for (; p < end; p++)
		lines += *p == '\n';
	for (p = data; p < end && (p = memchr(p, '\r', (size_t)(end - p))) != NULL; p++)
		lines += p + 1 == end || p[1] != '\n';
	return lines;
}

size_t csv_line(const uint8_t *data, size_t len)
{
	const uint8_t *end = find_line_end(data, data + len);

	return end < data + len ? (size_t)(behind_line_end(end, data + len) - data) : 0;
}
