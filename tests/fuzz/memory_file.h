/*
 * memory_file.h - makes files from bytes and checks error messages, for the fuzz targets
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

/* Makes a file with these bytes and writes the file's name to `path`. The caller closes the
 * file. */
static inline int memory_file(struct bytes content, char path[64])
{
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, content.ptr, content.len) != (ssize_t)content.len)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* Checks that a failed call has set an error message. */
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
