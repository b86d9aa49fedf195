/*
 * frames.h - what the exceptions of HBase's servers mean
 */
#ifndef SALTMILL_CLUSTER_FRAMES_H
#define SALTMILL_CLUSTER_FRAMES_H

#include "bytes.h"
#include "hbase.h"

/*
 * An ExceptionResponse (RPC.proto): *why by the class's last part, the sentence from the first
 * line of its stack trace.  Always a negative RC_*: RC_IO, or RC_DATA where it is no such message.
 */
int exception_read(struct bytes message, struct hbase_failure *why, struct error *err);
/* The same of a class and a text, as a failed procedure tells them. */
int exception_tell(struct bytes class_name, struct bytes text, struct hbase_failure *why,
		   struct error *err);

#endif
