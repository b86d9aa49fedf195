#include "digest.h"

#include <stdio.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "hfile.h"

static uint64_t cell_digest(const struct cell *c, size_t skip)
{
	uint64_t h = XXH3_64bits(c->row.ptr + skip, c->row.len - skip);

	h = XXH3_64bits_withSeed(c->qualifier.ptr, c->qualifier.len, h);
	h = XXH3_64bits_withSeed(c->value.ptr, c->value.len, h);
	return XXH3_64bits_withSeed(&c->ts, sizeof c->ts, h);
}

int digest_files(char **files, size_t nfiles, size_t skip, struct error *err)
{
	uint64_t cells = 0, sum = 0, rows = 0;
	struct cell c;
	struct hfile *in;
	struct buf last = {0};
	int rc = RC_OK;

	for (size_t f = 0; rc == RC_OK && f < nfiles; f++) {
		rc = hfile_open(&in, files[f], err);
		if (rc)
			break;
		hfile_rewind(in);
		last.len = 0;
		while ((rc = hfile_next_cell(in, &c, err)) == RC_OK) {
			cells++;
			sum += cell_digest(&c, skip < c.row.len ? skip : 0);
			if (bytes_eq(c.row, buf_bytes(&last)))
				continue;
			rows++;
			last.len = 0;
			buf_append(&last, c.row.ptr, c.row.len);
		}
		hfile_close(in);
		rc = rc == RC_END ? RC_OK : rc;
	}
	buf_release(&last);
	if (rc)
		return rc;
	printf("{\"rows\": %llu, \"cells\": %llu, \"digest\": \"%016llx\"}\n",
	       (unsigned long long)rows, (unsigned long long)cells, (unsigned long long)sum);
	return 0;
}
