/* late.c - a library's functions by their names */
#include "late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static int cannot(const struct late_library *l, struct error *err)
{
	const char *why = dlerror(); /* names the file */
	return error_set(err, RC_IO, "cannot load %s (Debian's package %s): %s", l->file,
			 l->package, why ? why : "the loader does not say why");
}

static int load(const struct late_library *l, struct error *err)
{
	void *library = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return cannot(l, err);
	for (size_t i = 0; i < l->nfunctions; i++) {
		void *f = dlsym(library, l->function[i].name);
		if (!f)
			return cannot(l, err);
		/* POSIX lets what dlsym gives be a function; ISO C does not know of it */
		memcpy(l->function[i].at, &f, sizeof f);
	}
	return RC_OK;
}

int late_load(struct late_library *l, struct error *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	int rc = l->loaded ? RC_OK : load(l, err);
	l->loaded = rc == RC_OK;
	pthread_mutex_unlock(&lock);
	return rc;
}
