/* object.c - read remote files by a thread, and list them */
#include "input/object.h"

#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "storage.h"

struct object {
	const char *uri;
	struct storage *storage;
	struct storage_info info;
	uint64_t first; /* the thread begins at this byte */
	int to;		/* the thread's end of the socket, -1 if there is no thread */
	pthread_t thread;
	bool started;
	struct error failure; /* of the thread; its code is RC_OK if all bytes were passed on */
};

bool object_is_remote(const char *name)
{
	return storage_is_remote(name) && strncmp(name, "http://", 7) != 0 &&
	       strncmp(name, "https://", 8) != 0;
}

static int look(struct object *o, struct error *err)
{
	int rc = storage_stat(o->storage, storage_path(o->storage), &o->info, err);

	if (rc || o->info.kind == STORAGE_FILE)
		return rc;
	return error_set(err, RC_IO, "%s: found %s", o->uri,
			 o->info.kind == STORAGE_FOLDER
				 ? "a folder, expected a file; end its name with a slash"
				 : "no such object");
}

int object_open(struct object **out, const char *uri, struct error *err)
{
	struct object *o = mem_calloc(1, sizeof *o);

	*o = (struct object){.uri = uri, .to = -1};
	*out = o;
	int rc = storage_open(&o->storage, uri, NULL, err);
	return rc ? rc : look(o, err);
}

uint64_t object_bytes(const struct object *o)
{
	return o->info.bytes;
}

/* Pass bytes on. Ends the reading when nobody reads the socket. */
static bool pass_on(void *ctx, const void *ptr, size_t n)
{
	const struct object *o = ctx;
	const uint8_t *p = ptr;

	while (n) {
		ssize_t sent = send(o->to, p, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return false;
		p += sent;
		n -= (size_t)sent;
	}
	return true;
}

static void *read_all(void *ctx)
{
	struct object *o = ctx;
	int rc = storage_pass(o->storage, storage_path(o->storage), &o->info, o->first, pass_on, o,
			      &o->failure);

	o->failure.code = rc == RC_END ? RC_OK : rc;
	shutdown(o->to, SHUT_WR);
	return NULL;
}

static void stop(struct object *o)
{
	if (o->started)
		pthread_join(o->thread, NULL);
	if (o->to >= 0)
		close(o->to);
	o->started = false;
	o->to = -1;
}

int object_start(struct object *o, uint64_t first, int *fd, struct error *err)
{
	int ends[2];

	stop(o);
	o->first = first;
	o->failure.code = RC_OK;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(err, "%s: cannot make a socket", o->uri);
	o->to = ends[1];
	*fd = ends[0];
	errno = pthread_create(&o->thread, NULL, read_all, o);
	if (errno)
		return error_errno(err, "%s: cannot start a thread", o->uri);
	o->started = true;
	return RC_OK;
}

int object_end(struct object *o, struct error *err)
{
	if (o->started)
		pthread_join(o->thread, NULL);
	o->started = false;
	if (o->failure.code)
		*err = o->failure;
	return o->failure.code;
}

void object_close(struct object *o)
{
	if (!o)
		return;
	if (o->storage)
		storage_hurry(o->storage);
	stop(o);
	storage_close(o->storage);
	mem_free(o);
}

/* --- folders and patterns --- */

static bool hidden(const char *name)
{
	return name[0] == '.' || name[0] == '_';
}

static int no_files(const char *uri, bool pattern, struct error *err)
{
	return error_set(err, RC_IO, "%s: found no %s, expected at least one", uri,
			 pattern ? "file that matches this pattern" : "files in this folder");
}

/* Return the URI of the folder before the last slash, which the bucket or host has at least. */
static int split(const char *uri, const char **name, char **folder, struct error *err)
{
	const char *slash = strrchr(uri, '/'), *host = strstr(uri, "://") + 3;
	const char *path = strchr(host, '/');

	*name = slash + 1;
	*folder = mem_format("%.*s", (int)(slash + (slash == path) - uri), uri);
	if (path && strcspn(path, "*?[") >= (size_t)(*name - path))
		return RC_OK;
	return error_set(
		err, RC_CONFIG,
		"%s: found a pattern in the name of a folder, expected patterns only after "
		"the last slash",
		uri);
}

int object_list(const char *uri, struct arena *a, const char ***out, size_t *n, struct error *err)
{
	struct storage *s = NULL;
	struct storage_entry *all = NULL;
	size_t nall = 0;
	const char *name;
	char *folder;
	int rc = split(uri, &name, &folder, err);
	/* the storage wants a path, and the whole bucket has none */
	bool whole = folder[strlen(folder) - 1] == '/';
	char *place = whole ? mem_format("%s.", folder) : mem_strdup(folder);

	*n = 0;
	*out = NULL;
	if (rc == RC_OK)
		rc = storage_open(&s, place, NULL, err);
	if (rc == RC_OK)
		rc = storage_list(s, whole ? "/" : storage_path(s), a, &all, &nall, err);
	for (size_t i = 0; rc == RC_OK && i < nall; i++) {
		if (all[i].info.kind != STORAGE_FILE || hidden(all[i].name) ||
		    (*name && fnmatch(name, all[i].name, FNM_PERIOD) != 0))
			continue;
		*out = arena_grow(a, *out, *n, sizeof **out);
		(*out)[(*n)++] = arena_format(a, "%s%s%s", folder, whole ? "" : "/", all[i].name);
	}
	if (rc == RC_OK && *n == 0)
		rc = no_files(uri, *name, err);
	storage_close(s);
	mem_free(place);
	mem_free(folder);
	return rc;
}
