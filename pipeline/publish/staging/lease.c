#include "lease.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "pool.h"

#define TOUCH_MS  5000
#define WATCH_MS  30000
#define LOOK_MS	  500
#define MOST	  4096
#define BOOT_ID	  "/proc/sys/kernel/random/boot_id"
#define PROCESSES "/proc/self/ns/pid"

struct lease {
	struct storage *storage;
	char *path;
	uint64_t file_id;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ends;
	bool runs, ended;
};

/* --- the text "BOOT NAMESPACE PID START", which identifies the owner's process --- */

/* Return when a process started; 0 if there is no such process, or no access to /proc. */
static uint64_t start_of(long pid)
{
	char path[64];
	struct buf text = {0};
	struct error ignored;

	unsigned long long start = 0;
	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	if (io_read_file_upto(path, MOST, &text, &ignored) == RC_OK) {
		buf_put(&text, 0);
		/* the 22nd value of proc(5), after the name, which may contain any byte */
		const char *p = strrchr((const char *)text.ptr, ')');
		for (int i = 0; p && i < 20; i++)
			p = strchr(p + 1, ' ');
		start = p ? strtoull(p, NULL, 10) : 0;
	}
	buf_release(&text);
	return start;
}

/* Return the id of this machine and its process namespace, or "" if it is unknown. */
static void machine(char out[128])
{
	struct buf boot = {0};
	struct error ignored;
	struct stat st;

	out[0] = 0;
	if (io_read_file_upto(BOOT_ID, 64, &boot, &ignored) == RC_OK && boot.len >= 36 &&
	    stat(PROCESSES, &st) == 0)
		snprintf(out, 128, "%.36s %llu", (const char *)boot.ptr,
			 (unsigned long long)st.st_ino);
	buf_release(&boot);
}

static void describe_owner(struct buf *out)
{
	char here[128];

	machine(here);
	buf_printf(out, "%s %ld %llu\n", here, (long)getpid(),
		   (unsigned long long)start_of((long)getpid()));
}

/* Return true if the process has ended. An unreadable file of /proc proves nothing. */
static bool is_gone(long pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	return access(path, F_OK) < 0 && errno == ENOENT;
}

/* OWNER_ELSEWHERE: on another machine, or unknown, so saltmill must watch its lock. */
enum owner { OWNER_LIVES, OWNER_DIED, OWNER_ELSEWHERE };

static enum owner owner_of(const char *text)
{
	char here[128];

	machine(here);
	size_t n = strlen(here);
	long pid = 0;
	unsigned long long start = 0;
	/* an owner that could not read its own start wrote 0 */
	if (n == 0 || strncmp(text, here, n) != 0 ||
	    sscanf(text + n, " %ld %llu", &pid, &start) != 2 || !start)
		return OWNER_ELSEWHERE;
	uint64_t now = start_of(pid);
	if (now)
		return now == start ? OWNER_LIVES : OWNER_DIED;
	return is_gone(pid) ? OWNER_DIED : OWNER_ELSEWHERE;
}

/* --- keep the lease --- */

static void *keep_touching(void *arg)
{
	struct lease *l = arg;
	struct error ignored;

	stop_unwatched = true; /* touch the file even if the work hangs */
	pthread_mutex_lock(&l->lock);
	while (!l->ended) {
		clock_wait(&l->ends, &l->lock, TOUCH_MS);
		if (l->ended)
			break;
		pthread_mutex_unlock(&l->lock);
		storage_touch(l->storage, l->path, &ignored);
		pthread_mutex_lock(&l->lock);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

static struct lease *lease_new(struct storage *s, const char *path, uint64_t file_id)
{
	struct lease *l = mem_calloc(1, sizeof *l);

	l->storage = s;
	l->path = mem_strdup(path);
	l->file_id = file_id;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->ends, NULL);
	l->runs = pthread_create(&l->thread, NULL, keep_touching, l) == 0;
	return l;
}

int lease_take(struct lease **out, struct storage *s, const char *path, struct error *err)
{
	struct buf owner = {0};
	struct storage_info info = {0};
	struct error ignored;

	*out = NULL;
	describe_owner(&owner);
	int rc = storage_write(s, path, buf_bytes(&owner), NULL, err);
	buf_release(&owner);
	if (rc)
		return rc;
	rc = storage_stat(s, path, &info, err);
	if (rc == RC_OK && info.file_id == 0)
		rc = error_set(
			err, RC_CONFIG,
			"%s: found no fileId in the server's answer, expected one, which "
			"identifies a lock; write the addresses of NameNodes, not of a gateway",
			path);
	struct lease *l = rc ? NULL : lease_new(s, path, info.file_id);
	if (l && !l->runs) {
		rc = error_set(err, RC_IO, "cannot start the thread that refreshes the lock of %s",
			       path);
		lease_end(l);
		l = NULL;
	}
	if (rc)
		storage_remove(s, path, &ignored);
	*out = l;
	return rc;
}

int lease_held(struct lease *l, bool *held, struct error *err)
{
	struct storage_info info;
	int rc = storage_stat(l->storage, l->path, &info, err);

	*held = rc == RC_OK && info.kind == STORAGE_FILE && info.file_id == l->file_id;
	return rc;
}

void lease_end(struct lease *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->ended = true;
	pthread_cond_signal(&l->ends);
	pthread_mutex_unlock(&l->lock);
	if (l->runs)
		pthread_join(l->thread, NULL);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->ends);
	mem_free(l->path);
	mem_free(l);
}

/* --- the lock of another owner --- */

/*
 * Watch the file for 30 s. If the server does not answer for some time, the owner could not touch
 * the file either. In that case, watch for 30 more seconds.
 */
static int watch(struct storage *s, const char *path, bool *alive, struct error *err)
{
	struct storage_info first, now;
	int64_t end = clock_ms() + WATCH_MS;
	int rc = storage_stat(s, path, &first, err);

	*alive = false;
	while (rc == RC_OK && !*alive && first.kind == STORAGE_FILE && clock_ms() < end) {
		int64_t began = clock_ms();

		clock_sleep_ms(LOOK_MS);
		rc = stop_check(err);
		if (rc == RC_OK)
			rc = storage_stat(s, path, &now, err);
		if (rc == RC_OK && now.file_id != first.file_id)
			break; /* the owner has removed the file */
		*alive = rc == RC_OK && now.modified_ms != first.modified_ms;
		if (clock_ms() - began > TOUCH_MS)
			end = clock_ms() + WATCH_MS;
	}
	return rc;
}

int lease_alive(struct storage *s, const char *path, bool *alive, struct error *err)
{
	struct buf text = {0};
	struct error unread;
	enum owner owner = OWNER_ELSEWHERE;

	*alive = false;
	if (storage_read(s, path, MOST, &text, &unread) == RC_OK) {
		buf_put(&text, 0);
		owner = owner_of((const char *)text.ptr);
	}
	buf_release(&text);
	*alive = owner == OWNER_LIVES;
	return owner == OWNER_ELSEWHERE ? watch(s, path, alive, err) : RC_OK;
}
