/*
 * pb.h - protobuf's wire format, field by field
 *
 * See protobuf.dev/programming-guides/encoding. The writer appends a message to a struct buf, and
 * the reader has a slice. Only pb_next checks that a length fits. Readers skip unknown fields, so
 * one client works with HBase 2.4 to 3.
 */
#ifndef SALTMILL_CLUSTER_PB_H
#define SALTMILL_CLUSTER_PB_H

#include "bytes.h"
#include "error.h"

void pb_uint(struct buf *b, unsigned field, uint64_t v);
void pb_bytes(struct buf *b, unsigned field, struct bytes v);
void pb_text(struct buf *b, unsigned field, const char *v);
/*
 * Write a nested message. All bytes appended between pb_open and pb_close are its content. Calls
 * may nest.
 */
size_t pb_open(struct buf *b, unsigned field);
void pb_close(struct buf *b, size_t opened);
/* Append the length of a message (varint) and the message, as in an RPC frame. */
void pb_delimited(struct buf *b, struct bytes message);

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb_field {
	unsigned number;
	enum pb_wire wire;
	uint64_t value;	    /* value of a PB_VARINT and of fixed fields */
	struct bytes bytes; /* bytes of a PB_BYTES; empty for other fields */
};

/*
 * Take the first field of `*rest`. Returns RC_END if `*rest` is empty. Returns RC_DATA for a number
 * of more than 10 bytes, a length beyond the message, a group, or field 0.
 */
int pb_next(struct bytes *rest, struct pb_field *f, struct error *err);
/* Take a length and the message after the length from `*rest`. */
int pb_take_delimited(struct bytes *rest, struct bytes *message, struct error *err);

#endif
