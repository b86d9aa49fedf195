/*
 * s3_object.h - read an object of S3, or of a server with its protocol, as a stream of bytes
 *
 * A URI is s3://BUCKET/KEY. The environment has the region, the endpoint and the credentials, in
 * the variables and files of the AWS command line.
 */
#ifndef SALTMILL_S3_OBJECT_H
#define SALTMILL_S3_OBJECT_H

#include <stdbool.h>

#include "bytes.h"
#include "error.h"

/* Return true if the name is an object, and not a file of this machine. */
bool s3_is_object(const char *name);

struct s3_object;
/*
 * Find the object, and its size and version. `uri` must outlive the object. Returns RC_CONFIG if
 * the user may not read it, or if the settings are wrong. Returns RC_IO if it does not exist, or if
 * the server does not answer. Call s3_close whatever the result.
 */
int s3_open(struct s3_object **out, const char *uri, struct error *err);
/*
 * Start a thread that reads the object into a socket, whose other end is *fd. The caller owns *fd.
 * After a broken connection, the thread reads the rest of the same version.
 */
int s3_start(struct s3_object *o, int *fd, struct error *err);
/* Wait for the thread after the end of *fd. Returns its error if the bytes are not complete. */
int s3_end(struct s3_object *o, struct error *err);
/* Close the object. If the thread still reads, close *fd first. NULL is fine. */
void s3_close(struct s3_object *o);

/* --- s3_access.c --- */

/* Where and how to read a bucket. All strings are secrets or owned: release them. */
struct s3_access {
	char *url;     /* of the object */
	char *region;  /* "eu-central-1" */
	char *key_id;  /* AWS_ACCESS_KEY_ID */
	char *secret;  /* AWS_SECRET_ACCESS_KEY */
	char *session; /* AWS_SESSION_TOKEN, or NULL */
};
int s3_access_find(struct s3_access *out, const char *uri, struct error *err);
void s3_access_release(struct s3_access *a);

#endif
