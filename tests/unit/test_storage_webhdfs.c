/*
 * test_storage_webhdfs.c - tests storage on HDFS with a small server that follows HDFS's rules and
 * fails on request (fake_webhdfs.py). The test compares the checksum with that of a real HDFS.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "pipeline/storage/hdfs_sum.h"
#include "pool.h"
#include "storage.h"
#include "temp_dir.h"

static struct error err;
static unsigned port, standby_port;
static pid_t server;
static int server_input;

static int start_server(void **state)
{
	int in[2], out[2];
	char line[64] = "";

	if (setup(state) || pipe(in) || pipe(out) || (server = fork()) < 0)
		return -1;
	if (server == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		execlp("python3", "python3", "tests/unit/fake_webhdfs.py", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	server_input = in[1];
	FILE *f = fdopen(out[0], "r");
	bool ok = f && fgets(line, sizeof line, f) &&
		  sscanf(line, "%u %u", &port, &standby_port) == 2;
	if (f)
		fclose(f);
	return ok ? 0 : -1;
}

static int stop_server(void **state)
{
	close(server_input);
	waitpid(server, NULL, 0);
	return teardown(state);
}

static struct storage *open_uri(const char *uri, unsigned patience_s)
{
	struct storage *s;
	struct storage_options opt = {.user = "ann", .patience_s = patience_s};

	assert_int_equal(storage_open(&s, uri, &opt, &err), RC_OK);
	return s;
}

static struct storage *open_fake(unsigned patience_s)
{
	char uri[64];

	snprintf(uri, sizeof uri, "webhdfs://127.0.0.1:%u/x", port);
	return open_uri(uri, patience_s);
}

static enum storage_kind kind_of(struct storage *s, const char *path, struct storage_info *info)
{
	assert_int_equal(storage_stat(s, path, info, &err), RC_OK);
	return info->kind;
}

/* Makes a file of `n` bytes with varying content. */
static char *make_file(const char *name, size_t n)
{
	struct buf b = {0};
	char *path = mem_strdup(path_of(name));

	for (size_t i = 0; i < n; i++)
		buf_put(&b, (uint8_t)(i * 7 + i / 251));
	unlink(path);
	assert_int_equal(io_write_file(path, buf_bytes(&b), &err), RC_OK);
	buf_release(&b);
	return path;
}

static void assert_same(struct storage *s, const char *path, const char *local)
{
	struct buf a = {0}, b = {0};

	assert_int_equal(storage_read(s, path, 1 << 24, &a, &err), RC_OK);
	assert_int_equal(io_read_file(local, &b, &err), RC_OK);
	assert_true(bytes_eq(buf_bytes(&a), buf_bytes(&b)));
	uint8_t part[1000];
	size_t n = b.len < sizeof part ? b.len : sizeof part;
	assert_int_equal(storage_read_at(s, path, b.len - n, part, n, &err), RC_OK);
	assert_memory_equal(part, b.ptr + b.len - n, n);
	if (n)
		assert_int_equal(storage_read_at(s, path, b.len - n + 1, part, n, &err), RC_DATA);
	buf_release(&a);
	buf_release(&b);
}

static void assert_said(const char *what)
{
	if (!strstr(err.msg, what))
		fail_msg("\"%s\" is not in: %s", what, err.msg);
}

/* --- the checksum --- */

