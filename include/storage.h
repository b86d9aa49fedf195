/*
 * storage.h - places for files that this machine's folders are only one kind of
 *
 *   storage_open -> put, write, stat, move, list, remove, make folders -> storage_close
 *
 * A place is named by a URI:
 *
 *   /PATH, file:///PATH         this machine
 *   webhdfs://HOST[:PORT]/PATH  HDFS by its REST interface (http; 9870 when no port is said)
 *   swebhdfs://HOST[:PORT]/PATH the same by https (9871)
 *   hdfs://HOST[:PORT]/PATH     the same as webhdfs, as Hadoop's users write it: PORT is that of
 *                               Hadoop's own protocol, which is not spoken here, so the REST
 *                               interface is asked on HOST:9870 or where `http` says
 *
 * HOST[:PORT] may be a list with commas: NameNodes of which one is active; the one that answers is
 * kept.  Paths in all calls below are absolute within the place ("/bulk/ratings"); storage_path is
 * that of the URI itself.
 *
 * A storage may be used by several threads at once.  What fails because of a moment (no answer,
 * a NameNode that is standby or in safe mode, a server that says 5xx) is tried again with growing
 * waits until the patience is at its end: RC_IO.  RC_CONFIG: the place is not to be had as it was
 * named, or not by this user.
 */
#ifndef SALTMILL_STORAGE_H
#define SALTMILL_STORAGE_H

#include <stdbool.h>

#include "bytes.h"
#include "error.h"
#include "mem.h"

struct storage;

struct storage_options {
	const char *user;    /* HDFS; NULL: $HADOOP_USER_NAME, or who runs this */
	const char *http;    /* HOST[:PORT],...: who answers for an hdfs:// URI; NULL: its hosts */
	const char *ca_file; /* https: PEM; NULL: the system's */
	unsigned patience_s; /* 0: 60 */
};

/* Does it name a place elsewhere than in this machine's folders? */
bool storage_is_remote(const char *uri);
/* opt may be NULL.  Nothing is asked of the place yet.  RC_CONFIG: no such kind of URI. */
int storage_open(struct storage **out, const char *uri, const struct storage_options *opt,
		 struct error *err);
void storage_close(struct storage *s); /* NULL is fine */
/*
 * A signal came and what was begun is to be cleaned away: from now on it ends no request, and each
 * is made once, for a few seconds.
 */
void storage_hurry(struct storage *s);
/* The URI's path, without a slash at its end. */
const char *storage_path(const struct storage *s);
/* Whom the place takes us for; NULL where that has no name. */
const char *storage_user(const struct storage *s);
/* A path as people write it, with what stands before it in the URI; owned by the caller. */
char *storage_name(const struct storage *s, const char *path);

enum storage_kind { STORAGE_NOTHING, STORAGE_FILE, STORAGE_FOLDER };
struct storage_info {
	enum storage_kind kind;
	uint64_t bytes;
	/* HDFS: of the inode, which it keeps when it is moved; a file system's: the inode number.
	 * 0: not told. */
	uint64_t file_id;
	uint64_t block_bytes; /* HDFS; else 0 */
	bool opaque;	      /* HDFS: encrypted or erasure-coded, its checksum is of other bytes */
	unsigned mode;	      /* permission bits */
	int64_t modified_ms;
	char owner[128]; /* HDFS, a longer one cut short; else "" */
};
/* Nothing there is RC_OK and STORAGE_NOTHING. */
int storage_stat(struct storage *s, const char *path, struct storage_info *out, struct error *err);

struct storage_entry {
	const char *name; /* without the folder */
	struct storage_info info;
};
/* A folder's entries by name, in *a.  A folder that is not there is RC_IO. */
int storage_list(struct storage *s, const char *path, struct arena *a, struct storage_entry **out,
		 size_t *n, struct error *err);
/* With all above it; mode is that of the last, also against umask; 0: as the place does.  There
 * already is fine. */
int storage_make_dirs(struct storage *s, const char *path, unsigned mode, struct error *err);
int storage_set_mode(struct storage *s, const char *path, unsigned mode, struct error *err);
/*
 * What a file there could take up, as many times as the place stores each byte; UINT64_MAX: it does
 * not tell.  Quotas are not looked at.  Waits for a NameNode that was just started; RC_IO: it is in
 * safe mode, or no DataNode has reported to it.
 */
int storage_free(struct storage *s, const char *path, uint64_t *bytes, struct error *err);
/* What quotas of the folder and those above it leave; UINT64_MAX: none is told. */
struct storage_quota {
	uint64_t names; /* files and folders */
	uint64_t bytes; /* of files, as storage_free counts */
};
int storage_quota(struct storage *s, const char *path, struct storage_quota *out,
		  struct error *err);
/* RC_CONFIG: the place says that the user may not do `what`, as "-wx", there. */
int storage_may(struct storage *s, const char *path, const char *what, struct error *err);
/* Its time of change becomes that of this machine's clock. */
int storage_touch(struct storage *s, const char *path, struct error *err);
/* Rename without replacing: something at `to` is RC_IO.  Done again after a lost answer it is
 * recognised by the file_id. */
int storage_move(struct storage *s, const char *from, const char *to, struct error *err);
/* A file, or a folder with all in it.  Nothing there is fine. */
int storage_remove(struct storage *s, const char *path, struct error *err);
/* A whole file of at most `most` bytes (more: RC_LIMIT), to the end of out. */
int storage_read(struct storage *s, const char *path, size_t most, struct buf *out,
		 struct error *err);

/*
 * Copy a file of this machine.  What is at path is replaced, but when it is the same already (by
 * length and checksum) it is kept and *kept is true: a copying that broke off is gone on with by
 * doing it again.  The length and the checksum of what is there then were compared.  mode 0: as
 * the place does.  out (NULL: not wanted) is of the file there; kept may be NULL.
 */
int storage_put(struct storage *s, const char *local, const char *path, unsigned mode,
		struct storage_info *out, bool *kept, struct error *err);

/*
 * Write a file from what comes: begin, add*, end (or abort), which release it.  Something at path
 * is RC_IO.  A failure is kept, later calls return it.  One thread at a time.
 */
struct storage_file;
/* Beside the codes of error.h: a connection broke in the middle; writing it all again may do. */
enum { RC_BROKEN = -9 };
int storage_begin(struct storage *s, struct storage_file **out, const char *path, unsigned mode,
		  struct error *err);
int storage_add(struct storage_file *f, const void *ptr, size_t len, struct error *err);
/*
 * It is in the place for good, its length and checksum were compared.  digest (may be NULL):
 * XXH3-128 of all bytes, as out_digest.
 */
int storage_end(struct storage_file *f, uint8_t digest[16], struct error *err);
void storage_abort(struct storage_file *f); /* removes it; NULL is fine */
/* A whole small file, in the same way. */
int storage_write(struct storage *s, const char *path, struct bytes content, uint8_t digest[16],
		  struct error *err);

#endif
