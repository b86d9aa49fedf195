/*
 * staging.h - the steps of publishing, for local folders (staging_local.c), remote folders
 * (staging_remote.c) and objects (staging_objects.c)
 *
 * staging.c calls the steps in order.
 */
#ifndef SALTMILL_STAGING_H
#define SALTMILL_STAGING_H

#include "publish.h"

struct staging_kind {
	/*
	 * Take the sibling, which is then empty except for its lock. Set `*found` if the sibling
	 * existed before.
	 */
	int (*take)(struct staging *s, bool *found, struct error *err);
	int (*keep)(struct staging *s, struct error *err); /* NULL if there is nothing to do */
	/*
	 * Make the sibling durable, check that it still belongs to this run, and remove its lock.
	 */
	int (*seal)(struct staging *s, struct error *err);
	/*
	 * Rename the sibling to DIR, which must not exist, and make the rename durable. Set
	 * `s->renamed` if the rename happened or may have happened.
	 */
	int (*rename)(struct staging *s, struct error *err);
	void (*drop)(struct staging *s);    /* remove the sibling if it still belongs to this run */
	void (*release)(struct staging *s); /* free the members of `*s` that this kind uses */
};
extern const struct staging_kind staging_local, staging_remote, staging_objects;

struct staging {
	const struct staging_kind *kind;
	struct storage *storage;
	char *dir, *partial, *parent; /* paths in the storage */
	const char *name;	      /* name of the sibling in its parent */
	struct staging_rescue rescue; /* none if save is NULL */
	bool renamed;		      /* true if DIR became visible */
	int parent_fd, fd, lock_fd;   /* for a local folder, fd is the sibling; -1 if not open */
	struct lease *lease;	      /* for a remote folder */
	/* for a remote folder, the sibling's file id while the sibling belongs to this run */
	uint64_t partial_id;
};

#define STAGING_LOCK ".lock"

/*
 * In a storage without renames, mark a folder as the folder of an unfinished load, so that a later
 * run of the same load finds and removes it. Do nothing if the folder has the mark.
 */
int staging_mark(struct storage *s, const char *folder, struct error *err);
/* Return true if the name is the name of such a folder: 16 hexadecimal digits. */
bool staging_is_run(const char *name);

/* Save files of the folder before the removal of its content. */
static inline int staging_save(const struct staging *s, const char *folder, struct error *err)
{
	return s->rescue.save ? s->rescue.save(s->rescue.ctx, s->storage, folder, err) : RC_OK;
}

#endif
