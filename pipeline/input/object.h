/*
 * object.h - read a remote file, such as an object of S3, as a stream of bytes
 *
 * The name is a URI of storage.h.
 */
#ifndef SALTMILL_OBJECT_H
#define SALTMILL_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "error.h"
#include "mem.h"

/* Return true if the name is that of a remote file. */
bool object_is_remote(const char *name);

struct object;
/*
 * Find the file, and its size and version. `uri` must outlive the object. Returns RC_CONFIG if the
 * user may not read it, or if the settings are wrong. Returns RC_IO if it does not exist, or if the
 * server does not answer. Call object_close whatever the result.
 */
int object_open(struct object **out, const char *uri, struct error *err);
uint64_t object_bytes(const struct object *o);
/*
 * Start a thread that passes the bytes from `first` on into a socket, whose other end is *fd. The
 * caller owns *fd. After a broken connection, the thread reads the rest of the same version. If a
 * thread already reads, close its *fd first.
 */
int object_start(struct object *o, uint64_t first, int *fd, struct error *err);
/* Wait for the thread after the end of *fd. Returns its error if the bytes are not complete. */
int object_end(struct object *o, struct error *err);
/* Close the object. If the thread still reads, close *fd first. NULL is fine. */
void object_close(struct object *o);

/*
 * List the files of a folder ("s3://b/in/") or the files that match a pattern ("s3://b/in/a*.csv"),
 * with their URIs in *a, by name. The pattern may have *, ? and [...] after the last slash.
 */
int object_list(const char *uri, struct arena *a, const char ***out, size_t *n, struct error *err);

#endif
