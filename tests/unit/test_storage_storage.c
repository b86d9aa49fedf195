/* test_storage_storage.c - tests storage for files, with URIs and local folders */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "storage.h"
#include "temp_dir.h"

static struct error err;

static struct storage *open_at(const char *uri)
{
	struct storage *s;

	assert_int_equal(storage_open(&s, uri, NULL, &err), RC_OK);
	return s;
}

static enum storage_kind kind_of(struct storage *s, const char *path, struct storage_info *info)
{
	assert_int_equal(storage_stat(s, path, info, &err), RC_OK);
	return info->kind;
}

static void write_text(const char *path, const char *text)
{
	assert_int_equal(io_write_file(path, bytes_str(text), &err), RC_OK);
}

static void assert_holds(struct storage *s, const char *path, const char *text)
{
	struct buf got = {0};

	assert_int_equal(storage_read(s, path, 1000, &got, &err), RC_OK);
	assert_int_equal(got.len, strlen(text));
	assert_memory_equal(got.ptr, text, got.len);
	buf_release(&got);
}

static void uris(void **state)
{
	(void)state;
	static const char *const bad[] = {"gs://bucket/x", "gopher://h/x", "file://host/x"};
	struct storage *s = open_at("file:///a/b//");
	assert_string_equal(storage_path(s), "/a/b");
	char *name = storage_name(s, "/a/b/c");
	assert_string_equal(name, "file:///a/b/c");
	mem_free(name);
	storage_close(s);
	s = open_at("some/where");
	assert_string_equal(storage_path(s), "some/where");
	storage_close(s);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(storage_open(&s, bad[i], NULL, &err), RC_CONFIG);
		assert_null(s);
		assert_non_null(strstr(err.msg, "expected"));
	}
	assert_false(storage_is_remote("/a"));
	assert_false(storage_is_remote("file:///a"));
	assert_false(storage_is_remote("a:b"));
	assert_true(storage_is_remote("s3://bucket/x"));
}

static void written_and_read(void **state)
{
	(void)state;
	struct storage *s = open_at(dir);
	struct storage_file *f;
	struct storage_info info;
	uint8_t digest[16], expected[16];
	uint64_t size;
	char *path = mem_strdup(path_of("written"));
	assert_int_equal(kind_of(s, path, &info), STORAGE_NOTHING);
	assert_int_equal(storage_begin(s, &f, path, 0640, &err), RC_OK);
	assert_int_equal(storage_add(f, "one ", 4, &err), RC_OK);
	assert_int_equal(storage_add(f, "two", 3, &err), RC_OK);
	assert_int_equal(storage_end(f, digest, &err), RC_OK);
	assert_int_equal(io_digest_file(path, expected, &size, &err), RC_OK);
	assert_memory_equal(digest, expected, sizeof digest);
	assert_holds(s, path, "one two");
	assert_int_equal(kind_of(s, path, &info), STORAGE_FILE);
	assert_int_equal(info.bytes, 7);
	assert_int_equal(info.mode, 0640);
	assert_int_not_equal(info.file_id, 0);
	struct buf few = {0};
	assert_int_equal(storage_read(s, path, 6, &few, &err), RC_LIMIT);
	buf_release(&few);
	char part[3];
	assert_int_equal(storage_read_at(s, path, 2, part, sizeof part, &err), RC_OK);
	assert_memory_equal(part, "e t", sizeof part);
	assert_true(storage_read_at(s, path, 5, part, sizeof part, &err) < 0);
	/* a write overwrites no file, and an aborted write leaves no file */
	assert_int_equal(storage_begin(s, &f, path, 0, &err), RC_IO);
	assert_null(f);
	char *other = mem_strdup(path_of("given-up"));
	assert_int_equal(storage_begin(s, &f, other, 0, &err), RC_OK);
	storage_abort(f);
	assert_int_equal(kind_of(s, other, &info), STORAGE_NOTHING);
	mem_free(other);
	mem_free(path);
	storage_close(s);
}

