/* no_webhdfs.c - in place of webhdfs*.c where libcurl is left out: places on this machine only */
#include "backend.h"

static const char *const no_schemes[] = {NULL};

const struct storage_backend webhdfs_storage = {.schemes = no_schemes};
