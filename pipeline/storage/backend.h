/*
 * backend.h - the functions of a storage backend; storage.c lists the backends
 *
 * A new backend is a file with such a table, and a line in storage.c.
 */
#ifndef SALTMILL_BACKEND_H
#define SALTMILL_BACKEND_H

#include "clock.h"
#include "storage.h"

/*
 * The functions of a backend. storage.h describes `begin`, `add` and `end`. Before `end`, only the
 * writer sees its file.
 */
struct storage_backend {
	/* schemes such as "hdfs", with a NULL at the end; empty for URIs without a scheme */
	const char *const *schemes;
	bool remote, copies; /* `copies` if a move writes the file again */
	/*
	 * Open a storage and set `s->self`. `rest` is the URI after "scheme:", or the whole URI if
	 * it has no scheme.
	 */
	int (*open)(struct storage *s, const char *scheme, const char *rest,
		    const struct storage_options *opt, struct error *err);
	void (*close)(struct storage *s);
	void (*hurry)(struct storage *s); /* NULL if the backend never waits */
	int (*stat)(struct storage *s, const char *path, struct storage_info *out,
		    struct error *err);
	int (*list)(struct storage *s, const char *path, struct arena *a,
		    struct storage_entry **out, size_t *n, struct error *err); /* in any order */
	int (*make_dirs)(struct storage *s, const char *path, unsigned mode, struct error *err);
	int (*set_mode)(struct storage *s, const char *path, unsigned mode, struct error *err);
	int (*free)(struct storage *s, const char *path, uint64_t *bytes, struct error *err);
	int (*quota)(struct storage *s, const char *path, struct storage_quota *out,
		     struct error *err); /* NULL if the backend has none */
	int (*may)(struct storage *s, const char *path, const char *what,
		   struct error *err); /* NULL if the backend does not know */
	int (*token)(struct storage *s, const char *uri, struct storage_token *out,
		     struct error *err); /* NULL if the backend has none */
	int (*renew)(struct storage *s, const struct hadoop_tokens *tokens, bool cancel,
		     const struct hadoop_token **which, int64_t *until_ms,
		     struct error *err); /* NULL if the backend has no tokens */
	int (*touch)(struct storage *s, const char *path, struct error *err);
	int (*move)(struct storage *s, const char *from, const char *to, struct error *err);
	int (*remove)(struct storage *s, const char *path, struct error *err);
	void (*tidy)(struct storage *s, const char *path); /* NULL if there is nothing to do */
	int (*read)(struct storage *s, const char *path, size_t most, struct buf *out,
		    struct error *err);
	int (*read_at)(struct storage *s, const char *path, uint64_t offset, void *to, size_t len,
		       struct error *err);
	int (*pass)(struct storage *s, const char *path, const struct storage_info *of,
		    uint64_t first, storage_take *take, void *ctx,
		    struct error *err); /* NULL: storage.c reads parts */
	int (*put)(struct storage *s, const char *local, const char *path, unsigned mode,
		   struct storage_info *out, bool *kept, struct error *err);
	int (*copy)(struct storage *s, struct storage *from, const char *source,
		    const struct storage_info *of, const char *path,
		    struct error *err); /* NULL if the servers copy no files */
	int (*begin)(struct storage *s, void **file, const char *path, unsigned mode,
		     struct error *err);
	int (*add)(void *file, const void *ptr, size_t len, struct error *err);
	int (*end)(void *file, uint8_t digest[16], struct error *err); /* frees `file` if RC_OK */
	void (*abort)(void *file);
};

struct storage {
	const struct storage_backend *backend;
	char *prefix; /* part of the URI before the path, "" for local paths */
	char *path, *user;
	void *self;		  /* data of the backend */
	struct throttle throttle; /* `put` waits for it before it sends bytes */
};

extern const struct storage_backend file_storage, webhdfs_storage, s3_storage;

#endif
