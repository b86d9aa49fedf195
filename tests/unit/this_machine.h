/* this_machine.h - the storage of local files, for a group of tests */
#ifndef SALTMILL_TEST_THIS_MACHINE_H
#define SALTMILL_TEST_THIS_MACHINE_H

#include "storage.h"

static struct storage *here;

static inline int open_here(void **state)
{
	struct error err;

	(void)state;
	return storage_open(&here, "/", NULL, &err);
}

static inline int close_here(void **state)
{
	(void)state;
	storage_close(here);
	return 0;
}

#endif
