/*
 * test_query.c - answers to gets and scans, against those of a real HBase and against a reader that
 * knows nothing of merging
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "mem.h"
#include "query.h"

/* --- files in memory --- */

struct memory {
	struct buf bytes;
};

static int append(void *self, const void *ptr, size_t len, struct error *err)
{
	struct memory *m = self;
	(void)err;
	buf_append(&m->bytes, ptr, len);
	return 0;
}

static int finish(void *self, uint8_t digest[16], struct error *err)
{
	(void)self;
	(void)digest;
	(void)err;
	return 0;
}

static void give_up(void *self)
{
	(void)self;
}

static int read_at(void *self, uint64_t offset, void *to, size_t len, struct error *err)
{
	struct memory *m = self;
	(void)err;
	memcpy(to, m->bytes.ptr + offset, len);
	return 0;
}

#define FILES_MOST 64
static struct memory files[FILES_MOST];

static int open_memory(const struct query_file *f, struct hfile_source *out, struct error *err)
{
	struct memory *m = &files[atoi(f->name)];
	(void)err;
	*out = (struct hfile_source){f->name, m->bytes.len, read_at, NULL, m};
	return 0;
}

/* --- golden cases: tables, questions and answers of HBase 2.6.4 --- */

struct rig {
	struct query_family families[8];
	enum bloom_type blooms[8];
	size_t nfamilies;
	struct query_file files[FILES_MOST];
	char names[FILES_MOST][8];
	struct buf first[FILES_MOST], last[FILES_MOST];
	size_t nfiles;
	struct arena arena;
};

/* "\xHH" and plain characters. */
static struct bytes text_of(struct arena *a, const json_t *v)
{
	const char *s = json_string_value(v);
	assert_non_null(s);
	uint8_t *out = arena_alloc(a, strlen(s) + 1);
	size_t n = 0;
	while (*s) {
		unsigned byte;
		if (s[0] == '\\' && sscanf(s, "\\x%2x", &byte) == 1) {
			out[n++] = (uint8_t)byte;
			s += 4;
		} else {
			out[n++] = (uint8_t)*s++;
		}
	}
	return bytes_of(out, n);
}

static int64_t number(const json_t *o, const char *name, int64_t missing)
{
	json_t *v = json_object_get(o, name);
	return v ? (int64_t)json_integer_value(v) : missing;
}

static size_t family_of(const struct rig *t, const char *name)
{
	for (size_t i = 0; i < t->nfamilies; i++)
		if (bytes_eq(t->families[i].name, bytes_str(name)))
			return i;
	fail_msg("no family %s", name);
	return 0;
}

static void read_family(struct rig *t, const json_t *f)
{
	size_t i = t->nfamilies++;
	const char *keep = json_string_value(json_object_get(f, "KEEP_DELETED_CELLS"));
	const char *bloom = json_string_value(json_object_get(f, "BLOOMFILTER"));
	int64_t ttl = number(f, "TTL", 2147483647);
	t->families[i] = (struct query_family){
		.name = bytes_str(json_string_value(json_object_get(f, "name"))),
		.versions = (uint32_t)number(f, "VERSIONS", 1),
		.min_versions = (uint32_t)number(f, "MIN_VERSIONS", 0),
		.ttl_ms = ttl == 2147483647 ? 0 : 1000 * ttl,
		.keep_deleted = !keep || strcmp(keep, "FALSE") == 0 ? KEEP_DELETED_FALSE
				: strcmp(keep, "TTL") == 0	    ? KEEP_DELETED_TTL
								    : KEEP_DELETED_TRUE,
	};
	t->blooms[i] = bloom && strcmp(bloom, "ROWCOL") == 0 ? BLOOM_ROWCOL
		       : bloom && strcmp(bloom, "ROW") == 0  ? BLOOM_ROW
							     : BLOOM_NONE;
	for (; i && bytes_cmp(t->families[i - 1].name, t->families[i].name) > 0; i--) {
		struct query_family g = t->families[i];
		enum bloom_type b = t->blooms[i];
		t->families[i] = t->families[i - 1];
		t->blooms[i] = t->blooms[i - 1];
		t->families[i - 1] = g;
		t->blooms[i - 1] = b;
	}
}

static uint8_t type_of(const char *letter)
{
	switch (*letter) {
	case 'P': return CELL_PUT;
	case 'D': return CELL_DELETE;
	case 'V': return CELL_DELETE_FAMILY_VERSION;
	case 'C': return CELL_DELETE_COLUMN;
	default: return CELL_DELETE_FAMILY;
	}
}

