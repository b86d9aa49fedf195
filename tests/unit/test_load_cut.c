/*
 * test_load_cut.c - compares the cut with an oracle, which is a plain list of all cells, in which
 * the last (or first) input wins
 *
 * Events pass through row_encode, the sorter and the cut into files. The test reads the files'
 * cells.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "io.h"
#include "pipeline/load/cut/gather.h"

#define MOST 4000

#define ROW_BYTES 640 /* more than the cut's buffer holds */

/* An event of the test, with three columns as text. */
struct cut_event {
	char row[ROW_BYTES], ts[12], a[8], b[8], extra[8];
};

struct stored { /* a cell from the oracle or the files */
	char row[ROW_BYTES], family[4], qualifier[12], value[8];
	long long ts;
};

struct fixture {
	struct job job;
	struct field fields[5];
	struct job_table table;
	struct family families[2];
	struct key_part rowkey[1], qualifiers[3];
	struct cell_spec cells[3];
	struct row_plan *plan;
	struct record records[MOST];
	size_t nrecords;
	char dir[64];
};

static const char *const columns[] = {"row", "ts", "a", "b", "extra"};

/* The families are f (qualifiers a, b) and g (one cell whose qualifier is constant or computed). */
static void setup_job(struct fixture *f, bool computed, enum duplicates duplicates)
{
	static const char *nulls[] = {""};

	memset(f, 0, sizeof *f);
	for (size_t i = 0; i < 5; i++)
		f->fields[i] = (struct field){.name = columns[i],
					      .type = FIELD_TEXT,
					      .columns = &((const char **)(uintptr_t)columns)[i],
					      .ncolumns = 1};
	f->fields[1].type = FIELD_TIME;
	f->fields[1].unit = TIME_MS;
	f->families[0] = (struct family){.name = "f",
					 .codec = CODEC_NONE,
					 .bloom = BLOOM_ROW,
					 .block_bytes = 512};
	f->families[1] = (struct family){.name = "g",
					 .codec = CODEC_NONE,
					 .bloom = BLOOM_NONE,
					 .block_bytes = 512};
	f->rowkey[0] = (struct key_part){.kind = PART_FIELD,
					 .field = 0,
					 .as = AS_TEXT,
					 .terminator = NO_TERMINATOR};
	f->qualifiers[0] = (struct key_part){.kind = PART_CONST, .constant = bytes_str("b")};
	f->qualifiers[1] = (struct key_part){.kind = PART_CONST, .constant = bytes_str("a")};
	f->qualifiers[2] =
		computed ? (struct key_part){.kind = PART_FIELD,
					     .field = 4,
					     .as = AS_TEXT,
					     .terminator = NO_TERMINATOR}
			 : (struct key_part){.kind = PART_CONST, .constant = bytes_str("x")};
	f->cells[0] = (struct cell_spec){.family = 0,
					 .qualifier = &f->qualifiers[0],
					 .nqualifier = 1,
					 .qualifier_constant = true,
					 .field = 3,
					 .as = AS_TEXT,
					 .optional = true};
	f->cells[1] = (struct cell_spec){.family = 0,
					 .qualifier = &f->qualifiers[1],
					 .nqualifier = 1,
					 .qualifier_constant = true,
					 .field = 2,
					 .as = AS_TEXT,
					 .optional = true};
	f->cells[2] = (struct cell_spec){.family = 1,
					 .qualifier = &f->qualifiers[2],
					 .nqualifier = 1,
					 .qualifier_constant = !computed,
					 .field = 2,
					 .as = AS_TEXT,
					 .optional = true};
	f->cells[1].ttl_ms = computed ? 5000 : 0;
	f->table =
		(struct job_table){.schema = {.name = "t", .families = f->families, .nfamilies = 2},
				   .rowkey = f->rowkey,
				   .nrowkey = 1,
				   .timestamp_field = 1,
				   .cells = f->cells,
				   .ncells = 3,
				   .duplicates = duplicates};
	f->job = (struct job){.fields = f->fields,
			      .nfields = 5,
			      .tables = &f->table,
			      .ntables = 1,
			      .csv = {.delimiter = ',', .quote = '"', .nulls = nulls, .nnulls = 1}};
	struct error err;
	assert_int_equal(row_plan_new(&f->plan, &f->job, columns, 5, &err), 0);
	strcpy(f->dir, "/tmp/saltmill-cut-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	for (size_t i = 0; i < 2; i++) {
		char *d = mem_format("%s/%s", f->dir, f->families[i].name);

		assert_int_equal(io_make_dir(d, &err), 0);
		mem_free(d);
	}
}

