/*
 * test_publish_lease.c - tests a remote folder and its lock on a simulated storage
 *
 * The storage has its own clock. Other runs may act at any moment, the servers may stop for a
 * while, and threads may fail to start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Replaces the calls of the two files included below, and renames their functions so that they do
 * not clash with the program's. */
#define clock_ms	  fake_ms
#define clock_sleep_ms	  fake_sleep_ms
#define storage_stat	  fake_stat
#define storage_touch	  fake_touch
#define storage_write	  fake_write
#define storage_read	  fake_read
#define storage_move	  fake_move
#define storage_remove	  fake_remove
#define storage_make_dirs fake_make_dirs
#define storage_user	  fake_user
#define lease_take	  tested_take
#define lease_held	  tested_held
#define lease_end	  tested_end
#define lease_alive	  tested_alive
#define staging_remote	  tested_remote

static int (*const real_thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
				void *) = pthread_create;
static int new_thread(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *arg);
#define pthread_create new_thread

#include "io.h"
static int read_proc(const char *path, size_t most, struct buf *out, struct error *err);
#define io_read_file_upto read_proc

#include "pipeline/publish/staging/lease.c"
#include "pipeline/publish/staging/staging_remote.c"

#define DIR	"/x/out"
#define PARTIAL DIR ".saltmill-partial"
#define LOCK	PARTIAL "/.lock"
#define FOREIGN "00000000-0000-0000-0000-000000000000 1 1 1\n"

struct node {
	char path[100], text[100];
	struct storage_info info;
};

static struct node nodes[20];
static size_t nnodes;
static uint64_t next_id;
static int64_t now, touched_at, stalls_at, stalls_ms; /* 0: never */
static bool nameless, thread_fails, no_proc; /* no_proc is true if /proc/PID/stat is unreadable */
static const char *unreachable;		     /* a path whose status call fails */

static int start(void **state)
{
	(void)state;
	nnodes = 0;
	next_id = 16385;
	now = 1000;
	touched_at = stalls_at = 0;
	nameless = thread_fails = no_proc = false;
	unreachable = NULL;
	return 0;
}

static int new_thread(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *arg)
{
	return thread_fails ? EAGAIN : real_thread(t, a, run, arg);
}

#undef io_read_file_upto
static int read_proc(const char *path, size_t most, struct buf *out, struct error *err)
{
	if (no_proc && strstr(path, "/stat"))
		return error_set(err, RC_IO, "%s: input/output error", path);
	return io_read_file_upto(path, most, out, err);
}

/* --- the simulated storage --- */

static struct node *node_at(const char *path)
{
	for (size_t i = 0; i < nnodes; i++)
		if (strcmp(nodes[i].path, path) == 0)
			return &nodes[i];
	return NULL;
}

static struct node *make(const char *path, enum storage_kind kind, const char *text)
{
	assert_true(nnodes < sizeof nodes / sizeof *nodes);
	struct node *n = &nodes[nnodes++];
	*n = (struct node){.info = {.kind = kind,
				    .file_id = nameless ? 0 : next_id++,
				    .modified_ms = now,
				    .owner = "ann"}};
	snprintf(n->path, sizeof n->path, "%s", path);
	snprintf(n->text, sizeof n->text, "%s", text);
	return n;
}

static bool below(const char *path, const char *top)
{
	size_t n = strlen(top);

	return strncmp(path, top, n) == 0 && (path[n] == 0 || path[n] == '/');
}

int64_t fake_ms(void)
{
	return now;
}

void fake_sleep_ms(int64_t ms)
{
	now += ms;
}

int fake_stat(struct storage *s, const char *path, struct storage_info *out, struct error *err)
{
	(void)s;
	*out = (struct storage_info){0};
	if (unreachable && strcmp(unreachable, path) == 0)
		return error_set(err, RC_IO, "no answer");
	if (stalls_at && now >= stalls_at) {
		now += stalls_ms;
		stalls_at = 0;
	}
	const struct node *n = node_at(path);
	if (n)
		*out = n->info;
	if (n && touched_at && now >= touched_at)
		out->modified_ms = touched_at;
	return RC_OK;
}

int fake_touch(struct storage *s, const char *path, struct error *err)
{
	(void)s, (void)path, (void)err;
	return RC_OK;
}

