/*
 * staging.h - the steps of publishing that differ by place: a local folder (staging_local.c) or a
 * remote one (staging_remote.c); staging.c has their order
 */
#ifndef SALTMILL_STAGING_H
#define SALTMILL_STAGING_H

#include "publish.h"

struct staging_kind {
	/* Take the sibling, empty except for its lock. *found: it existed before. */
	int (*take)(struct staging *s, bool *found, struct error *err);
	int (*keep)(struct staging *s, struct error *err);
	/* Make the sibling durable, check that it is still ours, and remove its lock. */
	int (*seal)(struct staging *s, struct error *err);
	/* It becomes DIR, which is not there, and that lasts; s->renamed also when only perhaps. */
	int (*rename)(struct staging *s, struct error *err);
	void (*drop)(struct staging *s);    /* the sibling, if it is still ours */
	void (*release)(struct staging *s); /* what the kind holds of *s */
};
extern const struct staging_kind staging_local, staging_remote;

struct staging {
	const struct staging_kind *kind;
	struct storage *storage;
	char *dir, *partial, *parent; /* paths in the storage */
	const char *name;	      /* of the sibling in its parent */
	struct staging_rescue rescue; /* save NULL: none */
	bool renamed;		      /* DIR became visible */
	int parent_fd, fd, lock_fd;   /* local; fd: of the sibling; -1: not open */
	struct lease *lease;	      /* remote */
	uint64_t partial_id;	      /* remote: file id of the sibling while it is ours */
};

#define STAGING_LOCK ".lock"

/* Called before the content of the folder is removed. */
int staging_save(const struct staging *s, const char *folder, struct error *err);

#endif
