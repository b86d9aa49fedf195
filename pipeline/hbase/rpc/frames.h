/*
 * frames.h - what the exceptions of HBase's servers mean
 */
#ifndef SALTMILL_CLUSTER_FRAMES_H
#define SALTMILL_CLUSTER_FRAMES_H

#include "bytes.h"
#include "hbase.h"

/*
 * Read an ExceptionResponse (RPC.proto): *why from the last part of the class, the message from the
 * first line of the stack trace. Always returns a negative RC_*: RC_IO, or RC_DATA if it is no such
 * message.
 */
int exception_read(struct bytes message, struct hbase_failure *why, struct error *err);
/* Do the same with a class and a text, as in the result of a failed procedure. */
int exception_tell(struct bytes class_name, struct bytes text, struct hbase_failure *why,
		   struct error *err);

#endif