static struct cell read_cell(struct arena *a, const json_t *c)
{
	struct cell cell = {
		.row = text_of(a, json_array_get(c, 0)),
		.qualifier = text_of(a, json_array_get(c, 1)),
		.ts = (int64_t)json_integer_value(json_array_get(c, 2)),
		.type = type_of(json_string_value(json_array_get(c, 3))),
		.value = text_of(a, json_array_get(c, 4)),
	};
	if (json_array_size(c) > 5 && json_is_integer(json_array_get(c, 5))) {
		uint8_t *tag = arena_alloc(a, 11);
		put_be16(tag, 9);
		tag[2] = 8;
		put_be64(tag + 3, (uint64_t)json_integer_value(json_array_get(c, 5)));
		cell.tags = bytes_of(tag, 11);
	}
	return cell;
}

/* Small blocks and every encoding: the reader's ways are tried on the way. */
static void read_file(struct rig *t, const json_t *f)
{
	static const enum block_encoding encodings[] = {ENCODING_NONE, ENCODING_FAST_DIFF,
							ENCODING_ROW_INDEX_V1, ENCODING_DIFF};
	if (json_array_size(json_object_get(f, "cells")) == 0)
		return;
	size_t i = t->nfiles++;
	size_t family = family_of(t, json_string_value(json_object_get(f, "family")));
	struct hfile_options opt = {.family = t->families[family].name,
				    .encoding = encodings[i % 4],
				    .bloom = t->blooms[family],
				    .block_bytes = i % 3 ? 60 : 65536,
				    .index_block_bytes = 200,
				    .index_min_entries = 2,
				    .tags = true};
	struct hfile_sink sink = {"memory", append, finish, give_up, &files[i]};
	struct hfile_summary sum;
	struct hfile_writer *w;
	struct error err;
	json_t *c;
	size_t k;
	files[i].bytes.len = 0;
	assert_int_equal(hfile_writer_new_to(&w, &sink, &opt, &err), 0);
	json_array_foreach(json_object_get(f, "cells"), k, c)
	{
		struct cell cell = read_cell(&t->arena, c);
		if (hfile_add(w, &cell, &err))
			fail_msg("%s", err.msg);
	}
	assert_int_equal(hfile_finish(w, &sum, &err), 0);
	snprintf(t->names[i], sizeof t->names[i], "%zu", i);
	t->first[i] = sum.first_row;
	t->last[i] = sum.last_row;
	t->files[i] = (struct query_file){.open = open_memory,
					  .name = t->names[i],
					  .family = family,
					  .age_rank = i,
					  .first_row = buf_bytes(&sum.first_row),
					  .last_row = buf_bytes(&sum.last_row)};
}

/* False: of a kind that is not asked here. */
static bool read_question(struct rig *t, const json_t *j, struct query *q,
			  struct query_column *columns)
{
	static const char *const others[] = {"filter", NULL};
	const char *op = json_string_value(json_object_get(j, "op"));
	json_t *v, *range = json_object_get(j, "time_range");
	const char *family;
	for (size_t i = 0; others[i]; i++)
		if (json_object_get(j, others[i]))
			return false;
	if (strcmp(op, "get") != 0 && strcmp(op, "scan") != 0)
		return false;
	*q = (struct query){.get = strcmp(op, "get") == 0, .columns = columns};
	q->raw = json_is_true(json_object_get(j, "raw"));
	q->reversed = json_is_true(json_object_get(j, "reversed"));
	q->versions = (uint32_t)number(j, "versions", 1);
	q->limit = (uint64_t)number(j, "limit", 0);
	if ((v = json_object_get(j, q->get ? "row" : "start")))
		q->start = text_of(&t->arena, v);
	if ((v = json_object_get(j, "stop")))
		q->stop = text_of(&t->arena, v);
	if ((v = json_object_get(j, "prefix"))) {
		struct buf stop = {0};
		q->start = text_of(&t->arena, v);
		assert_true(query_prefix_stop(&stop, q->start));
		q->stop = bytes_of(arena_strndup(&t->arena, stop.ptr ? (char *)stop.ptr : "",
						 stop.len),
				   stop.len);
		buf_release(&stop);
	}
	q->start_exclusive = json_is_false(json_object_get(j, "start_inclusive"));
	q->stop_inclusive = json_is_true(json_object_get(j, "stop_inclusive"));
	if (range) {
		q->from_ms = (int64_t)json_integer_value(json_array_get(range, 0));
		q->to_ms = (int64_t)json_integer_value(json_array_get(range, 1));
	}
	int64_t limit = number(j, "family_limit", -1);
	q->family_limit = limit < 0 ? 0 : limit == 0 ? 1 : (uint64_t)limit;
	q->family_offset = (uint64_t)number(j, "family_offset", 0);
	json_object_foreach(json_object_get(j, "columns"), family, v)
	{
		size_t f = family_of(t, family), k;
		json_t *name;
		if (json_is_null(v))
			columns[q->ncolumns++] = (struct query_column){.family = f, .all = true};
		json_array_foreach(v, k, name) columns[q->ncolumns++] =
			(struct query_column){.family = f, .qualifier = text_of(&t->arena, name)};
	}
	return true;
}

static void put(struct buf *b, struct bytes v)
{
	bytes_escape(b, v);
	buf_put(b, ' ');
}

