/* frames.h - interpret the exceptions of HBase's servers */
#ifndef SALTMILL_CLUSTER_FRAMES_H
#define SALTMILL_CLUSTER_FRAMES_H

#include "bytes.h"
#include "hbase.h"

/*
 * Read an ExceptionResponse (RPC.proto). The last part of the exception's class determines `*why`.
 * `*err` gets the first line of the stack trace. Returns RC_IO, or RC_DATA if the bytes are not
 * such a message.
 */
int exception_read(struct bytes message, struct hbase_failure *why, struct error *err);
/* Set `*why` and `*err` from a class and a text, as in the result of a failed procedure. */
int exception_tell(struct bytes class_name, struct bytes text, struct hbase_failure *why,
		   struct error *err);

#endif
