/*
 * test_publish_staging.c - tests the staging folder and the rejects
 *
 * The test replaces fsync, renameat2 and geteuid for the program's calls, so that they can fail on
 * any file system.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "publish.h"
#include "tests/unit/this_machine.h"

static int fsync_fails_at;   /* the call that fails (1 is the next); 0 if none fails */
static bool fsync_stays_bad; /* the calls after that one fail, too */
static unsigned fsync_calls;
static int rename_errno;      /* error of renameat2, or 0 for the real call */
static int renames_left = -1; /* calls that succeed first, or -1 */
static uid_t another;	      /* the user id that geteuid returns, or 0 for the real id */

int fsync(int fd)
{
	fsync_calls++;
	if (fsync_fails_at && --fsync_fails_at == 0) {
		fsync_fails_at = fsync_stays_bad;
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	if (rename_errno && (renames_left < 0 || renames_left-- == 0)) {
		errno = rename_errno;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

uid_t geteuid(void)
{
	return another ? another : (uid_t)syscall(SYS_geteuid);
}

static uint8_t digest[16]; /* the result of the last rejects_write */

/* A folder for the test, and the names in the folder. */
struct place {
	char root[64], dir[96], partial[128];
};

static int setup(void **state)
{
	struct place *p = mem_calloc(1, sizeof *p);

	snprintf(p->root, sizeof p->root, "/tmp/saltmill-test-XXXXXX");
	assert_non_null(mkdtemp(p->root));
	snprintf(p->dir, sizeof p->dir, "%s/out", p->root);
	snprintf(p->partial, sizeof p->partial, "%s.saltmill-partial", p->dir);
	fsync_fails_at = rename_errno = 0;
	fsync_stays_bad = false;
	renames_left = -1;
	another = 0;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct error err;
	struct place *p = *state;

	assert_int_equal(io_remove_tree(p->root, &err), RC_OK);
	mem_free(p);
	return 0;
}

static bool there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static size_t entries_in(const char *path)
{
	DIR *d = opendir(path);
	assert_non_null(d);
	size_t n = 0;
	for (struct dirent *e; (e = readdir(d));)
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(d);
	return n;
}

static void put(const char *dir, const char *name, const char *text)
{
	struct error err = {0};
	char *path = mem_format("%s/%s", dir, name);

	assert_int_equal(io_write_file(path, bytes_str(text), &err), RC_OK);
	mem_free(path);
}

static char *slurp(const char *path)
{
	struct error err = {0};
	struct buf b = {0};

	assert_int_equal(io_read_file(path, &b, &err), RC_OK);
	buf_put(&b, 0);
	return (char *)b.ptr;
}

static struct staging *open_ok(const struct place *p)
{
	struct error err = {0};
	struct staging *s;
	bool removed;

	assert_int_equal(staging_open(&s, p->dir, &removed, &err), RC_OK);
	assert_string_equal(staging_path(s), p->partial);
	return s;
}

static void test_publish_whole(void **state)
{
	const struct place *p = *state;
	struct error err = {0};
	struct staging *s = open_ok(p);
	char *deep = mem_format("%s/deep", p->partial);

	assert_int_equal(io_make_dir(deep, &err), RC_OK);
	put(p->partial, "manifest.json", "{}");
	put(deep, "file", "content");
	assert_false(there(p->dir));
	fsync_calls = 0;
	assert_int_equal(staging_publish(s, &err), RC_OK);
	assert_in_range(fsync_calls, 4,
			/* syncs of `deep`, the sibling (without the lock again) and the parent */
			5);
	assert_int_equal(entries_in(p->root), 1);
	assert_int_equal(entries_in(p->dir), 2); /* the lock no longer exists */
	char *path = mem_format("%s/deep/file", p->dir);
	char *text = slurp(path);
	assert_string_equal(text, "content");
	mem_free(text);
	mem_free(path);
	mem_free(deep);
}

static void test_abort_leaves_nothing(void **state)
{
	const struct place *p = *state;
	struct staging *s = open_ok(p);

	put(p->partial, "half", "a file");
	staging_abort(s);
	staging_abort(NULL);
	assert_int_equal(entries_in(p->root), 0);
}

static void test_existing_refused(void **state)
{
	const struct place *p = *state;
	struct error err = {0};
	struct staging *s;
	bool removed;

	assert_int_equal(mkdir(p->dir, 0777), 0);
	assert_int_equal(staging_open(&s, p->dir, &removed, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "exists"));
	assert_null(s);
	assert_int_equal(entries_in(p->root), 1);
}

static void test_bad_names(void **state)
{
	const struct place *p = *state;

	put(p->root, "file", "");
	const char *const cases[][2] = {{"%s/none/out", "none"},
					{"%s/file/out", "file"},
					{"%s/..", "name"},
					{"/", "name"},
					{"", "name"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error err = {0};
		struct staging *s;
		bool removed;
		const char *tail = strchr(cases[i][0], 's');
		char *dir = tail ? mem_format("%s%s", p->root, tail + 1) : mem_strdup(cases[i][0]);

		assert_int_equal(staging_open(&s, dir, &removed, &err), RC_CONFIG);
		assert_non_null(strstr(err.msg, cases[i][1]));
		assert_null(s);
		mem_free(dir);
	}
	assert_int_equal(entries_in(p->root), 1);
}

/* Leaves a sibling folder, as a killed run does. */
static void leave_sibling(const struct place *p)
{
	assert_int_equal(mkdir(p->partial, 0777), 0);
	put(p->partial, ".lock", "");
	put(p->partial, "old", "stale");
	char *sub = mem_format("%s/sub", p->partial);
	assert_int_equal(mkdir(sub, 0777), 0);
	put(sub, "older", "stale");
	mem_free(sub);
}

static void test_stale_removed(void **state)
{
	const struct place *p = *state;
	char *lock = mem_format("%s/.lock", p->partial);

	for (int without_lock = 0; without_lock < 2; without_lock++) {
		struct error err = {0};
		struct staging *s;
		bool removed = false;

		leave_sibling(p);
		if (without_lock)
			assert_int_equal(unlink(lock), 0);
		char *slashed = mem_format("%s//", p->dir);
		assert_int_equal(staging_open(&s, slashed, &removed, &err), RC_OK);
		mem_free(slashed);
		assert_true(removed);
		assert_int_equal(entries_in(p->partial), 1); /* only the lock */
		staging_abort(s);
	}
	mem_free(lock);
	struct error err;
	struct staging *s;
	bool removed = true;
	assert_int_equal(staging_open(&s, p->dir, &removed, &err), RC_OK);
	assert_false(removed);
	staging_abort(s);
}

static void test_live_refused(void **state)
{
	const struct place *p = *state;
	int ready[2], done[2];
	char byte = 0;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(done), 0);
	pid_t child = fork();
	if (child == 0) {
		struct error err;
		struct staging *s;
		bool removed;

		close(done[1]);
		if (staging_open(&s, p->dir, &removed, &err) || write(ready[1], "x", 1) != 1)
			_exit(1);
		_exit(read(done[0], &byte, 1) < 0); /* the process dies while it holds the lock */
	}
	close(done[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	put(p->partial, "theirs", "precious");
	struct error err = {0};
	struct staging *s;
	bool removed;
	assert_int_equal(staging_open(&s, p->dir, &removed, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "another run"));
	assert_int_equal(entries_in(p->partial), 2);
	close(done[1]);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(staging_open(&s, p->dir, &removed, &err), RC_OK);
	assert_true(removed);
	staging_abort(s);
	close(ready[0]);
	close(ready[1]);
}

static void test_publish_never_replaces(void **state)
{
	const struct place *p = *state;
	const int answers[] = {0, EINVAL, ENOSYS};

	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		struct error err = {0};
		struct staging *s = open_ok(p);

		assert_int_equal(mkdir(p->dir, 0777),
				 0); /* a plain rename would replace an empty folder */
		rename_errno = answers[i];
		assert_int_equal(staging_publish(s, &err), RC_IO);
		assert_non_null(strstr(err.msg, strerror(EEXIST)));
		staging_abort(s);
		rename_errno = 0;
		assert_int_equal(entries_in(p->root), 1);
		assert_int_equal(rmdir(p->dir), 0);
	}
}

static void test_publish_without_renameat2(void **state)
{
	const struct place *p = *state;
	struct error err = {0};
	struct staging *s = open_ok(p);

	put(p->partial, "file", "x");
	rename_errno = EINVAL;
	assert_int_equal(staging_publish(s, &err), RC_OK);
	assert_int_equal(entries_in(p->root), 1);
	assert_int_equal(entries_in(p->dir), 1);
}

/* If any sync fails, the load is not visible, and abort removes everything. */
static void test_sync_failures(void **state)
{
	const struct place *p = *state;
	int at = 1;

	for (;; at++) {
		struct error err = {0};
		struct staging *s = open_ok(p);

		put(p->partial, "file", "x");
		fsync_fails_at = at;
		int rc = staging_publish(s, &err);
		if (rc == RC_OK)
			break;
		assert_int_equal(rc, RC_IO);
		assert_int_equal(fsync_fails_at, 0);
		assert_false(there(p->dir));
		staging_abort(s);
		assert_int_equal(entries_in(p->root), 0);
	}
	fsync_fails_at = 0;
	assert_int_equal(at, 4); /* each of three syncs fails once */
	assert_true(there(p->dir));
}

static int refused(const struct place *p, const char *word)
{
	struct error err = {0};
	struct staging *s;
	bool removed;
	int rc = staging_open(&s, p->dir, &removed, &err);

	assert_null(s);
	if (!strstr(err.msg, word))
		fail_msg("\"%s\" lacks \"%s\"", err.msg, word);
	return rc;
}

/*
 * saltmill refuses the folder of another user, because that user could add files to it during the
 * load, or read the data.
 */
static void test_foreign_refused(void **state)
{
	const struct place *p = *state;

	leave_sibling(p);
	size_t entries = entries_in(p->partial);
	another = 4711;
	assert_int_equal(refused(p, ", expected user 4711; remove it"), RC_CONFIG);
	another = 0;
	assert_int_equal(entries_in(p->partial), entries);
	assert_false(there(p->dir));
}

static void test_links_not_followed(void **state)
{
	const struct place *p = *state;
	char *victim = mem_format("%s/victim", p->root), *lock = mem_format("%s/.lock", p->partial);
	char *kept = mem_format("%s/kept", victim), *link = mem_format("%s/link", p->partial);

	assert_int_equal(mkdir(p->partial, 0700), 0);
	assert_int_equal(symlink(victim, lock), 0);
	assert_int_equal(refused(p, "the lock is a link"), RC_CONFIG);
	assert_false(there(victim)); /* the link's target does not exist */
	assert_int_equal(unlink(lock), 0);

	assert_int_equal(mkdir(victim, 0700), 0);
	assert_int_equal(mkdir(kept, 0700), 0);
	assert_int_equal(symlink(victim, link), 0);
	/* abort removes a link in the leftover folder, but not its target */
	staging_abort(open_ok(p));
	assert_true(there(kept));
	assert_int_equal(symlink(victim, p->partial), 0);
	assert_int_equal(refused(p, "is not a folder"), RC_CONFIG);
	assert_int_equal(unlink(p->partial), 0);
	mem_free(victim);
	mem_free(lock);
	mem_free(kept);
	mem_free(link);
}

/* Another user with write access to the parent replaces the folder. */
static void test_exchanged_folder(void **state)
{
	const struct place *p = *state;
	struct error err = {0};
	struct staging *s = open_ok(p);
	char *aside = mem_format("%s/elsewhere", p->root);

	assert_int_equal(rename(p->partial, aside), 0);
	assert_int_equal(mkdir(p->partial, 0700), 0);
	put(p->partial, "file", "x");
	assert_int_equal(staging_publish(s, &err), RC_IO);
	assert_non_null(strstr(err.msg, "another program replaced"));
	staging_abort(s);
	assert_false(there(p->dir));
	assert_int_equal(entries_in(p->partial), 1);
	mem_free(aside);
}

/*
 * The sync after the rename fails, and so does the rename back. The message names the remaining
 * folder.
 */
static void test_not_taken_back(void **state)
{
	const struct place *p = *state;
	struct error err = {0};
	struct staging *s = open_ok(p);

	put(p->partial, "file", "x");
	fsync_fails_at = 3;
	rename_errno = EIO;
	renames_left = 1;
	assert_int_equal(staging_publish(s, &err), RC_IO);
	assert_true(there(p->dir));
	assert_non_null(strstr(err.msg, "published all the same as"));
	staging_abort(s);
	assert_true(there(p->dir));
}

/*
 * The sync after the rename fails, and so does the sync after the rename back. Either name may
 * survive a power loss, so abort keeps the files, and the next run takes the sibling.
 */
static void test_taken_back_unsynced(void **state)
{
	const struct place *p = *state;
	struct error err = {0};
	struct staging *s = open_ok(p);
	bool removed = false;

	put(p->partial, "file", "x");
	fsync_fails_at = 3;
	fsync_stays_bad = true;
	assert_int_equal(staging_publish(s, &err), RC_IO);
	assert_true(staging_was_visible(s));
	staging_abort(s);
	assert_false(there(p->dir));
	assert_int_equal(entries_in(p->partial), 1);
	fsync_fails_at = 0;
	assert_int_equal(staging_open(&s, p->dir, &removed, &err), RC_OK);
	assert_true(removed);
	assert_int_equal(staging_publish(s, &err), RC_OK);
	assert_int_equal(entries_in(p->root), 1);
}

/* ---- rejects ---- */

enum { WORKERS = 3, PER_WORKER = 5000 };

struct adder {
	struct rejects *rejects;
	unsigned worker;
	pthread_t thread;
	int rc;
};

/* Each worker takes every WORKERS-th event, in descending order. */
static void *add_many(void *arg)
{
	struct adder *a = arg;

	for (unsigned i = PER_WORKER; i-- > 0 && !a->rc;) {
		unsigned seq = i * WORKERS + a->worker;
		char raw[32];

		snprintf(raw, sizeof raw, "event %u", seq);
		struct reject why = {.reason = seq % 10 ? "bad_number" : "too_long",
				     .field = seq % 2 ? "userId" : NULL};
		snprintf(why.detail, sizeof why.detail, "found %u", seq);
		struct reject_line l = {.file = "in.csv",
					.line = seq + 2,
					.offset = seq * 10ull,
					.seq = seq,
					.raw = bytes_str(raw),
					.why = &why};
		struct error err;
		a->rc = rejects_add(a->rejects, a->worker, &l, &err);
	}
	return NULL;
}

static void test_rejects_in_order(void **state)
{
	const struct place *p = *state;
	struct error err = {0};
	struct rejects *r;
	struct adder adders[WORKERS];

	assert_int_equal(rejects_new(&r, p->root, NULL, WORKERS, &err), RC_OK);
	assert_int_equal(entries_in(p->root), 0); /* spools have no names in the folder */
	for (unsigned i = 0; i < WORKERS; i++) {
		adders[i] = (struct adder){.rejects = r, .worker = i};
		assert_int_equal(pthread_create(&adders[i].thread, NULL, add_many, &adders[i]), 0);
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		pthread_join(adders[i].thread, NULL);
		assert_int_equal(adders[i].rc, RC_OK);
	}
	assert_int_equal(rejects_count(r), WORKERS * PER_WORKER);

	size_t n;
	const struct reject_reason *by = rejects_by_reason(r, &n);
	assert_int_equal(n, 2);
	assert_string_equal(by[0].reason, "bad_number");
	assert_int_equal(by[0].count, WORKERS * PER_WORKER / 10 * 9);
	assert_string_equal(by[1].reason, "too_long");
	assert_int_equal(by[1].count, WORKERS * PER_WORKER / 10);

	struct buf sentence = {0};
	assert_int_equal(rejects_nth(r, 0, &sentence, &err), RC_OK);
	buf_put(&sentence, '|');
	assert_int_equal(rejects_nth(r, 7777, &sentence, &err), RC_OK);
	buf_put(&sentence, 0);
	assert_string_equal((char *)sentence.ptr,
			    "in.csv:2 (byte 0): too_long: found 0|"
			    "in.csv:7779 (byte 77770): bad_number: userId: found 7777");
	assert_int_equal(rejects_nth(r, WORKERS * PER_WORKER, &sentence, &err), RC_END);
	buf_release(&sentence);

	char *path = mem_format("%s/rejects.jsonl", p->root);
	assert_int_equal(rejects_write(r, here, path, digest, &err), RC_OK);
	rejects_free(r);
	FILE *f = fopen(path, "re");
	char line[256], expected[256];
	unsigned seq = 0;
	for (; fgets(line, sizeof line, f); seq++) {
		snprintf(expected, sizeof expected,
			 "{\"reason\":\"%s\",\"field\":%s,\"file\":\"in.csv\",\"line\":%u,"
			 "\"offset\":%u,"
			 "\"detail\":\"found %u\",\"raw\":\"event %u\"}\n",
			 seq % 10 ? "bad_number" : "too_long", seq % 2 ? "\"userId\"" : "null",
			 seq + 2, seq * 10, seq, seq);
		assert_string_equal(line, expected);
	}
	fclose(f);
	assert_int_equal(seq, WORKERS * PER_WORKER);
	mem_free(path);
}

static void test_rejects_raw(void **state)
{
	const struct place *p = *state;

	static const struct {
		const char *raw;
		size_t len;
		const char *expected; /* the line's end */
	} cases[] = {
		{"", 0, "\"raw\":\"\"}\n"},
		{"f", 1, "\"raw\":\"f\"}\n"},
		{"a\"b\n", 4, "\"raw\":\"a\\\"b\\n\"}\n"},
		{"nul\0!", 5, "\"raw\":\"nul\\u0000!\"}\n"},
		{"\xe5\x8c\x97", 3, "\"raw\":\"\xe5\x8c\x97\"}\n"},
		/* RFC 4648 */
		{"\xff", 1, "\"raw_base64\":\"/w==\"}\n"},
		{"\xffo", 2, "\"raw_base64\":\"/28=\"}\n"},
		{"\x14\xfb\x9c\x03\xd9\x7e", 6, "\"raw_base64\":\"FPucA9l+\"}\n"},
		{"\xc0\x80", 2, "\"raw_base64\":\"wIA=\"}\n"},	   /* overlong */
		{"\xed\xa0\x80", 3, "\"raw_base64\":\"7aCA\"}\n"}, /* surrogate */
	};
	struct error err = {0};
	struct rejects *r;
	assert_int_equal(rejects_new(&r, p->root, NULL, 1, &err), RC_OK);
	/* a detail cut inside a character is still valid text */
	struct reject why = {.reason = "bad", .detail = "ends in \xe5\x8c"};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct reject_line l = {.file = "f",
					.seq = i,
					.raw = bytes_of(cases[i].raw, cases[i].len),
					.why = &why};

		assert_int_equal(rejects_add(r, 0, &l, &err), RC_OK);
	}
	char *path = mem_format("%s/r", p->root);
	assert_int_equal(rejects_write(r, here, path, digest, &err), RC_OK);
	char *text = slurp(path), *at = text;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		static const char start[] =
			"{\"reason\":\"bad\",\"field\":null,\"file\":\"f\",\"line\":0,"
			"\"offset\":0,\"detail\":\"ends in \\\\xE5\\\\x8C\",";

		assert_memory_equal(at, start, strlen(start));
		at += strlen(start);
		assert_memory_equal(at, cases[i].expected, strlen(cases[i].expected));
		at += strlen(cases[i].expected);
	}
	assert_int_equal(*at, 0);
	rejects_free(r);
	mem_free(text);
	mem_free(path);
}

static void test_rejects_none(void **state)
{
	const struct place *p = *state;
	struct error err = {0};
	struct rejects *r;
	size_t n = 1;

	assert_int_equal(rejects_new(&r, p->root, NULL, 2, &err), RC_OK);
	rejects_by_reason(r, &n);
	assert_int_equal(n, 0);
	char *path = mem_format("%s/r", p->root);
	assert_int_equal(rejects_write(r, here, path, digest, &err), RC_OK);
	char *text = slurp(path);
	assert_string_equal(text, "");
	/* XXH3-128 of empty input, as in xxHash's own tests */
	assert_memory_equal(digest,
			    "\x99\xaa\x06\xd3\x01\x47\x98\xd8\x60\x01\xc3\x24\x46\x8d\x49\x7f", 16);
	mem_free(text);
	assert_int_equal(rejects_write(r, here, path, digest, &err), RC_IO); /* it exists already */
	mem_free(path);
	rejects_free(r);
	rejects_free(NULL);
	char *missing = mem_format("%s/none", p->root);
	assert_int_equal(rejects_new(&r, missing, NULL, 2, &err), RC_IO);
	assert_null(r);
	mem_free(missing);
}

static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, bytes ? SIG_IGN : SIG_DFL);
}