static void teardown_job(struct fixture *f)
{
	struct error err;

	for (size_t i = 0; i < f->nrecords; i++) {
		mem_free((void *)(uintptr_t)f->records[i].key.ptr);
		mem_free((void *)(uintptr_t)f->records[i].payload.ptr);
		mem_free((void *)(uintptr_t)f->records[i].secondary);
	}
	row_plan_free(f->plan);
	assert_int_equal(io_remove_tree(f->dir, &err), 0);
}

static void *copy(const void *p, size_t n)
{
	void *c = mem_alloc(n);

	if (n)
		memcpy(c, p, n);
	return c;
}

static void encode(struct fixture *f, const struct cut_event *in, size_t n)
{
	struct row_encoder *e = row_encoder_new(f->plan);
	size_t secondary = row_secondary_bytes(f->plan, 0);

	for (size_t i = 0; i < n; i++) {
		const char *text[] = {in[i].row, in[i].ts, in[i].a, in[i].b, in[i].extra};
		struct column c[5];

		for (size_t k = 0; k < 5; k++)
			c[k] = (struct column){.ptr = (const uint8_t *)text[k],
					       .len = (uint32_t)strlen(text[k])};
		struct event ev = {.columns = c, .ncolumns = 5, .seq = i};
		struct record r;
		struct reject why;
		assert_int_equal(row_encode(e, &ev, &r, &why), 0);
		if (r.key.len == 0)
			continue;
		f->records[f->nrecords++] =
			(struct record){.key = bytes_of(copy(r.key.ptr, r.key.len), r.key.len),
					.secondary = copy(r.secondary, secondary),
					.payload = bytes_of(copy(r.payload.ptr, r.payload.len),
							    r.payload.len),
					.seq = i};
	}
	row_encoder_free(e);
}

/* Puts the records into a sorter, as a load does. *it iterates over all of them. */
static struct sorter *sort_records(const struct fixture *f, struct budget *budget,
				   struct record_iter *it)
{
	struct sorter_options so = {.budget = budget,
				    .temp_dir = f->dir,
				    .threads = 1,
				    .secondary_bytes = row_secondary_bytes(f->plan, 0),
				    .run_bytes = 4096};
	struct sorter *s = sorter_new(&so);
	struct bytes none = {0};
	struct error err;

	for (size_t i = 0; i < f->nrecords; i++)
		assert_int_equal(run_builder_add(sorter_builder(s, 0), &f->records[i], &err), 0);
	assert_int_equal(sorter_finish(s, &err), 0);
	assert_int_equal(sorter_range(s, none, none, it, &err), 0);
	return s;
}

/* --- the oracle --- */

static bool same_cell(const struct stored *a, const struct stored *b)
{
	return !strcmp(a->row, b->row) && !strcmp(a->family, b->family) &&
	       !strcmp(a->qualifier, b->qualifier) && a->ts == b->ts;
}

static size_t oracle(const struct cut_event *in, size_t n, bool computed, bool first_wins,
		     struct stored *out, size_t *dropped_events)
{
	static size_t owner[3 * MOST];
	static int left[MOST];
	size_t cells = 0;

	for (size_t i = 0; i < n; i++) {
		struct stored c[3];
		int k = 0;

		memset(c, 0, sizeof c);
		if (*in[i].b)
			strcpy(c[k].qualifier, "b"), strcpy(c[k].family, "f"),
				strcpy(c[k++].value, in[i].b);
		if (*in[i].a)
			strcpy(c[k].qualifier, "a"), strcpy(c[k].family, "f"),
				strcpy(c[k++].value, in[i].a);
		if (*in[i].a && (!computed || *in[i].extra))
			strcpy(c[k].qualifier, computed ? in[i].extra : "x"),
				strcpy(c[k].family, "g"), strcpy(c[k++].value, in[i].a);
		left[i] = 0;
		for (int j = 0; j < k; j++) {
			strcpy(c[j].row, in[i].row);
			c[j].ts = atoll(in[i].ts);
			size_t at = 0;
			while (at < cells && !same_cell(&out[at], &c[j]))
				at++;
			if (at == cells)
				cells++;
			else if (first_wins)
				continue;
			else
				left[owner[at]]--;
			out[at] = c[j];
			owner[at] = i;
			left[i]++;
		}
		if (k == 0)
			left[i] = 1; /* this counts only events without cells */
	}
	*dropped_events = 0;
	for (size_t i = 0; i < n; i++)
		*dropped_events += left[i] == 0;
	return cells;
}

