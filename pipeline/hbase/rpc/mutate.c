/* mutate.c - write cells into a region, and flush it (Client.proto, Admin.proto) */
#include "encode.h"
#include "frames.h"
#include "pb.h"
#include "session.h"

#define FLUSH_MS (5 * 60 * 1000)

/* --- the requests --- */

static void put_mutation(struct buf *b, unsigned field, const struct cell *c)
{
	enum { PUT = 2 };
	size_t mutation = pb_open(b, field), column, value;

	pb_bytes(b, 1, c->row);
	pb_uint(b, 2, PUT);
	column = pb_open(b, 3);
	pb_bytes(b, 1, c->family);
	value = pb_open(b, 2);
	pb_bytes(b, 1, c->qualifier);
	pb_bytes(b, 2, c->value);
	pb_close(b, value);
	pb_close(b, column);
	pb_close(b, mutation);
}

void put_mutations(struct buf *b, struct bytes region, const struct cell *cells, size_t n)
{
	size_t actions = pb_open(b, 1);

	put_region(b, 1, region);
	for (size_t i = 0; i < n; i++) {
		size_t action = pb_open(b, 3);

		pb_uint(b, 1, i);
		put_mutation(b, 2, &cells[i]);
		pb_close(b, action);
	}
	pb_close(b, actions);
}

/* --- the answer: an exception of the region, or of a row --- */

static int read_exception(struct bytes pair, struct hbase_failure *why, struct error *err)
{
	struct bytes name = {0}, text = {0};
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&pair, &f, err)) == RC_OK)
		if (f.number == 1)
			name = f.bytes;
		else if (f.number == 2)
			text = f.bytes;
	return rc == RC_END ? exception_tell(name, text, why, err) : rc;
}

/* Read the exceptions in a message. Those of its parts are in the messages of the field `inner`. */
static int read_results(struct bytes message, unsigned exception, unsigned inner,
			struct hbase_failure *why, struct error *err)
{
	enum { OF_ROW = 3 };
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&message, &f, err)) == RC_OK) {
		if (f.number == exception && f.wire == PB_BYTES)
			rc = read_exception(f.bytes, why, err);
		else if (f.number == inner && f.wire == PB_BYTES)
			rc = read_results(f.bytes, inner ? OF_ROW : 0, 0, why, err);
		if (rc)
			return rc;
	}
	return rc == RC_END ? RC_OK : rc;
}

int mutations_read(struct bytes message, struct hbase_failure *why, struct error *err)
{
	enum { OF_REGION = 2, ROWS = 1 };
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&message, &f, err)) == RC_OK)
		if (f.number == 1 && (rc = read_results(f.bytes, OF_REGION, ROWS, why, err)))
			return rc;
	return rc == RC_END ? RC_OK : rc;
}

/* --- the calls --- */

int hbase_put(struct hbase *h, const struct hbase_region *r, const struct cell *cells, size_t n,
	      struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};
	struct rpc_answer answer;

	put_mutations(&b, r->name, cells, n);
	int rc = session_call_region(h, r, SERVICE_REGION, "Multi", &b, CALL_MS, &answer, why, err);
	if (rc)
		return rc;
	rc = mutations_read(answer.message, why, err);
	if (rc == RC_DATA)
		why->trouble = TROUBLE_REFUSED;
	rpc_answer_release(&answer);
	return rc;
}

int hbase_flush(struct hbase *h, const struct hbase_region *r, struct hbase_failure *why,
		struct error *err)
{
	struct buf b = {0};
	struct rpc_answer answer;

	put_region(&b, 1, r->name);
	int rc = session_call_region(h, r, SERVICE_ADMIN, "FlushRegion", &b, FLUSH_MS, &answer, why,
				     err);
	if (rc == RC_OK)
		rpc_answer_release(&answer);
	return rc;
}
