#include "blocks.h"

#include <stdio.h>
#include <time.h>

#include "hfile.h"
#include "pipeline/hfile/reader.h"

static int decode_file(const char *path, uint64_t *blocks, uint64_t *bytes, struct error *err)
{
	struct hfile *f;
	int rc = hfile_open(&f, path, err);

	if (rc)
		return rc;
	uint64_t at = 0;
	while (rc == RC_OK && at <= f->trailer.last_data_block) {
		struct bytes cells;

		rc = hfile_block_read(&f->in, at, 0, &f->data, err);
		if (rc)
			break;
		at += f->data.place.disk_bytes;
		if (f->data.type != HBLOCK_DATA && f->data.type != HBLOCK_ENCODED)
			continue;
		rc = hfile_reader_block_cells(f, &f->data, &cells, err);
		++*blocks;
		*bytes += cells.len;
	}
	hfile_close(f);
	return rc;
}

int decode_blocks(char **files, size_t nfiles, struct error *err)
{
	struct timespec start, end;
	uint64_t blocks = 0, bytes = 0;
	int rc = 0;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	for (size_t i = 0; rc == RC_OK && i < nfiles; i++)
		rc = decode_file(files[i], &blocks, &bytes, err);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	if (rc == RC_OK)
		printf("{\"blocks\": %llu, \"bytes\": %llu, \"cpu\": %.4f}\n",
		       (unsigned long long)blocks, (unsigned long long)bytes,
		       (double)(end.tv_sec - start.tv_sec) +
			       (double)(end.tv_nsec - start.tv_nsec) / 1e9);
	return rc;
}