static int stored_cmp(const void *pa, const void *pb)
{
	const struct stored *a = pa, *b = pb;
	int c = strcmp(a->family, b->family);

	if (!c)
		c = strcmp(a->row, b->row);
	if (!c)
		c = strcmp(a->qualifier, b->qualifier);
	return c ? c : (a->ts < b->ts) - (a->ts > b->ts);
}

static void text_of(char *to, size_t size, struct bytes b)
{
	assert_true(b.len < size);
	memcpy(to, b.ptr, b.len);
	to[b.len] = 0;
}

/* Only the cells of qualifier a have a TTL, and the number is that of setup_job. */
static void expect_ttl(const struct fixture *f, const struct cell *c)
{
	static const uint8_t tag[] = {0, 9, 8, 0, 0, 0, 0, 0, 0, 0x13, 0x88};
	bool has = f->cells[1].ttl_ms && bytes_eq(c->qualifier, bytes_str("a")) &&
		   bytes_eq(c->family, bytes_str("f"));

	assert_int_equal(c->tags.len, has ? sizeof tag : 0);
	if (has)
		assert_memory_equal(c->tags.ptr, tag, sizeof tag);
}

static size_t read_back(const struct fixture *f, const struct cut_result *r, struct stored *out)
{
	size_t n = 0;
	struct error err;

	for (size_t i = 0; i < r->nfiles; i++) {
		const char *family = f->families[r->files[i].family].name;
		char *path = mem_format("%s/%s/%s", f->dir, family, r->files[i].name);
		struct hfile *h;
		struct cell c;

		assert_int_equal(hfile_open(&h, path, &err), 0);
		hfile_rewind(h);
		while (hfile_next_cell(h, &c, &err) == RC_OK) {
			struct stored *s = &out[n++];

			memset(s, 0, sizeof *s);
			text_of(s->row, sizeof s->row, c.row);
			text_of(s->family, sizeof s->family, c.family);
			text_of(s->qualifier, sizeof s->qualifier, c.qualifier);
			text_of(s->value, sizeof s->value, c.value);
			s->ts = c.ts;
			expect_ttl(f, &c);
		}
		hfile_close(h);
		mem_free(path);
	}
	return n;
}

/* If `alone`, records arrive one by one. */
static void cut_case(const struct cut_event *in, size_t n, bool computed, enum duplicates d,
		     uint64_t gather_bytes, bool alone)
{
	static struct fixture f;
	static struct stored want[3 * MOST], got[3 * MOST];

	setup_job(&f, computed, d);
	encode(&f, in, n);
	struct budget budget = {.limit = 1 << 20};
	struct record_iter it;
	struct error err;
	struct cut_result r;
	struct cutter *c = cutter_new();
	struct cut_table t = {.plan = f.plan,
			      .table = &f.table,
			      .hfiles_dir = f.dir,
			      .created_ms = 1,
			      .rows = sort_records(&f, &budget, &it),
			      .budget = &budget,
			      .temp_dir = f.dir,
			      .gather_bytes = gather_bytes};
	if (alone)
		it.next_many = NULL;
	assert_int_equal(cut_region(c, &t, 0, &it, &r, &err), 0);
	size_t dropped, wanted = oracle(in, n, computed, d == DUPLICATES_FIRST, want, &dropped);
	size_t found = read_back(&f, &r, got);
	qsort(want, wanted, sizeof *want, stored_cmp);
	assert_int_equal(found, wanted);
	assert_int_equal(r.cells, wanted);
	for (size_t i = 0; i < wanted; i++)
		assert_memory_equal(&got[i], &want[i],
				    sizeof got[i]); /* file order equals HBase's order */
	assert_int_equal(r.deduplicated, dropped);
	assert_int_equal(r.loaded + r.deduplicated, f.nrecords);
	cut_result_release(&r);
	cutter_free(c);
	sorter_free(t.rows);
	teardown_job(&f);
}

