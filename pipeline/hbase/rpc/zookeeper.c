#include "zookeeper.h"

#include <unistd.h>

#include "clock.h"
#include "wire.h"

#define SESSION_MS   30000
#define PASSWORD     16
#define ANSWER_MOST  (1u << 20) /* jute.maxbuffer */
#define OP_GET_DATA  4
#define OP_CLOSE     (-11)
#define XID	     1
#define NO_NODE	     (-101)
#define HEADER_BYTES 16 /* xid, zxid, error */

static size_t packet_open(struct buf *b)
{
	buf_be32(b, 0);
	return b->len;
}

static void packet_close(struct buf *b, size_t at)
{
	put_be32(b->ptr + at - 4, (uint32_t)(b->len - at));
}

void zookeeper_put_request(struct buf *b, const char *path)
{
	static const uint8_t password[PASSWORD];
	size_t at = packet_open(b);

	buf_be32(b, 0); /* protocol version */
	buf_be64(b, 0); /* last zxid seen */
	buf_be32(b, SESSION_MS);
	buf_be64(b, 0); /* session id */
	buf_be32(b, PASSWORD);
	buf_append(b, password, sizeof password);
	buf_put(b, 0); /* read only */
	packet_close(b, at);
	at = packet_open(b);
	buf_be32(b, XID);
	buf_be32(b, OP_GET_DATA);
	buf_be32(b, (uint32_t)strlen(path));
	buf_append(b, path, strlen(path));
	buf_put(b, 0); /* no watch */
	packet_close(b, at);
	at = packet_open(b);
	buf_be32(b, XID + 1);
	buf_be32(b, (uint32_t)OP_CLOSE);
	packet_close(b, at);
}

int zookeeper_read_answer(struct bytes packet, struct bytes *data, struct error *err)
{
	if (packet.len < HEADER_BYTES || get_be32(packet.ptr) != XID)
		return error_set(
			err, RC_DATA,
			"found an answer that does not match the request, expected a ZooKeeper "
			"server");
	int32_t code = (int32_t)get_be32(packet.ptr + 12);
	if (code == NO_NODE)
		return RC_END;
	if (code)
		return error_set(err, RC_IO, "rejected the request with ZooKeeper error %d", code);
	struct bytes rest = bytes_of(packet.ptr + HEADER_BYTES, packet.len - HEADER_BYTES);
	uint32_t n = rest.len < 4 ? UINT32_MAX : get_be32(rest.ptr);
	if (n > rest.len || n > rest.len - 4)
		return error_set(
			err, RC_DATA,
			"found an answer that ends within the node, expected a ZooKeeper server");
	*data = bytes_of(rest.ptr + 4, n);
	return RC_OK;
}

int zookeeper_node_message(struct bytes data, struct bytes *message, struct error *err)
{
	size_t at = 0;

	if (data.len >= 5 && data.ptr[0] == 0xFF) {
		uint32_t n = get_be32(data.ptr + 1);

		at = n <= data.len - 5 ? 5 + (size_t)n : data.len;
	}
	if (data.len - at < 4 || memcmp(data.ptr + at, "PBUF", 4) != 0)
		return error_set(
			err, RC_DATA,
			"found a node that another program wrote, expected a node of HBase");
	*message = bytes_of(data.ptr + at + 4, data.len - at - 4);
	return RC_OK;
}

static int receive_packet(struct wire *w, struct buf *b, int64_t deadline, struct error *err)
{
	b->len = 0;
	int rc = wire_receive(w, b, 4, deadline, err);
	if (rc)
		return rc;
	uint32_t n = get_be32(b->ptr);
	b->len = 0;
	if (n > ANSWER_MOST)
		return error_set(err, RC_DATA,
				 "found an answer of %u bytes, expected a ZooKeeper server", n);
	return wire_receive(w, b, n, deadline, err);
}

static int ask(const struct hbase_place *at, const char *path, int64_t patience_ms,
	       struct buf *node, struct error *err)
{
	struct buf request = {0};
	int64_t deadline = clock_ms() + patience_ms;
	struct wire w;
	int rc = wire_connect(&w, at, patience_ms, err);

	zookeeper_put_request(&request, path);
	if (rc == RC_OK)
		rc = wire_send(&w, buf_bytes(&request), deadline, err);
	if (rc == RC_OK)
		rc = receive_packet(&w, node, deadline, err); /* answer to the connect request */
	if (rc == RC_OK)
		rc = receive_packet(&w, node, deadline, err);
	wire_close(&w);
	buf_release(&request);
	return rc;
}

int zookeeper_read(const struct hbase_place *at, const char *path, int64_t patience_ms,
		   struct buf *node, struct bytes *message, struct hbase_failure *why,
		   struct error *err)
{
	struct bytes data;

	*why = (struct hbase_failure){0};
	int rc = ask(at, path, patience_ms, node, err);
	if (rc == RC_OK)
		rc = zookeeper_read_answer(buf_bytes(node), &data, err);
	if (rc == RC_END) {
		why->trouble = TROUBLE_BUSY;
		rc = error_set(
			err, RC_IO,
			"found no node %s, because no master is active or zookeeper.znode.parent "
			"has another value",
			path);
	} else if (rc == RC_OK) {
		rc = zookeeper_node_message(data, message, err);
		if (rc)
			error_prefix(err, "%s: ", path);
	}
	if (rc == RC_OK)
		return RC_OK;
	if (why->trouble == TROUBLE_NONE)
		why->trouble = rc == RC_IO ? TROUBLE_GONE : TROUBLE_REFUSED;
	buf_release(node);
	return error_prefix(err, "ZooKeeper %s:%u: ", at->host, at->port);
}
