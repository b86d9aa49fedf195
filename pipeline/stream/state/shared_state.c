#include "state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"
#include "io.h"
#include "state_files.h"

static int has(const char *dir, const char *name, bool *there, struct error *err)
{
	char *path = mem_format("%s/%s", dir, name);
	int rc = io_exists(path, there, err);

	mem_free(path);
	return rc;
}

char *shared_dir(const char *dir, int32_t partition)
{
	return mem_format("%s/p%05d", dir, partition);
}

const char *shared_name(const char *name, int32_t *partition)
{
	char *end;

	if (name[0] != 'p' || strspn(name + 1, "0123456789") < 5)
		return NULL;
	unsigned long p = strtoul(name + 1, &end, 10);
	if (*end != '/' || p > INT32_MAX)
		return NULL;
	*partition = (int32_t)p;
	return end + 1;
}

static int lock(struct shared *s, struct error *err)
{
	bool alone, made = mkdir(s->dir, 0777) == 0;

	if (!made && errno != EEXIST)
		return error_set(err, RC_CONFIG, "cannot create %s: %s", s->dir, strerror(errno));
	int rc = state_keep_folder(s->dir, made, err);
	if (rc == RC_OK)
		rc = has(s->dir, "topic.json", &alone, err);
	if (rc)
		return rc;
	if (alone)
		return error_set(
			err, RC_CONFIG,
			"%s is the state of one instance, but the job has `share: true`; use "
			"another folder",
			s->dir);
	char *path = mem_format("%s/shared.lock", s->dir);
	s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	mem_free(path);
	if (s->lock_fd < 0)
		return error_set(err, RC_CONFIG, "cannot lock %s: %s", s->dir, strerror(errno));
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return RC_OK;
	return error_set(err, RC_BUSY, "another process prepares %s; waiting for its shared.lock",
			 s->dir);
}

int shared_open(struct shared *s, const char *dir, bool write, struct error *err)
{
	*s = (struct shared){.dir = dir, .lock_fd = -1};
	int rc = write ? lock(s, err) : RC_OK;
	char *path = mem_format("%s/shared.json", dir);
	bool known = false;
	if (rc == RC_OK)
		rc = shared_is(dir, &known, err);
	if (rc == RC_OK && known)
		rc = topic_read(path, &s->topic, &s->arena, err);
	mem_free(path);
	return rc;
}

void shared_close(struct shared *s)
{
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	arena_release(&s->arena);
	*s = (struct shared){.lock_fd = -1};
}

int shared_check(const struct shared *s, const struct state_topic *now, struct error *err)
{
	const struct state_topic *was = &s->topic;

	if (!was->topic)
		return RC_OK;
	int rc = state_same_topic(s->dir, was, now, err);
	if (rc)
		return rc;
	if (now->npartitions < was->npartitions)
		return error_set(
			err, RC_DATA,
			"topic %s: found %d partitions before and %d partitions now, so somebody "
			"deleted and recreated it; published loads are safe; use a new state "
			"folder",
			now->topic, was->npartitions, now->npartitions);
	return RC_OK;
}

/*
 * Set the start of a partition. If the partition already has a position, keep the position, because
 * the caller repeats this call after a crash.
 */
static int take_in(const struct shared *s, int32_t partition, int64_t start, struct error *err)
{
	struct state *state = NULL;
	char *dir = shared_dir(s->dir, partition);
	const struct offset_range at = {.partition = partition, .start = start, .end = start};
	int rc = state_open(&state, dir, true, err);

	if (rc == RC_OK && state_is_new(state))
		rc = state_seek(state, &at, 1, err);
	state_close(state);
	mem_free(dir);
	return rc;
}

int shared_take_in(struct shared *s, const struct state_topic *now, const int64_t *starts,
		   struct error *err)
{
	int rc = RC_OK;

	for (int32_t p = s->topic.npartitions; rc == RC_OK && p < now->npartitions; p++)
		rc = take_in(s, p, starts[p], err);
	if (rc)
		return rc;
	crash_at("taken-in");
	char *path = mem_format("%s/shared.json", s->dir);
	rc = topic_write(path, now, err);
	mem_free(path);
	if (rc == RC_OK)
		s->topic = (struct state_topic){arena_strdup(&s->arena, now->cluster),
						arena_strdup(&s->arena, now->topic),
						now->npartitions, NULL};
	return rc;
}

/* --- rebuild --- */

int shared_folders(const char *dir, int32_t *end, struct error *err)
{
	int32_t n = 0, p;

	DIR *d = opendir(dir);
	int rc = d || errno == ENOENT ? RC_OK : error_errno(err, "cannot read %s", dir);
	for (const struct dirent *e; d && (errno = 0, e = readdir(d));) {
		char *name = mem_format("%s/", e->d_name);
		const char *rest = shared_name(name, &p);

		if (rest && !*rest && p >= n)
			n = p + 1;
		mem_free(name);
	}
	if (d && errno)
		rc = error_errno(err, "cannot read %s", dir);
	if (d)
		closedir(d);
	*end = n;
	return rc;
}

/* Find the topic in the states of the partitions. The topic is NULL if no state knows it. */
static int gather_topic(struct shared *s, struct error *err)
{
	struct state_topic t;
	struct error ignored;
	int32_t n;
	int rc = shared_folders(s->dir, &n, err);

	if (rc)
		return rc;
	for (int32_t p = 0; p < n; p++) {
		char *folder = shared_dir(s->dir, p), *path = mem_format("%s/topic.json", folder);
		bool known = topic_read(path, &t, &s->arena, &ignored) == RC_OK;

		mem_free(folder);
		mem_free(path);
		if (!known)
			continue;
		rc = s->topic.topic ? state_same_topic(s->dir, &s->topic, &t, err) : RC_OK;
		if (rc)
			return rc;
		if (s->topic.topic && t.npartitions < s->topic.npartitions)
			t.npartitions = s->topic.npartitions;
		s->topic = t;
	}
	if (!s->topic.topic)
		return error_set(err, RC_DATA,
				 "no state in %s contains its topic; add the folders of its "
				 "loads to the command; saltmill changed nothing",
				 s->dir);
	if (s->topic.npartitions < n)
		s->topic.npartitions = n;
	return RC_OK;
}

static int replace_topic(const struct shared *s, struct buf *lines, struct error *err)
{
	char *path = mem_format("%s/shared.json", s->dir), *aside = mem_format("%s.damaged", path);
	int rc = RC_OK;

	if (rename(path, aside) == 0)
		buf_printf(lines, "%s was damaged: now %s\n", path, aside);
	else if (errno != ENOENT)
		rc = error_errno(err, "cannot rename %s", path);
	if (rc == RC_OK)
		rc = topic_write(path, &s->topic, err);
	if (rc == RC_OK)
		buf_printf(lines, "%s was rebuilt: topic %s, %d partitions\n", path, s->topic.topic,
			   s->topic.npartitions);
	mem_free(aside);
	mem_free(path);
	return rc;
}

int shared_rebuild(const char *dir, struct buf *lines, struct error *err)
{
	struct shared s;
	struct error bad;
	int rc = shared_open(&s, dir, true, &bad);

	if (rc && rc != RC_DATA) {
		*err = bad; /* another process holds the lock, or the folder has no shared state */
	} else if (rc || !s.topic.topic) {
		s.topic = (struct state_topic){0};
		rc = gather_topic(&s, err);
		if (rc == RC_OK)
			rc = replace_topic(&s, lines, err);
	}
	shared_close(&s);
	return rc;
}
