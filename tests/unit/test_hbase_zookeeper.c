/* Reads one znode of HBase from ZooKeeper, with bytes recorded at ZooKeeper 3.8 and HBase 2.6.4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hex.h"
#include "mem.h"
#include "pipeline/hbase/rpc/decode.h"
#include "pipeline/hbase/rpc/zookeeper.h"

#define CONNECT                                                                                    \
	"0000002d 00000000 0000000000000000 00007530 0000000000000000 00000010 "                   \
	"00000000000000000000000000000000 00"
#define GET   "0000001a 00000001 00000004 0000000d 2f68626173652f6d6173746572 00"
#define CLOSE "00000008 00000002 fffffff5"
#define SESSION                                                                                    \
	"00000025 00000000 00007530 0123456789abcdef 00000010 "                                    \
	"00000000000000000000000000000000 00"
#define MASTER                                                                                     \
	"ff000000146d61737465723a3430333733435512d7974df37b 50425546 "                             \
	"0a160a096c6f63616c686f737410b5bb0218c4d0b586a034 100018ffffffffffffffffff01"
#define HEADER "00000001 0000000000000123 00000000 "
#define STAT                                                                                       \
	"0000000000000000000000000000000000000000000000000000000000000000"                         \
	"0000000000000000000000000000000000000000000000000000000000000000"                         \
	"00000000"

static void test_request(void **state)
{
	struct buf b = {0};

	(void)state;
	zookeeper_put_request(&b, "/hbase/master");
	assert_hex(buf_bytes(&b), CONNECT GET CLOSE);
	buf_release(&b);
}

static void test_master_node(void **state)
{
	struct buf node = unhex(MASTER);
	struct bytes message;
	struct hbase_place at;
	struct error err = {0};

	(void)state;
	assert_int_equal(zookeeper_node_message(buf_bytes(&node), &message, &err), RC_OK);
	assert_int_equal(decode_master(message, &at, &err), RC_OK);
	assert_string_equal(at.host, "localhost");
	assert_int_equal(at.port, 40373);
	/* an answer that ends before its message, or has a wrong length, gives an error */
	for (size_t n = 0; n < 29; n++)
		assert_int_equal(zookeeper_node_message(bytes_of(node.ptr, n), &message, &err),
				 RC_DATA);
	node.ptr[1] = 0xFF;
	assert_int_equal(zookeeper_node_message(buf_bytes(&node), &message, &err), RC_DATA);
	buf_release(&node);
}

static void test_meta_node(void **state)
{
	/* {server 1, rpc_version 2, state 3}: OPEN, then OPENING */
	struct buf open = unhex("0a160a096c6f63616c686f737410b5bb0218c4d0b586a034 1000 1803");
	struct hbase_place at;
	struct error err = {0};

	(void)state;
	assert_int_equal(decode_meta_node(buf_bytes(&open), &at, &err), RC_OK);
	assert_int_equal(at.port, 40373);
	open.ptr[open.len - 1] = 2;
	assert_int_equal(decode_meta_node(buf_bytes(&open), &at, &err), RC_IO);
	buf_release(&open);
}

static void test_answers(void **state)
{
	static const struct {
		const char *hex;
		int rc;
	} cases[] = {
		{HEADER "00000003 616263" STAT, RC_OK},
		{HEADER "00000000" STAT, RC_OK},
		{"00000001 0000000000000123 ffffff9b", RC_END},	 /* NONODE */
		{"00000001 0000000000000123 ffffff9a", RC_IO},	 /* NOAUTH */
		{"00000002 0000000000000123 00000000", RC_DATA}, /* the answer to another call */
		{HEADER, RC_DATA},
		{HEADER "000000", RC_DATA},
		{HEADER "00000004 616263", RC_DATA},
		{HEADER "ffffffff", RC_DATA},
		{HEADER "fffffffd 616263", RC_DATA},
		{"00000001", RC_DATA},
		{"", RC_DATA},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf b = unhex(cases[i].hex);
		struct bytes data = {0};
		struct error err = {0};
		int rc = zookeeper_read_answer(buf_bytes(&b), &data, &err);

		if (rc != cases[i].rc)
			fail_msg("case %zu: %d", i, rc);
		if (i == 0)
			assert_true(bytes_eq(data, bytes_str("abc")));
		buf_release(&b);
	}
}

/* A server for one connection that sends a given answer and records the request. */
struct server {
	int fd;
	uint16_t port;
	const char *says;
	uint8_t heard[256];
	size_t nheard;
	pthread_t thread;
};

static void *serve(void *arg)
{
	struct server *s = arg;
	struct buf b = unhex(s->says);
	int fd = accept(s->fd, NULL, NULL);
	const size_t asked = 49 + 30 + 12;

	while (s->nheard < asked) {
		ssize_t n = recv(fd, s->heard + s->nheard, sizeof s->heard - s->nheard, 0);

		if (n <= 0)
			break;
		s->nheard += (size_t)n;
	}
	for (size_t i = 0; i < b.len; i++) /* in pieces */
		send(fd, b.ptr + i, 1, MSG_NOSIGNAL);
	close(fd);
	buf_release(&b);
	return NULL;
}

static int ask(const char *says, struct hbase_place *out, struct hbase_failure *why,
	       struct error *err)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof at;
	struct server s = {.says = says};
	struct buf node = {0};
	struct bytes message;
	struct hbase_place place = {.host = "127.0.0.1"};

	s.fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(s.fd, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(s.fd, 1), 0);
	assert_int_equal(getsockname(s.fd, (struct sockaddr *)&at, &len), 0);
	place.port = ntohs(at.sin_port);
	assert_int_equal(pthread_create(&s.thread, NULL, serve, &s), 0);
	int rc = zookeeper_read(&place, "/hbase/master", 5000, &node, &message, why, err);
	pthread_join(s.thread, NULL);
	close(s.fd);
	assert_hex(bytes_of(s.heard, s.nheard), CONNECT GET CLOSE);
	if (rc == RC_OK)
		assert_int_equal(decode_master(message, out, err), RC_OK);
	buf_release(&node);
	return rc;
}

static void test_conversation(void **state)
{
	struct hbase_place at = {0};
	struct hbase_failure why;
	struct error err = {0};

	(void)state;
	assert_int_equal(ask(SESSION "0000009a" HEADER "00000042" MASTER STAT, &at, &why, &err),
			 RC_OK);
	assert_string_equal(at.host, "localhost");
	assert_int_equal(at.port, 40373);
	assert_int_equal(ask(SESSION "00000010 00000001 0000000000000123 ffffff9b", &at, &why,
			     &err),
			 RC_IO);
	assert_int_equal(why.trouble, TROUBLE_BUSY);
	assert_non_null(strstr(err.msg, "found no node /hbase/master, because no master is "
					"active or "
					"zookeeper.znode.parent has another value"));
	/* the server closes because it serves no client at present, cuts its answer, or is another
	 * kind of server */
	assert_int_equal(ask("", &at, &why, &err), RC_IO);
	assert_int_equal(why.trouble, TROUBLE_GONE);
	assert_int_equal(ask(SESSION "0000009a" HEADER, &at, &why, &err), RC_IO);
	assert_int_equal(why.trouble, TROUBLE_GONE);
	assert_int_equal(ask("485454502f312e31", &at, &why, &err), RC_DATA);
	assert_int_equal(why.trouble, TROUBLE_REFUSED);
	assert_non_null(strstr(err.msg, "expected a ZooKeeper server"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),	     cmocka_unit_test(test_master_node),
		cmocka_unit_test(test_meta_node),    cmocka_unit_test(test_answers),
		cmocka_unit_test(test_conversation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