static void golden_sum(void **state)
{
	(void)state;
	struct hdfs_sum s;
	uint8_t sum[HDFS_SUM_BYTES];
	char hex[2 * HDFS_SUM_BYTES + 1];
	hdfs_sum_start(&s, 128 << 20);
	for (int i = 0; i < 200; i++)
		hdfs_sum_add(&s, (const uint8_t *)"saltmill", 8);
	hdfs_sum_end(&s, sum);
	for (int i = 0; i < HDFS_SUM_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
	assert_string_equal(hex, "000002000000000000000000f3cd3309e6df1dfe257cbd6949545868");
	hdfs_sum_release(&s);
}

/* --- URIs --- */

static void uris(void **state)
{
	(void)state;
	static const char *const bad[] = {"webhdfs:/x",	       "webhdfs://",
					  "webhdfs:///x",      "webhdfs://h:99999/x",
					  "webhdfs://h:port/", "webhdfs://h,,i/x",
					  "webhdfs://a b/x",   "hdfs://h",
					  "webhdfs://h:1/",    "swebhdfs://h:/x",
					  "webhdfs://u@h:1/x"};
	struct storage *s = open_uri("webhdfs://a:1,b:2/bulk/", 1);
	assert_string_equal(storage_path(s), "/bulk");
	assert_string_equal(storage_user(s), "ann");
	char *name = storage_name(s, "/bulk/f");
	assert_string_equal(name, "webhdfs://a:1,b:2/bulk/f");
	mem_free(name);
	storage_close(s);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (storage_open(&s, bad[i], NULL, &err) != RC_CONFIG)
			fail_msg("%s was taken", bad[i]);
		assert_null(s);
		assert_said("expected");
	}
	assert_true(storage_is_remote("hdfs://h/x"));
	assert_true(storage_is_remote("swebhdfs://h:1/x"));
}

/* --- all calls, without faults --- */

static void files(void **state)
{
	(void)state;
	/* around the ends of chunks and blocks of 4,096; a buffer is 256 KiB */
	static const size_t sizes[] = {0, 1, 511, 512, 513, 4095, 4096, 4097, 12288, 40000, 300001};
	struct storage *s = open_fake(10);
	struct storage_info info, again;
	bool kept;
	assert_int_equal(storage_make_dirs(s, "/x/of files", 0750, &err), RC_OK);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char *local = make_file("local", sizes[i]), path[64];

		snprintf(path, sizeof path, "/x/of files/%zu?&%%", sizes[i]);
		assert_int_equal(storage_put(s, local, path, 0666, &info, &kept, &err), RC_OK);
		assert_false(kept);
		assert_int_equal(info.bytes, sizes[i]);
		assert_int_equal(info.mode, 0666);
		assert_string_equal(info.owner, "ann");
		assert_same(s, path, local);
		assert_int_equal(storage_put(s, local, path, 0666, &again, &kept, &err), RC_OK);
		assert_true(kept);
		assert_int_equal(again.file_id, info.file_id);
		mem_free(local);
	}
	storage_close(s);
}

static void streams(void **state)
{
	(void)state;
	struct storage *s = open_fake(10);
	struct storage_file *f;
	uint8_t digest[16], expected[16];
	uint64_t size;
	struct buf all = {0};
	char *local = make_file("streamed", 700001);
	assert_int_equal(io_read_file(local, &all, &err), RC_OK);
	assert_int_equal(storage_make_dirs(s, "/x/streams", 0, &err), RC_OK);
	assert_int_equal(storage_begin(s, &f, "/x/streams/a", 0640, &err), RC_OK);
	for (size_t at = 0, n = 1; at < all.len; at += n, n = n * 3 % 300007) {
		n = n < all.len - at ? n : all.len - at;
		assert_int_equal(storage_add(f, all.ptr + at, n, &err), RC_OK);
	}
	assert_int_equal(storage_end(f, digest, &err), RC_OK);
	assert_int_equal(io_digest_file(local, expected, &size, &err), RC_OK);
	assert_memory_equal(digest, expected, sizeof digest);
	assert_same(s, "/x/streams/a", local);
	/* an existing file stays, even if it appears between the check and the write */
	assert_int_equal(storage_begin(s, &f, "/x/streams/a", 0, &err), RC_IO);
	assert_null(f);
	assert_int_equal(storage_begin(s, &f, "/x/streams/given-up", 0, &err), RC_OK);
	assert_int_equal(storage_add(f, all.ptr, all.len, &err), RC_OK);
	storage_abort(f);
	struct storage_info info;
	assert_int_equal(kind_of(s, "/x/streams/given-up", &info), STORAGE_NOTHING);
	assert_int_equal(kind_of(s, "/x/streams/a", &info), STORAGE_FILE);
	buf_release(&all);
	mem_free(local);
	storage_close(s);
}

/* This server closes the page (tests/cli/test_places.py tests an open one). */
static void room(void **state)
{
	(void)state;
	uint64_t bytes;
	struct storage *s = open_fake(10);
	assert_int_equal(storage_free(s, "/x", &bytes, &err), RC_OK);
	assert_true(bytes == UINT64_MAX);
	storage_close(s);
}

