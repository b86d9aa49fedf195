/*
 * fuzz_library.c - calls libsaltmill with any bytes: no crash, and cells come back as they were
 *
 * The first byte of the input decides what the rest is: a file, cells and calls for a writer, a job and
 * a key, or the length of a ZSTD dictionary (2 bytes), the dictionary and a file.
 */
#include "memory_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bytes.h"
#include "pipeline/lib/arrow_stream.h"
#include "pipeline/lib/saltmill.h"

#define MOST_CELLS 200

static void must(bool holds)
{
	if (!holds)
		abort();
}

static struct sm_bytes take(struct bytes *in, size_t most)
{
	size_t n = in->len ? in->ptr[0] % (most + 1) : 0;
	struct bytes rest = in->len ? bytes_of(in->ptr + 1, in->len - 1) : *in;

	n = n < rest.len ? n : rest.len;
	*in = bytes_of(rest.ptr + n, rest.len - n);
	return (struct sm_bytes){rest.ptr, n};
}

/* --- a file --- */

/* Call the functions of a reader. Closes the reader. */
static void use_reader(struct sm_reader *r, int rc, struct bytes in, struct sm_bytes a,
		       struct sm_bytes b)
{
	struct sm_bytes key, value;
	struct sm_counts counts = {.size = sizeof counts};
	struct sm_info info = {.size = sizeof info};
	struct sm_cell c;
	int may;

	must(rc == SM_OK || *sm_reader_error(r));
	while (sm_reader_next(r, &c) == SM_OK)
		must(c.row.len > 0);
	for (size_t i = 0; sm_reader_meta(r, i, &key, &value) == SM_OK; i++)
		must(key.len < in.len && value.len < in.len);
	if (sm_reader_range(r, a, b) == SM_OK)
		while (sm_reader_next(r, &c) == SM_OK)
			;
	if (sm_reader_seek(r, a, b, a) == SM_OK)
		sm_reader_next(r, &c);
	sm_reader_may_contain(r, a, b, &may);
	sm_reader_verify(r, &counts);
	struct ArrowArrayStream s;
	struct ArrowArray array;
	if (sm_reader_info(r, &info) || sm_reader_to_arrow(r, &s, 3)) {
		sm_reader_close(r);
		return;
	}
	while (s.get_next(&s, &array) == 0 && array.release)
		array.release(&array);
	s.release(&s);
}

static void read_file(struct bytes in)
{
	struct sm_bytes a = take(&in, 20), b = take(&in, 20);
	struct sm_reader *r;
	int rc = sm_reader_open_memory(&r, in.ptr, in.len);

	use_reader(r, rc, in, a, b);
}

/* Read a file with the keys of hbase2/random.zip and with a dictionary. */
static void read_with(struct bytes in)
{
	static const char keys[] =
		"8d4861bb591141dff1ea2360a68f57cb\nb1a8385d64505d4fc0e302f2a1fb1228\n";
	size_t len = in.len < 2 ? 0 : get_be16(in.ptr), most = in.len < 2 ? 0 : in.len - 2;
	struct sm_bytes dictionary = {in.ptr + in.len - most, len < most ? len : most};
	const struct sm_reader_options o = {.size = sizeof o,
					    .master_keys = {keys, sizeof keys - 1},
					    .dictionaries = &dictionary,
					    .dictionary_count = dictionary.len > 0};
	const struct bytes file =
		bytes_of((const uint8_t *)dictionary.ptr + dictionary.len, most - dictionary.len);
	struct sm_reader *r;
	int rc = sm_reader_open_memory_with(&r, file.ptr, file.len, &o);

	use_reader(r, rc, file, (struct sm_bytes){"a", 1}, (struct sm_bytes){"b", 1});
}

/* --- cells --- */

struct kept {
	struct sm_cell cell[MOST_CELLS];
	size_t n;
};

static struct sm_cell draw_cell(struct bytes *in)
{
	static const uint32_t types[] = {0, 4, 4, 4, 8, 10, 12, 14, 5};
	struct sm_cell c = {.row = take(in, 40), .family = take(in, 2), .qualifier = take(in, 9)};
	struct sm_bytes more = take(in, 3);
	const uint8_t *p = more.ptr;