static void put_cell(struct buf *b, const struct cell *c, unsigned letter)
{
	put(b, c->row);
	put(b, c->family);
	put(b, c->qualifier);
	buf_printf(b, "%lld %c ", (long long)c->ts, letter);
	put(b, c->value);
	buf_put(b, '\n');
}

static unsigned letter_of(uint8_t type)
{
	return type == CELL_PUT			    ? 'P'
	       : type == CELL_DELETE		    ? 'D'
	       : type == CELL_DELETE_FAMILY_VERSION ? 'V'
	       : type == CELL_DELETE_COLUMN	    ? 'C'
						    : 'F';
}

static void expected_text(struct rig *t, const json_t *answer, struct buf *out)
{
	size_t i;
	json_t *a;
	json_array_foreach(answer, i, a)
	{
		struct cell c = {.row = text_of(&t->arena, json_array_get(a, 0)),
				 .family = text_of(&t->arena, json_array_get(a, 1)),
				 .qualifier = text_of(&t->arena, json_array_get(a, 2)),
				 .ts = (int64_t)json_integer_value(json_array_get(a, 3)),
				 .value = text_of(&t->arena, json_array_get(a, 5))};
		put_cell(out, &c, (unsigned)*json_string_value(json_array_get(a, 4)));
	}
	buf_put(out, 0);
}

static int answer_text(const struct rig *t, const struct query *q, struct buf *out)
{
	struct query_scan *s;
	struct error err;
	struct cell c;
	int rc = query_open(&s, t->families, t->nfamilies, t->files, t->nfiles, q, &err);
	if (rc)
		return rc;
	while ((rc = query_next(s, &c, &err)) == 0)
		put_cell(out, &c, letter_of(c.type));
	if (rc < 0)
		fail_msg("%s", err.msg);
	query_close(s);
	buf_put(out, 0);
	return 0;
}

/* Returns 1 if the case was asked. */
static unsigned ask(struct rig *t, const json_t *one, int64_t now_ms, const char *id, size_t n)
{
	struct query_column columns[64];
	struct query q;
	struct buf want = {0}, got = {0};
	json_t *question = json_object_get(one, "question");
	if (!read_question(t, question, &q, columns))
		return 0;
	q.now_ms = now_ms;
	int rc = answer_text(t, &q, &got);
	if (json_object_get(one, "error")) {
		assert_int_equal(rc, RC_CONFIG);
	} else {
		assert_int_equal(rc, 0);
		expected_text(t, json_object_get(one, "answer"), &want);
		if (strcmp((char *)want.ptr, (char *)got.ptr) != 0) {
			char *text = json_dumps(question, 0);
			fail_msg("table %s, case %zu: %s\nexpected\n%s\nfound\n%s", id, n, text,
				 want.ptr, got.ptr);
		}
	}
	buf_release(&want);
	buf_release(&got);
	return 1;
}

/* A timestamp that HBase replaces when it is written, so our writer refuses it. */
static bool has_latest(const json_t *j)
{
	size_t i, k;
	json_t *f, *c;
	json_array_foreach(json_object_get(j, "files"), i, f)
	{
		json_array_foreach(json_object_get(f, "cells"), k, c)
		{
			if (json_integer_value(json_array_get(c, 2)) == INT64_MAX)
				return true;
		}
	}
	return false;
}

static unsigned ask_table(const json_t *j)
{
	static struct rig t;
	unsigned asked = 0;
	size_t i;
	json_t *v;
	if (has_latest(j))
		return 0;
	t = (struct rig){.nfamilies = 0};
	json_array_foreach(json_object_get(json_object_get(j, "table"), "families"), i, v)
		read_family(&t, v);
	json_array_foreach(json_object_get(j, "files"), i, v) read_file(&t, v);
	json_array_foreach(json_object_get(j, "cases"), i, v) asked +=
		ask(&t, v, number(j, "now_ms", 0), json_string_value(json_object_get(j, "id")), i);
	for (i = 0; i < t.nfiles; i++) {
		buf_release(&t.first[i]);
		buf_release(&t.last[i]);
	}
	arena_release(&t.arena);
	return asked;
}

static void answers_of_hbase(void **state)
{
	(void)state;
	const char *folder = getenv("SALTMILL_DATA");
	char *path = mem_format("%s/reading/cases.jsonl", folder ? folder : "../shared/data");
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	unsigned asked = 0;
	if (!in && !folder) {
		print_message("no shared data: %s is not there\n", path);
		mem_free(path);
		skip();
	}
	assert_non_null(in);
	while (getline(&line, &room, in) > 0) {
		json_t *j = json_loads(line, 0, NULL);
		assert_non_null(j);
		asked += ask_table(j);
		json_decref(j);
	}
	print_message("%u questions\n", asked);
	assert_true(asked > 500);
	free(line);
	fclose(in);
	mem_free(path);
	for (size_t i = 0; i < FILES_MOST; i++)
		buf_release(&files[i].bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(answers_of_hbase)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
