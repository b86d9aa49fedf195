/*
 * memory_file.h - what the fuzz targets share: bytes as a file, refusals that say something
 */
#ifndef SALTMILL_FUZZ_MEMORY_FILE_H
#define SALTMILL_FUZZ_MEMORY_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bytes.h"
#include "error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file with these bytes, which path then names; close it. */
static inline int memory_file(struct bytes content, char path[64])
{
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, content.ptr, content.len) != (ssize_t)content.len)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* Who refuses says why. */
static inline void expect_sentence(int rc, const struct error *err)
{
	if (rc < 0 &&
	    (err->code != rc || !memchr(err->msg, '\0', sizeof err->msg) || strlen(err->msg) < 10))
		abort();
}

static inline void expect_same(struct bytes a, struct bytes b)
{
	if (!bytes_eq(a, b))
		abort();
}

#endif
