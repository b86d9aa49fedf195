/* The folder of cut files: made where nothing is, and removed without anything of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "io.h"
#include "mem.h"
#include "pipeline/apply/applying.h"

#define PART "9f8e7d6c5b4a39210123456789abcdef"

struct place {
	char *dir, *parts;
	struct apply_options opt;
	struct apply_result result;
	struct applying run;
};

static char *below(const char *dir, const char *name)
{
	return mem_format("%s/%s", dir, name);
}

static void write_file(const char *dir, const char *name)
{
	struct error err = {0};
	char *path = below(dir, name);
	assert_int_equal(io_write_file(path, bytes_str("x"), &err), 0);
	mem_free(path);
}

static bool is_there(const char *dir, const char *name)
{
	char *path = below(dir, name);
	bool there = access(path, F_OK) == 0;
	mem_free(path);
	return there;
}

/* As `apply --journal DIR/orders` has it, with a folder of the parts' name. */
static void begin(struct place *p)
{
	struct error err = {0};
	*p = (struct place){0};
	assert_int_equal(io_make_temp_dir(&p->dir, "/tmp", "cut", &err), 0);
	p->run = (struct applying){.opt = &p->opt,
				   .result = &p->result,
				   .journal = {.fd = -1, .path = below(p->dir, "orders")},
				   .cut_lock = PTHREAD_MUTEX_INITIALIZER};
	p->parts = below(p->dir, "orders.saltmill-parts");
	assert_int_equal(io_make_dir(p->parts, &err), 0);
}

static void end(struct place *p)
{
	struct error err = {0};
	assert_int_equal(io_remove_tree(p->dir, &err), 0);
	arena_release(&p->result.arena);
	mem_free(p->run.journal.path);
	mem_free(p->parts);
	mem_free(p->dir);
}

static void test_nothing_was_cut(void **state)
{
	struct place p;
	struct error err = {0};
	(void)state;
	begin(&p);
	char *older = below(p.dir, "orders-parts");
	assert_int_equal(io_make_dir(older, &err), 0);
	write_file(older, PART);
	write_file(p.parts, PART);
	assert_int_equal(cut_forget(&p.run, &err), 0);
	assert_true(is_there(older, PART));
	assert_true(is_there(p.parts, PART));
	mem_free(older);
	end(&p);
}

static void test_only_parts_go(void **state)
{
	struct place p;
	struct error err = {0};
	(void)state;
	begin(&p);
	p.run.cut_begun = true;
	write_file(p.parts, PART);
	write_file(p.parts, ".cut-0-17-1");
	write_file(p.parts, "orders.csv");
	write_file(p.parts, PART "0");
	assert_int_equal(cut_forget(&p.run, &err), 0);
	assert_false(is_there(p.parts, PART));
	assert_false(is_there(p.parts, ".cut-0-17-1"));
	assert_true(is_there(p.parts, "orders.csv"));
	assert_true(is_there(p.parts, PART "0"));
	assert_int_equal(p.result.nwarnings, 1);
	assert_non_null(strstr(p.result.warnings[0], "orders.saltmill-parts is left: "));
	end(&p);
}

static void test_all_goes(void **state)
{
	struct place p;
	struct error err = {0};
	(void)state;
	begin(&p);
	p.run.cut_begun = true;
	write_file(p.parts, PART);
	write_file(p.parts, ".cut-0-17-1");
	assert_int_equal(cut_forget(&p.run, &err), 0);
	assert_false(is_there(p.dir, "orders.saltmill-parts"));
	assert_int_equal(cut_forget(&p.run, &err), 0); /* a run died behind it */
	assert_int_equal(p.result.nwarnings, 0);
	end(&p);
}

/* Somebody's folder is not written to, nor noted as this load's. */
static void test_folder_of_others(void **state)
{
	struct place p;
	struct source_file source = {.bytes = 1, .cells = 1};
	struct hbase_regions regions = {0};
	struct hand_file file = {0};
	struct buf words = {0};
	struct error err = {0};
	uint64_t bytes;
	(void)state;
	begin(&p);
	struct applied table = {.sources = &source, .hand = {.files = &file}, .run = &p.run};
	char *path = below(p.dir, "file");
	write_file(p.dir, "file");
	source.path = path;
	assert_int_equal(io_digest_file(path, source.digest, &bytes, &err), 0);
	assert_int_equal(cut_at_regions(&table, &file, &regions, &words, &err), RC_CONFIG);
	char *said = mem_format("%s is there, and not of this load: files that are cut again would "
				"wait there; move it away, or --journal names another place",
				p.parts);
	assert_string_equal(err.msg, said);
	assert_false(p.run.cut_begun);
	mem_free(said);
	mem_free(path);
	buf_release(&words);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_was_cut),
		cmocka_unit_test(test_only_parts_go),
		cmocka_unit_test(test_all_goes),
		cmocka_unit_test(test_folder_of_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
