/*
 * test_publish_verify.c - tests that a sound load has no problem, and that verify finds each kind
 * of damage
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/load_rig.h"
#include "publish.h"

#define CSV "id,n,at\na,1,100\nc,3,102\nb,2,101\nd,4,103\n"

static struct load_result loaded;
static char first_file[300]; /* a path of the load, relative to the load's folder */

static int load_once(void **state)
{
	struct job job;
	struct error err;

	if (setup(state))
		return -1;
	open_job(&job, JOB, CSV);
	int rc = load_as(&job, "sound", 0, &loaded, &err);
	job_release(&job);
	if (rc == RC_OK)
		snprintf(first_file, sizeof first_file, "%s",
			 loaded.manifest.tables[0].files[0].path);
	return rc;
}

static int drop(void **state)
{
	load_result_release(&loaded);
	return teardown(state);
}

/* Copies the sound load with the system's own tool. */
static char *copy_load(const char *name)
{
	static char path[300];
	char *command = mem_format("cp -r %s/sound %s/%s", dir, dir, name);

	assert_int_equal(system(command), 0);
	mem_free(command);
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void verify(struct verify_result *r, const char *folder)
{
	struct error err;

	if (verify_load(r, folder, 2, NULL, NULL, &err))
		fail_msg("%s", err.msg);
}

/* Checks that a problem names a path with this ending. */
static void expect_problem(const char *folder, const char *path)
{
	struct verify_result r;
	bool found = false;

	verify(&r, folder);
	assert_true(r.findings.problems > 0);
	for (size_t i = 0; i < r.findings.count; i++) {
		const struct finding *f = &r.findings.item[i];
		size_t n = strlen(f->path), m = strlen(path);

		found = found || (f->problem && n >= m && !strcmp(f->path + n - m, path));
	}
	if (!found)
		fail_msg("no problem with %s", path);
	verify_release(&r);
}

static void test_sound(void **state)
{
	struct verify_result r;

	(void)state;
	verify(&r, copy_load("copy"));
	assert_int_equal(r.findings.problems, 0);
	assert_true(r.findings.count > 0 && r.files == 2 && r.rows == 4 && r.cells == 4);
	verify_release(&r);
}

static void change_byte(const char *path, long at)
{
	FILE *f = fopen(path, "r+b");
	assert_non_null(f);
	assert_int_equal(fseek(f, at, at < 0 ? SEEK_END : SEEK_SET), 0);
	int c = fgetc(f);
	assert_int_equal(fseek(f, -1, SEEK_CUR), 0);
	fputc(c ^ 0x20, f);
	assert_int_equal(fclose(f), 0);
}

static void test_a_changed_byte(void **state)
{
	static const char *const files[] = {"t/splits.txt", "t/create.rb", "manifest.json"};
	char name[40], path[700];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "changed%zu", i);
		const char *folder = copy_load(name);
		snprintf(path, sizeof path, "%s/%s", folder, files[i]);
		change_byte(path, i == 2 ? 1 : 0); /* splits.txt has only one byte, "c" */
		expect_problem(folder, files[i]);
	}
	for (long at = 0; at < 200; at += 37) { /* a block with header and checksums */
		snprintf(name, sizeof name, "block%ld", at);
		const char *folder = copy_load(name);
		snprintf(path, sizeof path, "%s/%s", folder, first_file);
		change_byte(path, at);
		expect_problem(folder, first_file);
	}
}

static void test_a_missing_or_strange_file(void **state)
{
	char path[700];

	(void)state;
	const char *folder = copy_load("missing");
	snprintf(path, sizeof path, "%s/%s", folder, first_file);
	assert_int_equal(unlink(path), 0);
	expect_problem(folder, first_file);
	folder = copy_load("strange");
	snprintf(path, sizeof path, "%s/t/hfiles/f/0123456789abcdef0123456789abcdef", folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	expect_problem(folder, "t/hfiles/f/0123456789abcdef0123456789abcdef");
}

static void test_no_load(void **state)
{
	(void)state;
	char *folder = mem_format("%s/nothing", dir);
	assert_int_equal(mkdir(folder, 0755), 0);
	expect_problem(folder, "manifest.json");
	mem_free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_a_changed_byte),
		cmocka_unit_test(test_a_missing_or_strange_file),
		cmocka_unit_test(test_no_load),
	};

	return cmocka_run_group_tests(tests, load_once, drop);
}