	c.value = take(in, 200);
	c.tags = take(in, 6);
	c.type = more.len > 0 ? types[p[0] % (sizeof types / sizeof *types)] : 0;
	c.timestamp = more.len > 1 ? p[1] - 1 : 0;
	return c;
}

static bool same(struct sm_bytes a, struct sm_bytes b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static void check_file(const char *path, const struct kept *k)
{
	struct sm_counts counts = {.size = sizeof counts};
	struct sm_reader *r;
	struct sm_cell c;

	must(sm_reader_open(&r, path) == SM_OK);
	must(sm_reader_verify(r, &counts) == SM_OK && counts.cells == k->n);
	for (size_t i = 0; i < k->n; i++) {
		must(sm_reader_next(r, &c) == SM_OK);
		must(same(c.row, k->cell[i].row) && same(c.qualifier, k->cell[i].qualifier) &&
		     same(c.value, k->cell[i].value) && same(c.tags, k->cell[i].tags) &&
		     c.timestamp == k->cell[i].timestamp &&
		     c.type == (k->cell[i].type ? k->cell[i].type : SM_PUT));
	}
	must(sm_reader_next(r, &c) == SM_END);
	sm_reader_close(r);
}

static void write_cells(struct bytes in)
{
	static const char *const codecs[] = {"NONE", "GZ", "SNAPPY", "LZ4", "ZSTD", "LZO", "x"};
	static const char *const encodings[] = {"NONE", "PREFIX", "DIFF", "FAST_DIFF",
						"ROW_INDEX_V1"};
	static const char *const blooms[] = {"NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"};
	struct sm_bytes how = take(&in, 6);
	const uint8_t *p = how.len == 6 ? how.ptr : (const uint8_t *)"\0\0\0\0\0";
	struct sm_writer_options o = {.size = sizeof o,
				      .compression = codecs[p[0] % 7],
				      .encoding = encodings[p[1] % 5],
				      .bloom = blooms[p[2] % 4],
				      .bloom_prefix = p[3] % 9u,
				      .block_bytes = p[4],
				      .flags = p[5]};
	struct kept k = {.n = 0};
	struct sm_writer *w;
	char path[64];

	snprintf(path, sizeof path, "/tmp/saltmill-fuzz-%ld", (long)getpid());
	unlink(path);
	int rc = sm_writer_open(&w, path, &o);
	for (size_t n = 0; rc == SM_OK && in.len && n < MOST_CELLS; n++) {
		struct sm_cell c = draw_cell(&in);

		if (sm_writer_add(w, &c, 1) == SM_OK)
			k.cell[k.n++] = c;
		else
			must(*sm_writer_error(w));
	}
	if (rc == SM_OK && sm_writer_finish(w, NULL) == SM_OK)
		check_file(path, &k);
	else
		must(*sm_writer_error(w));
	sm_writer_close(w);
	unlink(path);
}

/* --- a job --- */

static void use_job(struct bytes in)
{
	struct sm_bytes key = take(&in, 60), first = take(&in, 20), again;
	const struct sm_field *fields;
	struct sm_job *j;
	const char *name;
	char path[64];
	size_t n;
	int fd = memory_file(in, path);

	if (sm_job_open(&j, path, NULL) == SM_OK) {
		const struct sm_field one = {sm_job_field(j, 0, &name) == SM_OK ? name : "x",
					     first};

		if (sm_job_encode(j, &one, 1, &again) == SM_OK)
			must(again.len > 0);
		if (sm_job_decode(j, key, &fields, &n) == SM_OK)
			for (size_t i = 0; i < n; i++)
				must(((const char *)fields[i].text.ptr)[fields[i].text.len] == 0);
	} else {
		must(*sm_job_error(j));
	}
	sm_job_close(j);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	const struct bytes in = bytes_of(data + 1, size - 1);
	switch (data[0] % 4) {
	case 0: read_file(in); break;
	case 1: write_cells(in); break;
	case 2: use_job(in); break;
	case 3: read_with(in); break;
	}
	return 0;
}
