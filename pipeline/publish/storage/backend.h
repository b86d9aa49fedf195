/*
 * backend.h - what a kind of place can do; storage.c has the table of them
 *
 * A new kind (S3 is the next: put, stat, move as copy and remove, list, remove) is a file with such
 * a table, and a line in storage.c.
 */
#ifndef SALTMILL_BACKEND_H
#define SALTMILL_BACKEND_H

#include "storage.h"

/*
 * The meaning of begin, add and end is in storage.h. A file is visible only to its writer until
 * end.
 */
struct storage_backend {
	const char *const *schemes; /* "hdfs", ends with NULL; none: URIs without a scheme */
	bool remote;
	/* Sets self of *s; rest: the URI after "scheme:", or all of it. */
	int (*open)(struct storage *s, const char *scheme, const char *rest,
		    const struct storage_options *opt, struct error *err);
	void (*close)(struct storage *s);
	void (*hurry)(struct storage *s); /* NULL: nothing waits there */
	int (*stat)(struct storage *s, const char *path, struct storage_info *out,
		    struct error *err);
	int (*list)(struct storage *s, const char *path, struct arena *a,
		    struct storage_entry **out, size_t *n, struct error *err); /* in any order */
	int (*make_dirs)(struct storage *s, const char *path, unsigned mode, struct error *err);
	int (*set_mode)(struct storage *s, const char *path, unsigned mode, struct error *err);
	int (*free)(struct storage *s, const char *path, uint64_t *bytes, struct error *err);
	int (*quota)(struct storage *s, const char *path, struct storage_quota *out,
		     struct error *err); /* NULL: there are none */
	int (*may)(struct storage *s, const char *path, const char *what,
		   struct error *err); /* NULL: unknown */
	int (*touch)(struct storage *s, const char *path, struct error *err);
	int (*move)(struct storage *s, const char *from, const char *to, struct error *err);
	int (*remove)(struct storage *s, const char *path, struct error *err);
	int (*read)(struct storage *s, const char *path, size_t most, struct buf *out,
		    struct error *err);
	int (*put)(struct storage *s, const char *local, const char *path, unsigned mode,
		   struct storage_info *out, bool *kept, struct error *err);
	int (*begin)(struct storage *s, void **file, const char *path, unsigned mode,
		     struct error *err);
	int (*add)(void *file, const void *ptr, size_t len, struct error *err);
	int (*end)(void *file, uint8_t digest[16], struct error *err); /* frees file if RC_OK */
	void (*abort)(void *file);
};

struct storage {
	const struct storage_backend *backend;
	char *prefix; /* of the URI, before the path; "" for local paths */
	char *path, *user;
	void *self; /* of the backend */
};

extern const struct storage_backend file_storage, webhdfs_storage;

#endif