static void names(void **state)
{
	(void)state;
	struct storage *s = open_fake(10);
	struct storage_info info, moved;
	struct storage_entry *e;
	struct arena a = {0};
	size_t n;
	char *local = make_file("some", 100);
	assert_int_equal(storage_make_dirs(s, "/x/names/b", 0, &err), RC_OK);
	assert_int_equal(storage_put(s, local, "/x/names/a", 0, &info, NULL, &err), RC_OK);
	assert_int_equal(storage_list(s, "/x/names", &a, &e, &n, &err), RC_OK);
	assert_int_equal(n, 2);
	assert_string_equal(e[0].name, "a");
	assert_int_equal(e[0].info.bytes, 100);
	assert_int_equal(e[1].info.kind, STORAGE_FOLDER);
	assert_int_equal(storage_list(s, "/x/names/a", &a, &e, &n, &err), RC_IO);
	assert_int_equal(storage_list(s, "/x/none", &a, &e, &n, &err), RC_IO);
	assert_int_equal(storage_move(s, "/x/names/a", "/x/names/c", &err), RC_OK);
	assert_int_equal(kind_of(s, "/x/names/c", &moved), STORAGE_FILE);
	assert_int_equal(moved.file_id, info.file_id);
	assert_int_equal(storage_move(s, "/x/names/c", "/x/names/b", &err), RC_IO);
	assert_said("already");
	assert_int_equal(kind_of(s, "/x/names/b/c", &moved), STORAGE_NOTHING);
	assert_int_equal(storage_move(s, "/x/names/c", "/x/none/c", &err), RC_IO);
	assert_int_equal(storage_move(s, "/x/names/a", "/x/names/d", &err), RC_IO);
	assert_int_equal(storage_make_dirs(s, "/x/names/c", 0, &err), RC_IO);
	assert_int_equal(storage_remove(s, "/x/names", &err), RC_OK);
	assert_int_equal(kind_of(s, "/x/names/b", &info), STORAGE_NOTHING);
	assert_int_equal(storage_remove(s, "/x/names", &err), RC_OK);
	arena_release(&a);
	mem_free(local);
	storage_close(s);
}

/* --- faults --- */

/* Makes one file for each fault, because the server counts faults by file. */
static char *fault_file(struct storage *s, const char *fault, int times)
{
	static int number;

	assert_int_equal(storage_make_dirs(s, "/x/plain", 0, &err), RC_OK);
	return mem_format("/x/plain/%d-fault-%s-%d", ++number, fault, times);
}

static void passing_faults(void **state)
{
	(void)state;
	static const char *const faults[] = {"busy", "safemode", "dead",    "cut",
					     "old",  "garbled",	 "replaced"};
	struct storage *s = open_fake(20);
	char *local = make_file("passing", 30000);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		struct storage_info info;
		char *path = fault_file(s, faults[i], 2);
		int rc = storage_put(s, local, path, 0, &info, NULL, &err);

		if (rc)
			fail_msg("%s: %s", faults[i], err.msg);
		assert_int_equal(info.bytes, 30000);
		assert_same(s, path, local);
		mem_free(path);
	}
	mem_free(local);
	storage_close(s);
}

static void lasting_faults(void **state)
{
	(void)state;
	static const struct {
		const char *fault;
		int code;
		const char *said;
	} faults[] = {
		{"busy", RC_IO, "answers 503"},
		{"safemode", RC_IO, "safe mode and accepts no changes"},
		{"html", RC_IO, "answers 500"},
		{"garbage", RC_IO, "expected JSON with a `FileStatus`"},
		{"huge", RC_IO, "found an answer of more than 1048576 bytes"},
		{"drip", RC_IO, "too slow"},
		{"dead", RC_IO, "cannot write webhdfs://127.0.0.1"},
		{"cut", RC_IO, "cannot write webhdfs://127.0.0.1"},
		{"slow", RC_IO, "accepts fewer than 16 KiB a second"},
		{"garbled", RC_IO, "stored other bytes than saltmill sent: expected 30000 bytes"},
		{"replaced", RC_IO, "does not have any open files"},
		{"full", RC_IO, "no live DataNode has enough free space"},
		{"quota", RC_IO, "has reached its quota of space"},
		{"denied", RC_CONFIG,
		 "Permission denied: user=ann; to act as another user, set HADOOP_USER_NAME or "
		 "--hdfs-user (for apply: --user)"},
	};
	char *local = make_file("lasting", 30000);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		struct storage *s = open_fake(1);
		struct storage_info info;
		char *path = fault_file(s, faults[i].fault, 1000);
		int rc = storage_put(s, local, path, 0, &info, NULL, &err);

		if (rc != faults[i].code)
			fail_msg("%s: %d, %s", faults[i].fault, rc, err.msg);
		assert_said(faults[i].said);
		assert_null(strchr(err.msg, '\n'));
		mem_free(path);
		storage_close(s);
	}
	mem_free(local);
}

