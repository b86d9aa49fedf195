/* verify_remote.h - check a load in HDFS or S3 (inside this folder only) */
#ifndef SALTMILL_VERIFY_REMOTE_H
#define SALTMILL_VERIFY_REMOTE_H

#include "publish.h"

/* Copy scripts and rejects to `root`. The path of `s` is the load. */
void verify_bring(struct findings *out, struct storage *s, const struct manifest *m,
		  const char *root);
/* Check that the load has no other files, as verify_folder does. */
void verify_objects(struct findings *out, struct storage *s, const struct manifest *m);

#endif
