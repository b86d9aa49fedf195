/*
 * test_base_syncer.c - a thread syncs files completely and reports each failure
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "pool.h"

struct folder {
	char path[64];
	struct syncer *syncer;
};

enum { FILES = 200, WORKERS = 4 };

static int write_one(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct folder *f = ctx;
	struct out_file o;

	(void)worker;
	char *path = mem_format("%s/%zu", f->path, index);
	int rc = out_open(&o, path, 0, err);
	for (size_t i = 0; rc == RC_OK && i <= index; i++)
		out_write(&o, &index, sizeof index);
	if (rc == RC_OK)
		rc = out_finish_later(&o, f->syncer, err);
	mem_free(path);
	return rc;
}

static void test_many_files(void **state)
{
	(void)state;
	for (int with = 0; with < 2; with++) {
		struct folder f = {.path = "/tmp/saltmill-syncer-XXXXXX"};
		struct error err;

		assert_non_null(mkdtemp(f.path));
		f.syncer = with ? syncer_new() : NULL;
		assert_int_equal(pool_run(WORKERS, FILES, write_one, &f, &err), RC_OK);
		assert_int_equal(syncer_finish(f.syncer, &err), RC_OK);
		for (size_t i = 0; i < FILES; i++) {
			struct buf b = {0};
			char *path = mem_format("%s/%zu", f.path, i);

			assert_int_equal(io_read_file(path, &b, &err), RC_OK);
			assert_int_equal(b.len, (i + 1) * sizeof i);
			for (size_t k = 0; k <= i; k++)
				assert_memory_equal(b.ptr + k * sizeof i, &i, sizeof i);
			buf_release(&b);
			mem_free(path);
		}
		assert_int_equal(io_remove_tree(f.path, &err), RC_OK);
	}
}

/* Tests a pipe, on which fsync fails. */
static void test_failure(void **state)
{
	(void)state;
	struct syncer *s = syncer_new();
	struct error err;
	int ends[2], fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_int_equal(pipe(ends), 0);
	assert_true(fd >= 0);
	assert_true(syncer_take(s, ends[1], "the/pipe"));
	assert_int_equal(syncer_finish(s, &err), RC_IO);
	assert_non_null(strstr(err.msg, "cannot write the/pipe"));
	char byte;
	assert_int_equal(read(ends[0], &byte, 1), 0); /* a failed sync closes the file too */
	close(ends[0]);
	assert_false(syncer_take(NULL, fd, "x"));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_files),
		cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
