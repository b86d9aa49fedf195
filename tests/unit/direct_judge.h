/*
 * direct_judge.h - judges the fast path of DIFF files by a model of HBase's blocks
 *
 * Bytes describe options and rows. The model ends blocks by hfile/README.md 1.1, and encodes them
 * with the careful encoder. A second writer gets the same cells one by one.
 */
#ifndef SALTMILL_TEST_DIRECT_JUDGE_H
#define SALTMILL_TEST_DIRECT_JUDGE_H

#include <stdbool.h>

#include "hfile.h"
#include "mem.h"
#include "pipeline/hfile/block_encode.h"

#define JUDGE_ROW_MOST	 700
#define JUDGE_VALUE_MOST 70000
#define JUDGE_HEADER	 33

/* The bytes that describe a file. After the last byte, all bytes are 0. */
struct script {
	const uint8_t *p, *end;
};

static inline uint8_t script_take(struct script *s)
{
	return s->p < s->end ? *s->p++ : 0;
}

struct judge {
	struct script script;
	struct hfile_writer *fast, *single;
	struct buf files[2], plain, expected; /* `expected` has all payloads in order */
	struct hfile_options opt;
	struct bytes qualifiers[8];
	uint8_t row[JUDGE_ROW_MOST + CELL_ROOM_BYTES];
	size_t row_bytes;
	uint64_t ts;
	bool fine, over;
};

static inline int judge_append(void *self, const void *ptr, size_t len, struct error *err)
{
	(void)err;
	buf_append(self, ptr, len);
	return 0;
}

static inline int judge_finish(void *self, uint8_t digest[16], struct error *err)
{
	(void)self, (void)digest, (void)err;
	return 0;
}

static inline void judge_abort(void *self)
{
	(void)self;
}

static inline void judge_options(struct judge *j)
{
	static const char *const names[] = {"",
					    "a",
					    "a long qualifier, over 32 bytes: 1",
					    "a long qualifier, over 32 bytes: 2",
					    "ab",
					    "b",
					    "ba",
					    "c"};
	static const enum bloom_type blooms[] = {BLOOM_ROW, BLOOM_NONE, BLOOM_ROWPREFIX,
						 BLOOM_ROWCOL};
	struct hfile_options *o = &j->opt;
	uint8_t b = script_take(&j->script), mask = script_take(&j->script);

	for (size_t i = 0; i < 8; i++)
		if (mask >> i & 1 || mask == 0)
			j->qualifiers[o->nqualifiers++] = bytes_str(names[i]);
	o->qualifiers = j->qualifiers;
	o->encoding = ENCODING_DIFF;
	o->family = bytes_str(b & 4 ? "a family that is longer than 32 bytes" : "f");
	o->bloom = blooms[b & 3];
	o->bloom_prefix = 3;
	o->bloom_block_bytes = 256;
	o->index_block_bytes = 400;
	o->block_bytes = 64 + (uint32_t)script_take(&j->script) * (b & 8 ? 64 : 8);
}

/* Change the row to one that sorts after it. */
static inline void judge_next_row(struct judge *j, uint8_t how)
{
	size_t at = j->row_bytes ? script_take(&j->script) % j->row_bytes : 0;

	if (how & 1)
		at = j->row_bytes ? j->row_bytes - 1 : 0;
	while (at > 0 && j->row[at] == 255)
		at--;
	if (j->row_bytes && j->row[at] < 255 && (how & 2 || j->row_bytes > JUDGE_ROW_MOST - 200)) {
		j->row[at]++;
		if (how & 4)
			j->row_bytes = at + 1;
		return;
	}
	size_t more = 1 + (how & 4 ? script_take(&j->script) % 200 : 0);
	if (j->row_bytes + more > JUDGE_ROW_MOST) {
		j->over = true; /* no row is left */
		return;
	}
	for (size_t i = 0; i < more; i++)
		j->row[j->row_bytes++] = script_take(&j->script);
}

static inline void judge_next_time(struct judge *j, uint8_t how)
{
	uint8_t b = script_take(&j->script);

	if (how == 1)
		j->ts += b;
	else if (how == 2)
		j->ts = 128u + b; /* times of one byte and of two */
	else if (how == 3)
		for (int i = 0; i < 8; i++)
			j->ts = j->ts << 8 | (i < b % 9 ? script_take(&j->script) : 0);
	j->ts &= INT64_MAX >> 1;
}

static inline void judge_end_block(struct judge *j)
{
	const struct block_format format = {.encoding = ENCODING_DIFF, .careful = true};
	struct error err;

	if (hfile_block_encode(&format, buf_bytes(&j->plain), &j->expected, &err))
		j->fine = false;
	j->plain.len = 0;
}