/* If there is no space for the spool, or only for the spool, there is an error and no
 * rejects.jsonl. */
static void test_rejects_no_room(void **state)
{
	const struct place *p = *state;
	struct error err = {0};
	struct rejects *r;
	struct reject why = {.reason = "bad"};
	struct reject_line l = {.file = "f", .raw = bytes_str("raw"), .why = &why};
	int rc = RC_OK;

	assert_int_equal(rejects_new(&r, p->root, NULL, 1, &err), RC_OK);
	limit_files(100000);
	for (; rc == RC_OK && l.seq < 100000; l.seq++)
		rc = rejects_add(r, 0, &l, &err);
	limit_files(0);
	assert_int_equal(rc, RC_IO);
	rejects_free(r);

	assert_int_equal(rejects_new(&r, p->root, NULL, 1, &err), RC_OK);
	for (l.seq = 0; l.seq < 5000; l.seq++)
		assert_int_equal(rejects_add(r, 0, &l, &err), RC_OK);
	struct buf sentence = {0};
	/* the spool flushes its buffer */
	assert_int_equal(rejects_nth(r, 0, &sentence, &err), RC_OK);
	buf_release(&sentence);
	char *path = mem_format("%s/r", p->root);
	limit_files(100000);
	rc = rejects_write(r, here, path, digest, &err);
	limit_files(0);
	assert_int_equal(rc, RC_IO);
	assert_false(there(path));
	mem_free(path);
	rejects_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_publish_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_abort_leaves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_existing_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stale_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_live_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_publish_never_replaces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_publish_without_renameat2, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sync_failures, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links_not_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exchanged_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_taken_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_taken_back_unsynced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rejects_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rejects_raw, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rejects_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rejects_no_room, setup, teardown),
	};

	return cmocka_run_group_tests_name("publish", tests, open_here, close_here);
}