static void put(void **state)
{
	(void)state;
	struct storage *s = open_at(dir);
	struct storage_info info, again;
	bool kept = true;
	char *from = mem_strdup(path_of("from")), *to = mem_strdup(path_of("to"));
	write_text(from, "content");
	/* no folder exists, so all results are reset, whatever they held before */
	memset(&info, 0xff, sizeof info);
	info.kind = STORAGE_FILE;
	assert_int_equal(storage_put(s, from, to, 0600, &info, &kept, &err), RC_OK);
	assert_false(kept);
	assert_int_equal(info.bytes, 7);
	assert_int_equal(info.mode, 0600);
	assert_holds(s, to, "content");
	assert_int_equal(storage_put(s, from, to, 0644, &again, &kept, &err), RC_OK);
	assert_true(kept);
	assert_int_equal(again.file_id, info.file_id);
	assert_int_equal(again.mode, 0644);
	/* of the same length, but different */
	unlink(to);
	write_text(to, "CONTENT");
	assert_int_equal(storage_put(s, from, to, 0, &again, &kept, &err), RC_OK);
	assert_false(kept);
	assert_holds(s, to, "content");
	assert_int_not_equal(storage_put(s, path_of("none"), to, 0, NULL, NULL, &err), RC_OK);
	mem_free(from);
	mem_free(to);
	storage_close(s);
}

static void folders(void **state)
{
	(void)state;
	struct storage *s = open_at(dir);
	struct storage_info info, moved;
	struct storage_entry *e;
	struct arena a = {0};
	size_t n;
	char *top = mem_strdup(path_of("top")), *deep = mem_format("%s/b/c", top);
	char *file = mem_format("%s/b/a", top), *there = mem_strdup(path_of("there"));
	assert_int_equal(storage_make_dirs(s, deep, 01777, &err), RC_OK);
	assert_int_equal(storage_make_dirs(s, deep, 0700, &err), RC_OK); /* is there */
	assert_int_equal(kind_of(s, deep, &info), STORAGE_FOLDER);
	assert_int_equal(info.mode, 01777);
	write_text(file, "");
	char *b = mem_format("%s/b", top);
	assert_int_equal(storage_list(s, b, &a, &e, &n, &err), RC_OK);
	assert_int_equal(n, 2);
	assert_string_equal(e[0].name, "a");
	assert_int_equal(e[0].info.kind, STORAGE_FILE);
	assert_string_equal(e[1].name, "c");
	assert_int_equal(storage_list(s, file, &a, &e, &n, &err), RC_IO);
	assert_int_equal(storage_make_dirs(s, file, 0, &err), RC_IO); /* a file has the name */
	/* a moved folder keeps its id, and a move overwrites nothing */
	assert_int_equal(kind_of(s, b, &info), STORAGE_FOLDER);
	assert_int_equal(storage_move(s, b, there, &err), RC_OK);
	assert_int_equal(kind_of(s, there, &moved), STORAGE_FOLDER);
	assert_int_equal(moved.file_id, info.file_id);
	assert_int_equal(storage_make_dirs(s, b, 0, &err), RC_OK);
	assert_int_equal(storage_move(s, b, there, &err), RC_IO);
	assert_int_equal(storage_remove(s, there, &err), RC_OK);
	assert_int_equal(kind_of(s, there, &info), STORAGE_NOTHING);
	assert_int_equal(storage_remove(s, there, &err), RC_OK);
	arena_release(&a);
	mem_free(b);
	mem_free(there);
	mem_free(file);
	mem_free(deep);
	mem_free(top);
	storage_close(s);
}

/* Region servers need such a token on a secured cluster, and only HDFS gives one. */
static void no_token(void **state)
{
	struct storage *s = open_at("file:///var/hbase");
	struct storage_token token;

	(void)state;
	assert_int_equal(storage_token(s, "file:///var/hbase", &token, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "file:///var/hbase: no delegation token: found a file "
					"system of this machine, expected HDFS"));
	assert_non_null(strstr(err.msg, "keep HBase's files (hbase.rootdir) and the load's upload "
					"in HDFS, or both in S3"));
	assert_null(token.raw.ptr);
	storage_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uris),	    cmocka_unit_test(written_and_read),
		cmocka_unit_test(put),	    cmocka_unit_test(folders),
		cmocka_unit_test(no_token),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
