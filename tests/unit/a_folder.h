/* a_folder.h - setup and teardown that give each test its own folder, with the folder's path in
 * *state */
#ifndef SALTMILL_TEST_A_FOLDER_H
#define SALTMILL_TEST_A_FOLDER_H

#include <stdlib.h>

#include "io.h"
#include "mem.h"

static inline int setup(void **state)
{
	char *root = mem_strdup("/tmp/saltmill-test-XXXXXX");

	assert_non_null(mkdtemp(root));
	*state = root;
	return 0;
}

static inline int teardown(void **state)
{
	struct error err;

	assert_int_equal(io_remove_tree(*state, &err), RC_OK);
	mem_free(*state);
	return 0;
}

#endif
