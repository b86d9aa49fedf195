/*
 * syncer.c - write files to disk on a separate thread (see io.h)
 *
 * The queue is short because files are few and large. When the queue is full, the writer of a file
 * syncs the file itself.
 */
#include "io.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "mem.h"

enum { QUEUE = 16 };

struct syncer {
	pthread_mutex_t lock;
	pthread_cond_t more;
	pthread_t thread;
	bool running, ended;
	struct waiting {
		int fd;
		char *path;
	} queue[QUEUE];
	size_t count;
	struct error failure; /* the first failure; `code` 0 means no failure */
};

static void sync_one(struct syncer *s, const struct waiting *w)
{
	int failed = fsync(w->fd) < 0 ? errno : 0;

	if (close(w->fd) < 0 && !failed)
		failed = errno;
	if (failed && !s->failure.code) {
		errno = failed;
		error_errno(&s->failure, "cannot write %s", w->path);
	}
	mem_free(w->path);
}

static void *run(void *arg)
{
	struct syncer *s = arg;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (s->count == 0 && !s->ended)
			pthread_cond_wait(&s->more, &s->lock);
		if (s->count == 0)
			break;
		struct waiting first = s->queue[0];
		s->count--;
		for (size_t i = 0; i < s->count; i++)
			s->queue[i] = s->queue[i + 1];
		pthread_mutex_unlock(&s->lock);
		sync_one(s, &first);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

struct syncer *syncer_new(void)
{
	struct syncer *s = mem_calloc(1, sizeof *s);

	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	/* if the thread does not start, every writer syncs its files itself */
	s->running = pthread_create(&s->thread, NULL, run, s) == 0;
	return s;
}

bool syncer_take(struct syncer *s, int fd, const char *path)
{
	char *name = s && s->running ? mem_try_strdup(path) : NULL;

	if (!name)
		return false;
	pthread_mutex_lock(&s->lock);
	bool taken = s->count < QUEUE;
	if (taken)
		s->queue[s->count++] = (struct waiting){fd, name};
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
	if (!taken)
		mem_free(name);
	return taken;
}

int syncer_finish(struct syncer *s, struct error *err)
{
	if (!s)
		return RC_OK;
	pthread_mutex_lock(&s->lock);
	s->ended = true;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
	if (s->running)
		pthread_join(s->thread, NULL);
	int rc = s->failure.code;
	if (rc)
		*err = s->failure;
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->more);
	mem_free(s);
	return rc;
}
