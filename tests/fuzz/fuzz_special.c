/*
 * fuzz_special.c - rows with escapes, long delimiters, fixed widths, pairs or stray quotes are the
 * same in pieces of any size
 *
 * The first two bytes choose the dialect, the third byte the size of the small pieces. The rest is
 * the file.
 */
#include "block_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *columns[] = {"a", "b", "c", "d"};
	static uint32_t widths[] = {2, 1, 3, 0};

	enum { N = sizeof columns / sizeof *columns };
	struct field fields[N] = {0};

	if (size < 3)
		return 0;
	bool longer = data[0] & 4;
	struct job job = {.path = "job",
			  .source = SOURCE_CSV,
			  .csv = {.header = data[0] & 8,
				  .columns = columns,
				  .ncolumns = N,
				  .delimiter = data[0] & 16 ? ' ' : ',',
				  .long_delimiter = bytes_str(data[0] & 16 ? " |" : ",,,"),
				  .quote = '"',
				  .quotes = (enum quotes)((data[1] >> 2) % 3),
				  .escapes = (enum escapes)(data[1] & 3),
				  .widths = widths,
				  .nwidths = data[0] % 4 == 1 ? N : 0,
				  .pairs = data[0] % 4 == 2,
				  .trim = (enum trim)((data[0] >> 5) % 3),
				  .missing = data[1] & 32 ? MISSING_NULL : MISSING_REJECT,
				  .extra = data[1] & 64 ? EXTRA_EMPTY : EXTRA_REJECT,
				  .has_comment = data[1] & 128,
				  .comment = '#',
				  .max_row_bytes = BLOCK_MOST},
			  .fields = fields,
			  .nfields = N};

	job.csv.replace = job.csv.header;
	if (!longer)
		job.csv.long_delimiter.len = 0;
	for (size_t i = 0; i < N; i++)
		fields[i] =
			(struct field){.name = columns[i], .columns = &columns[i], .ncolumns = 1};
	same_in_pieces(&job, 1 + data[2], bytes_of(data + 3, size - 3));
	return 0;
}
