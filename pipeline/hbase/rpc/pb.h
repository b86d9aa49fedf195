/*
 * pb.h - protobuf's wire format, field by field
 *
 * See protobuf.dev/programming-guides/encoding. A message is written into a buf and read from a
 * slice. Only pb_next checks that a length fits. Readers skip unknown fields, so one client fits
 * HBase 2.4 to 3.
 */
#ifndef SALTMILL_CLUSTER_PB_H
#define SALTMILL_CLUSTER_PB_H

#include "bytes.h"
#include "error.h"

void pb_uint(struct buf *b, unsigned field, uint64_t v);
void pb_bytes(struct buf *b, unsigned field, struct bytes v);
void pb_text(struct buf *b, unsigned field, const char *v);
/*
 * Write a nested message: everything appended between the two calls is its content. Calls may nest.
 */
size_t pb_open(struct buf *b, unsigned field);
void pb_close(struct buf *b, size_t opened);
/* Append a message after its length (varint), as in an RPC frame. */
void pb_delimited(struct buf *b, struct bytes message);

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb_field {
	unsigned number;
	enum pb_wire wire;
	uint64_t value;	    /* PB_VARINT; also the content of fixed fields */
	struct bytes bytes; /* PB_BYTES; otherwise empty */
};

/*
 * Read the field at the start of *rest and move *rest past it. RC_END: there is none. RC_DATA: a
 * number of more than 10 bytes, a length beyond the message, a group, or field 0.
 */
int pb_next(struct bytes *rest, struct pb_field *f, struct error *err);
/* Read a message after its length; *rest moves past it. */
int pb_take_delimited(struct bytes *rest, struct bytes *message, struct error *err);

#endif
