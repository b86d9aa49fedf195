/* loader.c - find a library's functions by their names */
#include <dlfcn.h>
#include <string.h>

#include "late.h"

static int cannot_load(const char *file, const char *package, struct error *err)
{
	const char *why = dlerror(); /* the message contains the file name */

	return error_set(err, RC_IO, "cannot load %s (Debian's package %s): %s", file, package,
			 why ? why : "the loader gives no reason");
}

int late_load(const char *file, const char *package, const struct late_function *functions,
	      struct error *err)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return cannot_load(file, package, err);
	for (const struct late_function *f = functions; f->name; f++) {
		void *found = dlsym(library, f->name);

		if (!found)
			return cannot_load(file, package, err);
		/*
		 * copy the address, because ISO C cannot convert the result of dlsym to a function
		 * pointer
		 */
		memcpy(f->at, &found, sizeof found);
	}
	return RC_OK;
}
