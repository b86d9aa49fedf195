/*
 * pb.h - protobuf's wire form, field by field
 *
 * protobuf.dev/programming-guides/encoding.  A message is written into a buf and read from a slice;
 * pb_next is the one place that looks whether a length fits.  What a reader does not know it
 * skips, so that one client fits HBase 2.4 to 3.
 */
#ifndef SALTMILL_CLUSTER_PB_H
#define SALTMILL_CLUSTER_PB_H

#include "bytes.h"
#include "error.h"

void pb_uint(struct buf *b, unsigned field, uint64_t v);
void pb_bytes(struct buf *b, unsigned field, struct bytes v);
void pb_text(struct buf *b, unsigned field, const char *v);
/* A message within: what is appended between the two is its content; they nest. */
size_t pb_open(struct buf *b, unsigned field);
void pb_close(struct buf *b, size_t opened);
/* A message with its length in front (varint), as an RPC frame has it. */
void pb_delimited(struct buf *b, struct bytes message);

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb_field {
	unsigned number;
	enum pb_wire wire;
	uint64_t value;	    /* PB_VARINT; the fixed ones' content, too */
	struct bytes bytes; /* PB_BYTES; otherwise empty */
};

/*
 * The next field at the start of *rest, which moves behind it.  RC_END: there is none.  RC_DATA: a
 * number of more than 10 bytes, a length beyond the message, a group, field 0.
 */
int pb_next(struct bytes *rest, struct pb_field *f, struct error *err);
/* The message in front of which its length stands; *rest moves behind it. */
int pb_take_delimited(struct bytes *rest, struct bytes *message, struct error *err);

#endif