int fake_write(struct storage *s, const char *path, struct bytes content, uint8_t digest[16],
	       struct error *err)
{
	(void)s, (void)digest;
	if (node_at(path))
		return error_set(err, RC_IO, "something is there");
	struct node *n = make(path, STORAGE_FILE, "");
	snprintf(n->text, sizeof n->text, "%.*s", (int)content.len, (const char *)content.ptr);
	return RC_OK;
}

int fake_read(struct storage *s, const char *path, size_t most, struct buf *out, struct error *err)
{
	(void)s, (void)most;
	const struct node *n = node_at(path);
	if (!n)
		return error_set(err, RC_IO, "nothing there");
	buf_append_str(out, n->text);
	return RC_OK;
}

int fake_move(struct storage *s, const char *from, const char *to, struct error *err)
{
	(void)s;
	if (node_at(to) || !node_at(from))
		return error_set(err, RC_IO, "cannot rename");
	for (size_t i = 0; i < nnodes; i++)
		if (below(nodes[i].path, from)) {
			char path[100];

			snprintf(path, sizeof path, "%s%.40s", to, nodes[i].path + strlen(from));
			memcpy(nodes[i].path, path, sizeof path);
		}
	return RC_OK;
}

int fake_remove(struct storage *s, const char *path, struct error *err)
{
	(void)s, (void)err;
	for (size_t i = 0; i < nnodes;)
		if (below(nodes[i].path, path))
			nodes[i] = nodes[--nnodes];
		else
			i++;
	return RC_OK;
}

int fake_make_dirs(struct storage *s, const char *path, unsigned mode, struct error *err)
{
	(void)s, (void)mode, (void)err;
	if (!node_at(path))
		make(path, STORAGE_FOLDER, "");
	return RC_OK;
}

const char *fake_user(const struct storage *s)
{
	(void)s;
	return "ann";
}

/* --- the lease --- */

/* If the server cannot renew or identify a lock, there is no lease and no lock file. */
static void no_lease(void **state)
{
	struct lease *l;
	struct error err = {0};

	(void)state;
	thread_fails = true;
	assert_int_equal(lease_take(&l, NULL, LOCK, &err), RC_IO);
	assert_null(l);
	assert_int_equal(nnodes, 0);
	thread_fails = false;
	nameless = true;
	assert_int_equal(lease_take(&l, NULL, LOCK, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "found no fileId in the server's answer"));
	assert_int_equal(nnodes, 0);
}

/* An existing lock belongs to another run and stays. */
static void lease_of_another(void **state)
{
	struct lease *l;
	struct error err = {0};

	(void)state;
	make(LOCK, STORAGE_FILE, FOREIGN);
	assert_int_equal(lease_take(&l, NULL, LOCK, &err), RC_IO);
	assert_non_null(node_at(LOCK));
}