static void broken_stream(void **state)
{
	(void)state;
	static const char *const faults[] = {"cut", "garbled", "full"};
	struct storage *s = open_fake(2);
	struct buf all = {0};
	buf_reserve(&all, 600000);
	memset(all.ptr, 'x', 600000);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		struct storage_file *f;
		struct storage_info info;
		char *path = fault_file(s, faults[i], 1);
		int rc = storage_begin(s, &f, path, 0, &err); /* the server may refuse at once */

		for (int n = 0; n < 3 && rc == RC_OK; n++)
			rc = storage_add(f, all.ptr, 600000, &err);
		if (rc == RC_OK)
			rc = storage_end(f, NULL, &err);
		else
			storage_abort(f);
		assert_int_equal(rc, i == 0 ? RC_BROKEN : RC_IO);
		/* no remaining file looks complete */
		assert_int_equal(kind_of(s, path, &info), STORAGE_NOTHING);
		mem_free(path);
	}
	buf_release(&all);
	storage_close(s);
}

/* The client sends a change without an answer again, although the first call had succeeded. */
static void lost_answers(void **state)
{
	(void)state;
	struct storage *s = open_fake(10);
	struct storage_info before, after;
	char *local = make_file("lost", 10), *path = fault_file(s, "lost", 1);
	assert_int_equal(storage_put(s, local, path, 0, &before, NULL, &err), RC_OK);
	assert_int_equal(storage_move(s, path, "/x/plain/moved", &err), RC_OK);
	assert_int_equal(kind_of(s, "/x/plain/moved", &after), STORAGE_FILE);
	assert_int_equal(after.file_id, before.file_id);
	char *folder = fault_file(s, "lost", 1);
	assert_int_equal(storage_make_dirs(s, folder, 0, &err), RC_OK);
	assert_int_equal(kind_of(s, folder, &after), STORAGE_FOLDER);
	mem_free(folder);
	mem_free(path);
	mem_free(local);
	storage_close(s);
}

/* If a gateway returns no file ids, its answer decides whether a rename succeeded. Without an
 * answer the result is unknown. */
static void no_ids(void **state)
{
	(void)state;
	struct storage *s = open_fake(10);
	struct storage_info info;
	char *local = make_file("nameless", 10);
	static const char *const faults[] = {"nameless", "namelost"};
	for (size_t i = 0; i < 2; i++) {
		char *path = fault_file(s, faults[i], 1), *to = mem_format("%s.moved", path);

		assert_int_equal(storage_put(s, local, path, 0, &info, NULL, &err), RC_OK);
		assert_int_equal(info.file_id, 0);
		assert_int_equal(storage_move(s, path, to, &err), i == 0 ? RC_OK : RC_IO);
		mem_free(path);
		mem_free(to);
	}
	mem_free(local);
	storage_close(s);
}

/*
 * For encrypted and erasure-coded files HDFS returns the checksum of the bytes on its disks (encBit
 * and ecBit of a FileStatus). saltmill compares lengths, and an existing file never counts as
 * identical.
 */