/* Add a cell to the model and to the second writer. */
static inline void judge_cell(struct judge *j, const struct cell *c)
{
	struct cell whole = *c;
	struct error err;

	whole.family = j->opt.family;
	if (j->plain.len >= j->opt.block_bytes)
		judge_end_block(j);
	buf_be32(&j->plain, (uint32_t)hfile_kv_key_bytes(&whole));
	buf_be32(&j->plain, (uint32_t)c->value.len);
	if (!hfile_kv_key_append(&j->plain, &whole) || hfile_add(j->single, c, &err))
		j->fine = false;
	buf_append(&j->plain, c->value.ptr, c->value.len);
}

static inline size_t judge_length(struct judge *j)
{
	size_t n = script_take(&j->script);

	return n < 200 ? n % 40 : n < 255 ? n : (size_t)script_take(&j->script) * 273;
}

/* Add a row to both writers. The slow path of the first one gets unusual rows. */
static inline void judge_row(struct judge *j, bool unusual, const uint8_t *text)
{
	struct cell_value values[8];
	struct cell cells[16];
	size_t count = 0, n = 0;
	uint8_t mask = script_take(&j->script), odd = script_take(&j->script);
	struct error err;

	for (size_t i = 0; i < j->opt.nqualifiers; i++) {
		if (mask >> i & 1 && !(i + 1 == j->opt.nqualifiers && count == 0))
			continue;
		struct cell c = {.row = bytes_of(j->row, j->row_bytes),
				 .qualifier = j->qualifiers[i],
				 .ts = (int64_t)j->ts,
				 .value = bytes_of(text + odd % 7, judge_length(j)),
				 .type = unusual && odd & 1 << i ? CELL_DELETE_COLUMN : CELL_PUT};
		values[count++] = (struct cell_value){c.value.ptr, (uint32_t)c.value.len,
						      (uint16_t)i, !(odd & 1 << i)};
		cells[n++] = c;
		if (unusual && c.ts > 0) { /* an older version */
			c.ts--;
			c.type = CELL_PUT;
			cells[n++] = c;
		}
	}
	int rc = unusual ? hfile_add_row(j->fast, cells, n, &err)
			 : hfile_add_values(j->fast, cells[0].row, (int64_t)j->ts, values, count,
					    &err);
	j->fine = j->fine && rc == 0;
	for (size_t i = 0; i < n; i++)
		judge_cell(j, &cells[i]);
}

/* Compare the payloads of all data blocks of a file without compression. */
static inline bool judge_payloads(struct bytes file, struct bytes expected)
{
	for (size_t at = 0; at + JUDGE_HEADER < file.len && expected.len;) {
		const uint8_t *p = file.ptr + at;
		size_t n = get_be32(p + 12);

		if (memcmp(p, "DATABLKE", 8) == 0) {
			if (n > expected.len || memcmp(p + JUDGE_HEADER, expected.ptr, n) != 0)
				return false;
			expected = bytes_of(expected.ptr + n, expected.len - n);
		}
		at += JUDGE_HEADER + get_be32(p + 8);
	}
	return expected.len == 0;
}

/* Return true if both writers and the model agree about the file that the bytes describe. */
static inline bool direct_judge(const uint8_t *script, size_t bytes)
{
	struct judge *j = mem_calloc(1, sizeof *j);
	uint8_t *text = mem_calloc(1, JUDGE_VALUE_MOST);
	struct error err;
	bool more = true;

	j->script = (struct script){script, script + bytes};
	j->fine = true;
	j->ts = 1700000000000;
	for (size_t i = 0; i < JUDGE_VALUE_MOST; i++)
		text[i] = (uint8_t)('a' + i % 23);
	judge_options(j);
	for (size_t i = 0; i < 2; i++) {
		struct hfile_sink sink = {"file", judge_append, judge_finish, judge_abort,
					  &j->files[i]};
		if (hfile_writer_new_to(i ? &j->single : &j->fast, &sink, &j->opt, &err))
			j->fine = false;
	}
	while (j->fine && more) {
		uint8_t op = script_take(&j->script);

		judge_next_row(j, op & 7);
		judge_next_time(j, op >> 3 & 3);
		if (j->over)
			break;
		judge_row(j, op >> 5 == 7, text);
		more = j->script.p < j->script.end;
	}
	struct hfile_summary sums[2] = {{0}};
	bool same = j->fine && hfile_finish(j->fast, &sums[0], &err) == 0 &&
		    hfile_finish(j->single, &sums[1], &err) == 0;
	judge_end_block(j);
	same = same && bytes_eq(buf_bytes(&j->files[0]), buf_bytes(&j->files[1])) &&
	       judge_payloads(buf_bytes(&j->files[0]), buf_bytes(&j->expected));
	for (size_t i = 0; i < 2; i++) {
		hfile_summary_release(&sums[i]);
		buf_release(&j->files[i]);
	}
	buf_release(&j->plain);
	buf_release(&j->expected);
	mem_free(text);
	mem_free(j);
	return same;
}

#endif
