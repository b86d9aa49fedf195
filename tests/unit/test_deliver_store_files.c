/*
 * Tests the search for a load's files in HBase's folders. tests/hbase/test_apply.py shows the
 * folders of a real HBase.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "mem.h"
#include "pipeline/deliver/apply/applying.h"
#include "pool.h"
#include "tests/unit/a_folder.h"

#define A "0123456789abcdef0123456789abcdef"
#define B "11111111111111111111111111111111"

struct rig {
	const char *root;
	char *token;
	struct applied table;
	struct applying run;
	struct apply_options opt;
	struct apply_table result;
	struct hand_file files[3];
	struct hand_file *all[3];
	bool in[3];
};

/* Writes a file below the root, and returns its inode number. */
static uint64_t put(const struct rig *r, const char *path)
{
	struct error err;
	struct stat st;
	char *whole = mem_format("%s/%s", r->root, path);
	char *slash = strrchr(whole, '/');

	*slash = 0;
	assert_int_equal(storage_make_dirs(r->run.storage, whole, 0755, &err), RC_OK);
	*slash = '/';
	assert_int_equal(io_write_file(whole, bytes_str("x"), &err), RC_OK);
	assert_int_equal(stat(whole, &st), 0);
	mem_free(whole);
	return st.st_ino;
}

/* Two files of family f and one of g, none of which HBase has. */
static void begin(struct rig *r, const char *root)
{
	static const char *const families[] = {"f", "f", "g"}, *const names[] = {"u0", "u1", "u2"};
	struct error err;

	*r = (struct rig){.root = root, .token = mem_format("hdfs://nn%s/staging/me__t__1", root)};
	r->run.opt = &r->opt;
	r->result.name = "t";
	r->table.run = &r->run;
	r->table.result = &r->result;
	r->table.token = r->token;
	assert_int_equal(storage_open(&r->run.storage, root, NULL, &err), RC_OK);
	for (size_t i = 0; i < 3; i++) {
		r->files[i] = (struct hand_file){.family = families[i], .id = put(r, names[i])};
		r->all[i] = &r->files[i];
	}
}

static void end(struct rig *r)
{
	storage_close(r->run.storage);
	mem_free(r->token);
}

static int find(struct rig *r, const char *region, struct error *err)
{
	const struct hbase_region at = {.name = bytes_str(region ? region : "")};

	memset(r->in, 0, sizeof r->in);
	return store_files_find(&r->table, region ? &at : NULL, r->all, 3, r->in, err);
}

static void test_found(void **state)
{
	struct rig r;
	struct error err;

	begin(&r, *state);
	/* HBase has no folder of the table yet */
	assert_int_equal(find(&r, NULL, &err), RC_OK);
	assert_false(r.in[0] || r.in[1] || r.in[2]);
	r.files[0].id = put(&r, "data/default/t/" A "/f/a");
	r.files[1].id = put(&r, "archive/data/default/t/" A "/f/b");
	r.files[2].id = put(&r, "data/default/t/" B "/g/c");
	put(&r, "data/default/t/" B "/f/other");
	assert_int_equal(find(&r, "t,,1." A ".", &err), RC_OK);
	assert_true(r.in[0] && r.in[1] && !r.in[2]);
	assert_int_equal(find(&r, "t,k,1." B ".", &err), RC_OK);
	assert_true(!r.in[0] && !r.in[1] && r.in[2]);
	assert_int_equal(find(&r, NULL, &err), RC_OK);
	assert_true(r.in[0] && r.in[1] && r.in[2]);
	/* a file in the folder of another family is not this file */
	r.files[2].family = "f";
	assert_int_equal(find(&r, NULL, &err), RC_OK);
	assert_false(r.in[2]);
	/* a file without an id is never found */
	r.files[0].id = 0;
	assert_int_equal(find(&r, NULL, &err), RC_OK);
	assert_false(r.in[0]);
	assert_false(r.table.unreadable);
	end(&r);
}

/* A folder that is there but cannot be listed is an error with a reason. */
static void test_not_listed(void **state)
{
	struct rig r;
	struct error err = {0};

	begin(&r, *state);
	put(&r, "data/default/t/" A "/f");
	assert_int_equal(find(&r, "t,,1." A ".", &err), RC_IO);
	assert_int_equal(err.code, RC_IO);
	assert_non_null(strstr(err.msg, "cannot list"));
	assert_non_null(strstr(err.msg, "/data/default/t/" A "/f"));
	end(&r);
}

/* A signal ends the search on a server that does not answer, with the signal as reason. */
static void test_stopped(void **state)
{
	struct rig r;
	struct error err = {0};

	begin(&r, *state);
	storage_close(r.run.storage);
	assert_int_equal(storage_open(&r.run.storage, "webhdfs://127.0.0.1:1/x", NULL, &err),
			 RC_OK);
	stop_flag = SIGTERM;
	assert_int_equal(find(&r, "t,,1." A ".", &err), RC_STOPPED);
	assert_int_equal(err.code, RC_STOPPED);
	assert_non_null(strstr(err.msg, "stopped by a signal"));
	stop_flag = 0;
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_found, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_listed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stopped, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