static void opaque_files(void **state)
{
	(void)state;
	static const char *const faults[] = {"encrypted", "coded"};
	struct storage *s = open_fake(10);
	char *local = make_file("opaque", 9000);
	for (size_t i = 0; i < 2; i++) {
		struct storage_info info;
		bool kept = true;
		char *path = fault_file(s, faults[i], 1000);

		if (storage_put(s, local, path, 0, &info, &kept, &err))
			fail_msg("%s: %s", faults[i], err.msg);
		assert_true(info.opaque);
		assert_same(s, path, local);
		assert_int_equal(storage_put(s, local, path, 0, &info, &kept, &err), RC_OK);
		assert_false(kept);
		mem_free(path);
	}
	mem_free(local);
	storage_close(s);
}

/* A file whose writer died has no checksum, even if its length is complete. */
static void unclosed_file(void **state)
{
	(void)state;
	struct storage *s = open_fake(10);
	struct storage_info info;
	char *local = make_file("unclosed", 9000), *path = fault_file(s, "unclosed", 1);
	bool kept = true;
	char *first = mem_format("%s.first", path);
	memcpy(strstr(first, "fault"), "plain", 5);
	assert_int_equal(storage_put(s, local, first, 0, &info, &kept, &err), RC_OK);
	assert_int_equal(storage_move(s, first, path, &err), RC_OK);
	if (storage_put(s, local, path, 0, &info, &kept, &err))
		fail_msg("%s", err.msg);
	assert_false(kept);
	assert_same(s, path, local);
	mem_free(first);
	mem_free(path);
	mem_free(local);
	storage_close(s);
}

/*
 * The upload replaces an existing file unless it is identical. A checksum of another kind is no
 * reason to replace it.
 */
static void put_again(void **state)
{
	(void)state;
	struct storage *s = open_fake(10);
	bool kept;
	char *a = make_file("a", 5000), *b = make_file("b", 5001);
	char *path = fault_file(s, "oldsum", 1000);
	assert_int_equal(storage_put(s, a, path, 0, NULL, NULL, &err), RC_OK);
	assert_int_equal(storage_put(s, b, path, 0, NULL, &kept, &err), RC_OK);
	assert_false(kept);
	assert_same(s, path, b);
	/* of the same length, with another byte */
	assert_int_equal(storage_put(s, b, "/x/plain/again", 0, NULL, NULL, &err), RC_OK);
	struct buf bytes = {0};
	assert_int_equal(io_read_file(b, &bytes, &err), RC_OK);
	bytes.ptr[5000] ^= 1;
	unlink(b);
	assert_int_equal(io_write_file(b, buf_bytes(&bytes), &err), RC_OK);
	assert_int_equal(storage_put(s, b, "/x/plain/again", 0, NULL, &kept, &err), RC_OK);
	assert_false(kept);
	assert_same(s, "/x/plain/again", b);
	buf_release(&bytes);
	mem_free(path);
	mem_free(a);
	mem_free(b);
	storage_close(s);
}

static void name_nodes(void **state)
{
	(void)state;
	char uri[100];
	struct storage_info info;
	snprintf(uri, sizeof uri, "webhdfs://127.0.0.1:%u,127.0.0.1:%u/x", standby_port, port);
	struct storage *s = open_uri(uri, 5);
	assert_int_equal(kind_of(s, "/x", &info), STORAGE_FOLDER);
	storage_close(s);
	/* an address on which no server listens */
	snprintf(uri, sizeof uri, "webhdfs://127.0.0.1:1,127.0.0.1:%u/x", port);
	s = open_uri(uri, 5);
	assert_int_equal(kind_of(s, "/x", &info), STORAGE_FOLDER);
	storage_close(s);
	snprintf(uri, sizeof uri, "webhdfs://127.0.0.1:%u/x", standby_port);
	s = open_uri(uri, 1);
	assert_int_equal(storage_stat(s, "/x", &info, &err), RC_IO);
	assert_said("StandbyException");
	assert_said("list all NameNodes as");
	storage_close(s);
	/* often the name of a cluster instead of a host; RFC 2606 reserves .invalid */
	s = open_uri("hdfs://cluster.invalid/x", 1);
	assert_int_equal(storage_stat(s, "/x", &info, &err), RC_IO);
	assert_said("; add the NameNodes with --webhdfs HOST[:PORT],...");
	storage_close(s);
	s = open_uri("webhdfs://127.0.0.1:1/x", 1);
	assert_int_equal(storage_stat(s, "/x", &info, &err), RC_IO);
	assert_said("http://127.0.0.1:1: ");
	storage_close(s);
}

