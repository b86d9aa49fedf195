/*
 * test_read_query.c - compares answers to gets and scans with those of a real HBase and of a simple
 * reader without merging
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
#include "memory_files.h"
#include "query.h"

/* --- golden cases: tables, queries and answers of HBase 2.6.4 --- */

struct rig {
	struct query_family families[8];
	enum bloom_type blooms[8];
	size_t nfamilies;
	struct query_file files[FILES_MOST];
	char names[FILES_MOST][8];
	struct buf first[FILES_MOST], last[FILES_MOST];
	bool upper[FILES_MOST]; /* of the second region of the split */
	size_t nfiles;
	bool split;
	struct arena arena;
};

/* Decodes "\xHH" and plain characters. */
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

/* Uses small blocks and every encoding, so that each path of the reader runs. */
static void read_file(struct rig *t, const json_t *f)
{
	static const enum block_encoding block_encodings[] = {ENCODING_NONE, ENCODING_FAST_DIFF,
							      ENCODING_ROW_INDEX_V1, ENCODING_DIFF};

	if (json_array_size(json_object_get(f, "cells")) == 0)
		return;
	size_t i = t->nfiles++;
	size_t family = family_of(t, json_string_value(json_object_get(f, "family")));
	struct hfile_options opt = {.family = t->families[family].name,
				    .encoding = block_encodings[i % 4],
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
	const char *region = json_string_value(json_object_get(f, "region"));
	t->upper[i] = region && *region;
	t->first[i] = sum.first_row;
	t->last[i] = sum.last_row;
	t->files[i] = (struct query_file){.open = open_memory,
					  .name = t->names[i],
					  .family = family,
					  .age_rank = i,
					  .first_row = buf_bytes(&sum.first_row),
					  .last_row = buf_bytes(&sum.last_row)};
}

/* --- filters --- */

static struct filter *read_filter(struct rig *t, const json_t *j);

static int named(const char *name, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (names[i] && strcmp(name, names[i]) == 0)
			return i;
	fail_msg("no %s", name);
	return 0;
}

static const char *string_of(const json_t *j, const char *name)
{
	return json_string_value(json_object_get(j, name));
}

static void read_comparator(struct rig *t, const json_t *j, struct filter *f)
{
	static const char *const ops[] = {"LESS",      "LESS_OR_EQUAL",	   "EQUAL",
					  "NOT_EQUAL", "GREATER_OR_EQUAL", "GREATER"};
	static const char *const types[] = {"binary", "binaryprefix", "substring",
					    "regex",  "null",	      "long"};
	const json_t *c = json_object_get(j, "comparator");

	if (!c)
		return;
	f->op = (enum filter_op)named(string_of(j, "op"), ops, 6);
	f->with.type = (enum comparator_type)named(string_of(c, "type"), types, 6);
	if (f->with.type == COMPARE_LONG)
		f->with.number = number(c, "value", 0);
	else if (json_object_get(c, "value"))
		f->with.value = text_of(&t->arena, json_object_get(c, "value"));
}

static void read_bytes(struct rig *t, const json_t *j, const char *name, struct bytes *to)
{
	json_t *v = json_object_get(j, name);

	if (json_is_string(v))
		*to = text_of(&t->arena, v);
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void read_lists(struct rig *t, const json_t *j, struct filter *f)
{
	const json_t *keys = json_object_get(j, "keys"), *ranges = json_object_get(j, "ranges");
	const json_t *times = json_object_get(j, "timestamps");
	const json_t *members = json_object_get(j, "filters"), *one = json_object_get(j, "filter");
	struct filter_fuzzy *fuzzy =
		arena_alloc(&t->arena, (json_array_size(keys) + 1) * sizeof *fuzzy);
	size_t i;
	json_t *v;

	f->fuzzy = fuzzy;
	f->ranges = arena_alloc(&t->arena, (json_array_size(ranges) + 1) * sizeof *f->ranges);
	f->timestamps = arena_alloc(&t->arena, (json_array_size(times) + 1) * sizeof(int64_t));
	f->of = arena_alloc(&t->arena, (json_array_size(members) + 1) * sizeof(struct filter *));
	json_array_foreach(keys, i, v) fuzzy[f->nfuzzy++] =
		(struct filter_fuzzy){text_of(&t->arena, json_array_get(v, 0)),
				      text_of(&t->arena, json_array_get(v, 1))};
	json_array_foreach(ranges, i, v) f->ranges[f->nranges++] =
		(struct filter_range){text_of(&t->arena, json_array_get(v, 0)),
				      text_of(&t->arena, json_array_get(v, 2)),
				      json_is_true(json_array_get(v, 1)),
				      json_is_true(json_array_get(v, 3))};
	json_array_foreach(times, i, v) f->timestamps[f->ntimestamps++] =
		(int64_t)json_integer_value(v);
	qsort(f->timestamps, f->ntimestamps, sizeof(int64_t), by_time);
	json_array_foreach(members, i, v) f->of[f->nof++] = read_filter(t, v);
	if (one)
		f->of[f->nof++] = read_filter(t, one);
}

static struct filter *read_filter(struct rig *t, const json_t *j)
{
	static const char *const types[FILTER_TYPES] = {"List",
							NULL,
							"SingleColumnValue",
							"SingleColumnValueExclude",
							"Value",
							"Qualifier",
							"Family",
							"Row",
							"KeyOnly",
							"FirstKeyOnly",
							"Prefix",
							"Page",
							"ColumnCountGet",
							"ColumnPagination",
							"ColumnPrefix",
							"ColumnRange",
							"InclusiveStop",
							"Timestamps",
							"FuzzyRow",
							"MultiRowRange",
							"Skip",
							"WhileMatch"};
	struct filter *f = arena_alloc(&t->arena, sizeof *f);

	f->type = (enum filter_type)named(string_of(j, "type"), types, FILTER_TYPES);
	if (f->type == FILTER_LIST_AND && strcmp(string_of(j, "operator"), "OR") == 0)
		f->type = FILTER_LIST_OR;
	read_comparator(t, j, f);
	read_bytes(t, j, "family", &f->family);
	read_bytes(t, j, "qualifier", &f->qualifier);
	f->if_missing = json_is_true(json_object_get(j, "filter_if_missing"));
	f->all_versions = json_is_false(json_object_get(j, "latest_version_only"));
	f->lengths = json_is_true(json_object_get(j, "len_as_val"));
	f->limit = (uint64_t)number(j, f->type == FILTER_PAGE ? "size" : "limit", 0);
	f->offset = (uint64_t)number(j, "offset", 0);
	f->from_column = json_is_string(json_object_get(j, "column_offset"));
	f->hints = json_is_true(json_object_get(j, "can_hint"));
	read_bytes(t, j, "column_offset", &f->start);
	read_bytes(t, j, "prefix", &f->start);
	read_bytes(t, j, "min", &f->start);
	read_bytes(t, j, "max", &f->stop);
	read_bytes(t, j, "row", &f->stop);
	f->open_start = !json_is_string(json_object_get(j, "min"));
	f->open_stop = !json_is_string(json_object_get(j, "max"));
	f->start_inclusive = json_is_true(json_object_get(j, "min_inclusive"));
	f->stop_inclusive = json_is_true(json_object_get(j, "max_inclusive"));
	read_lists(t, j, f);
	return f;
}

/* --- queries --- */

/* Returns true if the filter contains a filter of that type. */
static bool has_filter(const struct filter *f, enum filter_type type)
{
	for (size_t i = 0; f && i < f->nof; i++)
		if (has_filter(f->of[i], type))
			return true;
	return f && f->type == type;
}

/*
 * HBase 2.6.4 has two defects. It skips a row that is shorter than a prefix and so loses rows of a
 * reversed scan. A reversed scan of two families with filterIfMissing ends in an error.
 */
static bool is_defect(const struct rig *t, const char *id, const json_t *one, const struct query *q)
{
	if (strcmp(id, "qq7") == 0 && has_filter(q->filter, FILTER_PREFIX))
		return true;
	return json_object_get(one, "error") && q->filter && q->reversed && t->nfamilies > 1;
}

/* Returns false if the case is of a kind that this test skips. */
static bool read_question(struct rig *t, const json_t *j, struct query *q,
			  struct query_column *columns)
{
	const char *op = json_string_value(json_object_get(j, "op"));
	json_t *v, *range = json_object_get(j, "time_range");
	const char *family;

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
	if ((v = json_object_get(j, "filter")))
		q->filter = read_filter(t, v);
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

/* Adds one region's answer and counts its rows. Sets *ended if the filter accepts no more rows and
 * this region returned none. */
static int answer_region(const struct rig *t, const struct query *q, bool upper, uint64_t *rows,
			 bool *ended, struct buf *out)
{
	struct query_file of_region[FILES_MOST];
	struct buf row = {0};
	struct query_scan *s;
	struct error err;
	struct cell c;
	size_t n = 0;
	uint64_t before = *rows;

	for (size_t i = 0; i < t->nfiles; i++)
		if (t->upper[i] == upper)
			of_region[n++] = t->files[i];
	if (q->filter && filter_open(q->filter, &err))
		fail_msg("%s", err.msg);
	int rc = query_open(&s, t->families, t->nfamilies, of_region, n, q, &err);
	while (rc == RC_OK && (rc = query_next(s, &c, &err)) == 0) {
		*rows += *rows == before || !bytes_eq(c.row, buf_bytes(&row));
		row.len = 0;
		buf_append(&row, c.row.ptr, c.row.len);
		put_cell(out, &c, letter_of(c.type));
	}
	*ended = q->filter && filter_all_remaining(q->filter) && *rows == before;
	query_close(s);
	filter_close(q->filter);
	buf_release(&row);
	if (rc != RC_END && rc != RC_CONFIG)
		fail_msg("%s", err.msg);
	return rc == RC_END ? 0 : rc;
}

/*
 * Queries region after region as a client does, each with a new filter, while there are rows. See
 * pipeline/read/query/README.md 6.
 */
static int answer_text(const struct rig *t, const struct query *q, struct buf *out)
{
	struct query one = *q;
	uint64_t rows = 0;
	bool ended = false;
	int rc = 0;

	for (size_t i = 0; rc == RC_OK && !ended && i < 1u + t->split; i++) {
		if (q->limit && rows == q->limit)
			break;
		one.limit = q->limit ? q->limit - rows : 0;
		rc = answer_region(t, &one, (i == 1) != (t->split && q->reversed), &rows, &ended,
				   out);
	}
	buf_put(out, 0);
	return rc;
}

/* Returns 1 if the case ran. */
static unsigned ask(struct rig *t, const json_t *one, int64_t now_ms, const char *id, size_t n)
{
	struct query_column columns[64];
	struct query q;
	struct buf want = {0}, got = {0};
	json_t *question = json_object_get(one, "question");

	if (!read_question(t, question, &q, columns) || is_defect(t, id, one, &q))
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

/* HBase replaces this timestamp when it writes the cell, so saltmill's writer refuses the
 * timestamp. */
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

/* --- major compaction --- */

/* Returns the least timestamp of the Puts of a family's files in a region. */
static int64_t earliest_put(const struct query_file *of, size_t n)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < n; i++) {
		struct hfile_source source;
		struct hfile *h;
		struct error err;
		struct cell c;

		assert_int_equal(open_memory(&of[i], &source, &err), 0);
		assert_int_equal(hfile_open_source(&h, &source, &err), 0);
		hfile_rewind(h);
		while (hfile_next_cell(h, &c, &err) == RC_OK)
			if (c.type == CELL_PUT && c.ts < least)
				least = c.ts;
		hfile_close(h);
	}
	return least;
}

static void put_compacted(struct rig *t, size_t family, bool upper, int64_t now_ms, struct buf *out)
{
	struct query_file of[FILES_MOST];
	struct compaction *c;
	struct error err;
	struct cell cell;
	size_t n = 0;

	for (size_t i = 0; i < t->nfiles; i++)
		if (t->files[i].family == family && t->upper[i] == upper)
			of[n++] = t->files[i];
	const struct compaction_options o = {.now_ms = now_ms, .earliest_put = earliest_put(of, n)};
	assert_int_equal(compaction_open(&c, &t->families[family], of, n, &o, &err), 0);
	int rc;
	while ((rc = compaction_next(c, &cell, &err)) == RC_OK)
		put_cell(out, &cell, letter_of(cell.type));
	assert_int_equal(rc, RC_END);
	compaction_close(c);
}

/* Appends the cells of the files of a family in a region, as HBase's compaction wrote them. */
static void put_files(struct rig *t, const json_t *list, size_t family, bool upper, struct buf *out)
{
	size_t i, k;
	json_t *f, *cell;

	json_array_foreach(list, i, f)
	{
		const char *region = json_string_value(json_object_get(f, "region"));

		if (family_of(t, json_string_value(json_object_get(f, "family"))) != family ||
		    (region && *region) != upper)
			continue;
		json_array_foreach(json_object_get(f, "cells"), k, cell)
		{
			struct cell c = read_cell(&t->arena, cell);

			c.family = t->families[family].name;
			put_cell(out, &c, letter_of(c.type));
		}
	}
}

/* Returns 1 if the case is a major compaction. */
static unsigned compact(struct rig *t, const json_t *one, int64_t now_ms, const char *id)
{
	struct buf want = {0}, got = {0};

	if (strcmp(string_of(json_object_get(one, "question"), "op"), "major_compact") != 0)
		return 0;
	for (size_t f = 0; f < t->nfamilies; f++)
		for (unsigned upper = 0; upper < 2; upper++) {
			put_files(t, json_object_get(one, "files"), f, upper, &want);
			put_compacted(t, f, upper, now_ms, &got);
		}
	buf_put(&want, 0);
	buf_put(&got, 0);
	if (strcmp((char *)want.ptr, (char *)got.ptr) != 0)
		fail_msg("table %s: compaction\nexpected\n%s\nfound\n%s", id, want.ptr, got.ptr);
	buf_release(&want);
	buf_release(&got);
	return 1;
}

static unsigned compactions;

static unsigned ask_table(const json_t *j)
{
	static struct rig t;
	unsigned asked = 0;
	size_t i;
	json_t *v;

	if (has_latest(j))
		return 0;
	t = (struct rig){.split = json_object_get(json_object_get(j, "table"), "splits")};
	json_array_foreach(json_object_get(json_object_get(j, "table"), "families"), i, v)
		read_family(&t, v);
	json_array_foreach(json_object_get(j, "files"), i, v) read_file(&t, v);
	json_array_foreach(json_object_get(j, "cases"), i, v)
	{
		asked += ask(&t, v, number(j, "now_ms", 0), string_of(j, "id"), i);
		compactions += compact(&t, v, number(j, "now_ms", 0), string_of(j, "id"));
	}
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
	assert_true(asked > 960);
	print_message("%u major compactions\n", compactions);
	assert_int_equal(compactions, 40);
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
