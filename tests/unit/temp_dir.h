/* temp_dir.h - setup and teardown that give each test program its own folder */
#ifndef SALTMILL_TEST_TEMP_DIR_H
#define SALTMILL_TEST_TEMP_DIR_H

#include <stdio.h>
#include <stdlib.h>

#include "io.h"

static char dir[] = "/tmp/saltmill-test-XXXXXX";

static inline int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static inline int teardown(void **state)
{
	struct error err;

	(void)state;
	return io_remove_tree(dir, &err);
}

static inline char *path_of(const char *name)
{
	static char path[200];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

#endif
