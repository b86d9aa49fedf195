/*
 * fuzz_zookeeper.c - checks that any answer to a ZooKeeper request gives an error, or no read past
 * its end
 */
#include "memory_file.h"

#include "mem.h"
#include "pipeline/hbase/rpc/decode.h"
#include "pipeline/hbase/rpc/zookeeper.h"

static void read_node(struct bytes data)
{
	struct bytes message, text;
	struct hbase_place at;
	struct error err = {0};
	int rc = zookeeper_node_message(data, &message, &err);

	expect_sentence(rc, &err);
	if (rc)
		return;
	expect_sentence(decode_master(message, &at, &err), &err);
	expect_sentence(decode_meta_node(message, &at, &err), &err);
	expect_sentence(decode_bytes(message, &text, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes node;
	struct error err = {0};
	/* a heap copy, so that a sanitizer sees reads past its end */
	uint8_t *copy = mem_alloc(size ? size : 1);

	if (size)
		memcpy(copy, data, size);
	int rc = zookeeper_read_answer(bytes_of(copy, size), &node, &err);
	expect_sentence(rc == RC_END ? RC_OK : rc, &err);
	read_node(rc == RC_OK ? node : bytes_of(copy, size));
	mem_free(copy);
	return 0;
}