static uint32_t random_state = 7;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % n;
}

/* `longest` is the length of row keys; each key depends only on its number */
static void random_inputs(struct cut_event *in, size_t n, uint32_t rows, uint32_t times,
			  uint32_t longest)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t number = random_below(rows);
		int wide = longest ? (int)(number * 7919 % longest) : 1;

		snprintf(in[i].row, sizeof in[i].row, "r%0*u", wide, number);
		snprintf(in[i].ts, sizeof in[i].ts, "%u", 100 + random_below(times));
		in[i].a[0] = in[i].b[0] = 0;
		if (random_below(4))
			snprintf(in[i].a, sizeof in[i].a, "a%u", random_below(1000));
		if (random_below(4))
			snprintf(in[i].b, sizeof in[i].b, "b%u", random_below(1000));
		snprintf(in[i].extra, sizeof in[i].extra, "q%u", random_below(9));
	}
}

static void test_against_oracle(void **state)
{
	(void)state;
	static struct cut_event in[MOST];
	static const struct {
		uint32_t n, rows, times, longest;
	} shapes[] = {{1, 1, 1, 0},	   {300, 1000, 50, 0},
		      {400, 5, 3, 0},	   {500, 1, 1, 0},
		      {500, 1, 400, 0},	   {600, 40, 4, 0},
		      {300, 1000, 50, 60}, {300, 300, 50, ROW_BYTES - 2}};
	for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
		for (int computed = 0; computed < 2; computed++)
			for (int first = 0; first < 2; first++)
				for (int way = 0; way < 4; way++) {
					random_inputs(in, shapes[s].n, shapes[s].rows,
						      shapes[s].times, shapes[s].longest);
					cut_case(in, shapes[s].n, computed,
						 first ? DUPLICATES_FIRST : DUPLICATES_LAST,
						 way & 1 ? 40 : 0, way & 2);
				}
}

static void test_duplicates_error(void **state)
{
	(void)state;
	static const struct cut_event in[] = {{"r1", "5", "x", "y", "q"},
					      {"r2", "5", "x", "", "q"},
					      {"r2", "5", "z", "", "q"}};
	for (int huge = 0; huge < 2; huge++) {
		static struct fixture f;

		setup_job(&f, false, DUPLICATES_ERROR);
		encode(&f, in, 3);
		struct budget budget = {.limit = 1 << 20};
		struct record_iter it;
		struct error err;
		struct cut_result r;
		struct cutter *c = cutter_new();
		struct cut_table t = {.plan = f.plan,
				      .table = &f.table,
				      .hfiles_dir = f.dir,
				      .rows = sort_records(&f, &budget, &it),
				      .budget = &budget,
				      .temp_dir = f.dir,
				      .gather_bytes = huge ? 1 : 0};
		assert_int_equal(cut_region(c, &t, 0, &it, &r, &err), RC_DATA);
		assert_non_null(strstr(err.msg, "row r2, column f:a, timestamp 5"));
		assert_non_null(strstr(err.msg, "1 and 2"));
		cutter_free(c);
		sorter_free(t.rows);
		teardown_job(&f);
	}
}

/* Keys longer than a message leave the rest of the message readable. */
static void test_duplicates_of_long_keys(void **state)
{
	(void)state;
	static struct fixture f;
	static uint8_t key[32767];
	struct error err;
	memset(key, 0x01, sizeof key);
	setup_job(&f, false, DUPLICATES_ERROR);
	struct cut_table t = {.plan = f.plan, .table = &f.table};
	struct row_cell a = {.cell = {.row = bytes_of(key, sizeof key),
				      .qualifier = bytes_of(key, sizeof key),
				      .ts = 5},
			     .seq = 17};
	struct row_cell b = a;
	b.seq = 39;
	assert_int_equal(duplicate_error(&t, &a, &b, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "row \\x01\\x01"));
	assert_non_null(strstr(err.msg, "timestamp 5"));
	assert_non_null(strstr(err.msg, "17 and 39"));
	assert_non_null(strstr(err.msg, "duplicates: error"));
	teardown_job(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_oracle),
					   cmocka_unit_test(test_duplicates_error),
					   cmocka_unit_test(test_duplicates_of_long_keys)};

	return cmocka_run_group_tests_name("cut", tests, NULL, NULL);
}