static void watching(void **state)
{
	static const struct {
		int64_t touched_at, stalls_at, stalls_ms;
		bool alive;
	} cases[] = {
		{0, 0, 0, false},
		{8000, 0, 0, true},
		/* the NameNode stops for half a minute, so the owner cannot touch the lock either
		 */
		{36000, 2000, 31000, true},
		{0, 2000, 31000, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error err = {0};
		bool alive = !cases[i].alive;

		start(NULL);
		make(LOCK, STORAGE_FILE, FOREIGN);
		touched_at = cases[i].touched_at;
		stalls_at = cases[i].stalls_at;
		stalls_ms = cases[i].stalls_ms;
		assert_int_equal(lease_alive(NULL, LOCK, &alive, &err), RC_OK);
		if (alive != cases[i].alive)
			fail_msg("case %zu", i);
	}
}

/* Is the owner believed alive? *watched is true if the process watched the lock first. */
static bool is_alive(long pid, unsigned long long began, bool *watched)
{
	char here[128], text[200];
	struct error err = {0};
	bool alive = false;

	machine(here);
	snprintf(text, sizeof text, "%s %ld %llu\n", here, pid, began);
	nnodes = 0;
	make(LOCK, STORAGE_FILE, text);
	int64_t before = now;
	assert_int_equal(lease_alive(NULL, LOCK, &alive, &err), RC_OK);
	*watched = now > before;
	return alive;
}

/* A read error of /proc proves neither that the owner lives nor that it died. */
static void owner_unknown(void **state)
{
	const long none = 1L << 30; /* no pid is so large */
	const long mine = (long)getpid();
	uint64_t began = start_of(mine);
	bool watched;

	(void)state;
	assert_true(began > 0);
	assert_true(is_alive(mine, began, &watched));
	assert_false(watched);
	assert_false(is_alive(mine, began + 1, &watched));
	assert_false(watched);
	assert_false(is_alive(none, began, &watched));
	assert_false(watched);
	/* the owner could not read its start, and died */
	assert_false(is_alive(none, 0, &watched));
	assert_true(watched);
	/* the owner lives, and this run cannot read its start */
	no_proc = true;
	touched_at = now + 8000;
	assert_true(is_alive(mine, began, &watched));
	assert_true(watched);
}

/* --- the folder --- */

static struct staging take_folder(void)
{
	static char dir[] = DIR, partial[] = PARTIAL, parent[] = "/x";
	struct staging s = {.dir = dir, .partial = partial, .parent = parent};
	struct error err = {0};
	bool found = false;

	make(parent, STORAGE_FOLDER, "");
	if (staging_remote.take(&s, &found, &err))
		fail_msg("%s", err.msg);
	make(PARTIAL "/mine", STORAGE_FILE, "");
	return s;
}

/* Another run assumed that this run was dead. The other run removes the sibling folder and makes
 * its own. */
static void taken_by_another(void)
{
	struct error err;

	fake_remove(NULL, PARTIAL, &err);
	make(PARTIAL, STORAGE_FOLDER, "");
	make(LOCK, STORAGE_FILE, FOREIGN);
	make(PARTIAL "/theirs", STORAGE_FILE, "");
}

static void assert_theirs(void)
{
	assert_non_null(node_at(PARTIAL "/theirs"));
	assert_non_null(node_at(LOCK));
	assert_null(node_at(DIR));
}

static void published(void **state)
{
	struct error err = {0};
	struct staging s = take_folder();

	(void)state;
	assert_int_equal(staging_remote.seal(&s, &err), RC_OK);
	assert_null(node_at(LOCK));
	assert_int_equal(staging_remote.rename(&s, &err), RC_OK);
	assert_non_null(node_at(DIR "/mine"));
	assert_null(node_at(PARTIAL));
	staging_remote.release(&s);
}

static void taken_over_before_the_end(void **state)
{
	struct error err = {0};
	struct staging s = take_folder();

	(void)state;
	taken_by_another();
	assert_int_equal(staging_remote.seal(&s, &err), RC_IO);
	assert_non_null(strstr(err.msg, "another run took"));
	staging_remote.drop(&s);
	assert_theirs();
	staging_remote.release(&s);
}

/* The run has removed the lock, so it blocks no other run. */
static void taken_over_at_the_end(void **state)
{
	struct error err = {0};
	struct staging s = take_folder();

	(void)state;
	assert_int_equal(staging_remote.seal(&s, &err), RC_OK);
	taken_by_another();
	assert_int_equal(staging_remote.rename(&s, &err), RC_IO);
	assert_non_null(strstr(err.msg, "another run took"));
	staging_remote.drop(&s);
	assert_theirs();
	assert_false(s.renamed);
	staging_remote.release(&s);
}

/* An unreadable folder may belong to another run. */
static void not_to_be_seen(void **state)
{
	struct staging s = take_folder();

	(void)state;
	taken_by_another();
	unreachable = LOCK;
	staging_remote.drop(&s);
	unreachable = NULL;
	assert_theirs();
	staging_remote.release(&s);
}

static void dropped(void **state)
{
	struct staging s = take_folder();

	(void)state;
	staging_remote.drop(&s);
	assert_null(node_at(PARTIAL));
	staging_remote.release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_lease, start),
		cmocka_unit_test_setup(lease_of_another, start),
		cmocka_unit_test_setup(watching, start),
		cmocka_unit_test_setup(owner_unknown, start),
		cmocka_unit_test_setup(published, start),
		cmocka_unit_test_setup(taken_over_before_the_end, start),
		cmocka_unit_test_setup(taken_over_at_the_end, start),
		cmocka_unit_test_setup(not_to_be_seen, start),
		cmocka_unit_test_setup(dropped, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