/* The first NameNode of the service is the standby. hdfs:///x is on fs.defaultFS. */
static void name_service(void **state)
{
	(void)state;
	static const char *const uris[] = {"hdfs://duo/x", "webhdfs://duo/x", "hdfs:///x"};
	FILE *f = fopen(path_of("hdfs-site.xml"), "w");

	assert_non_null(f);
	fprintf(f,
		"<configuration><property><name>dfs.nameservices</name><value>duo</value></property>"
		"<property><name>fs.defaultFS</name><value>hdfs://duo/</value></property>"
		"<property><name>dfs.ha.namenodes.duo</name><value>a,b</value></property>"
		"<property><name>dfs.namenode.http-address.duo.a</name><value>127.0.0.1:%u</value>"
		"</property>"
		"<property><name>dfs.namenode.http-address.duo.b</name><value>127.0.0.1:%u</value>"
		"</property></configuration>",
		standby_port, port);
	assert_int_equal(fclose(f), 0);
	setenv("HADOOP_CONF_DIR", dir, 1);
	for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
		struct storage_info info;
		struct storage *s = open_uri(uris[i], 5);

		assert_int_equal(kind_of(s, "/x", &info), STORAGE_FOLDER);
		char *name = storage_name(s, "/x");
		assert_string_equal(name, i == 1 ? "webhdfs://duo/x" : "hdfs://duo/x");
		mem_free(name);
		storage_close(s);
	}
	assert_int_equal(remove(path_of("hdfs-site.xml")), 0);
	unsetenv("HADOOP_CONF_DIR");
	struct storage *none;
	assert_int_equal(storage_open(&none, "hdfs:///x", NULL, &err), RC_CONFIG);
	assert_said("expected hdfs://HOST/PATH, or fs.defaultFS in core-site.xml");
}

static void stopped(void **state)
{
	(void)state;
	struct storage *s = open_fake(60);
	struct storage_info info;
	char *path = fault_file(s, "busy", 1000);
	stop_flag = SIGINT;
	assert_int_equal(storage_stat(s, path, &info, &err), RC_STOPPED);
	stop_flag = 0;
	mem_free(path);
	storage_close(s);
}

/*
 * The signal comes between two calls of curl_multi_perform. libcurl then ends the upload, not
 * stop_check.
 */
static void stopped_upload(void **state)
{
	(void)state;
	struct storage *s = open_fake(60);
	struct storage_file *f = NULL;
	char *path = fault_file(s, "slow", 1);

	assert_int_equal(storage_begin(s, &f, path, 0, &err), RC_OK);
	assert_int_equal(storage_add(f, "abc", 3, &err), RC_OK);
	stop_flag = SIGTERM;
	assert_int_equal(storage_end(f, NULL, &err), RC_STOPPED);
	assert_said("stopped by a signal");
	stop_flag = 0;
	mem_free(path);
	storage_close(s);
}

static void waits(void **state)
{
	(void)state;
	static const int64_t hundreds[] = {1, 2, 3, 5, 10, 20, 40, 100, 100, 100};
	for (unsigned i = 0; i < sizeof hundreds / sizeof *hundreds; i++)
		assert_int_equal(backoff_ms(i), 100 * hundreds[i]);
	assert_int_equal(backoff_wait(0, 0, &err), RC_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_sum),	  cmocka_unit_test(uris),
		cmocka_unit_test(files),	  cmocka_unit_test(streams),
		cmocka_unit_test(names),	  cmocka_unit_test(passing_faults),
		cmocka_unit_test(lasting_faults), cmocka_unit_test(broken_stream),
		cmocka_unit_test(lost_answers),	  cmocka_unit_test(put_again),
		cmocka_unit_test(no_ids),	  cmocka_unit_test(opaque_files),
		cmocka_unit_test(unclosed_file),  cmocka_unit_test(name_nodes),
		cmocka_unit_test(stopped),	  cmocka_unit_test(stopped_upload),
		cmocka_unit_test(waits),	  cmocka_unit_test(room),
		cmocka_unit_test(name_service),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
