/* Tests the master's description of its cluster, and the warnings of apply before it sends
 * anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "hex.h"
#include "pipeline/hbase/rpc/decode.h"
#include "hbase.h"

/* HBase 2.6.4's own classes made this message, with two servers, one dead server, one region in
 * transition, and files. */
static const char status_hex[] =
	"0a89020a070a05322e362e34126a0a0f0a0372733110947d1898a29787a03412572084072a440a390801123567"
	"6f6c642c2c313739353331313339313130302e3838376462623135626233336333336430663639313730383031"
	"31"
	"37323438342e1002180920ac02284d3888d19787a03440c0e89787a034121a0a0f0a0372733210957d1898a297"
	"87"
	"a034120740f0e19487a0341a080a0372733310947d225e0a3908011235676f6c642c2c313739353331313339"
	"3131"
	"30302e38383764626231356262333363333364306636393137303830313137323438342e12210a160805120f0a"
	"07"
	"64656661756c741204676f6c641a016b10021890fe9587a0342a0a0a0863376661613964654801";
#define REGION "gold,,1795311391100.887dbb15bb33c33d0f69170801172484."
#define TOLD   1795311400000 /* rs1's clock at the time of its report */

static struct hbase_status read_status(void)
{
	struct hbase_status s = {.version = ""};
	struct buf b = unhex(status_hex);
	struct error err = {0};

	assert_int_equal(decode_status(buf_bytes(&b), &s, &err), RC_OK);
	buf_release(&b); /* the result borrows no bytes */
	return s;
}

static void test_decode(void **state)
{
	struct hbase_status s = read_status();

	(void)state;
	assert_string_equal(s.version, "2.6.4");
	assert_int_equal(s.nservers, 2);
	assert_string_equal(s.servers[0].place.host, "rs1");
	assert_int_equal(s.servers[0].place.port, 16020);
	assert_true(s.servers[0].reported_ms == TOLD);
	assert_true(s.servers[0].start_code == 1795311391000);
	assert_true(s.servers[1].reported_ms == TOLD - 50000);
	assert_int_equal(s.dead, 1);
	assert_int_equal(s.ntransitions, 1);
	assert_string_equal(s.transitions[0].table, "gold");
	assert_true(bytes_eq(s.transitions[0].region, bytes_str("k")));
	assert_string_equal(s.transitions[0].state, "OPENING");
	assert_true(s.transitions[0].since_ms == TOLD - 30000);
	const struct hbase_store_files *f = hbase_status_stores(&s, bytes_str(REGION));
	assert_non_null(f);
	assert_int_equal(f->families, 2);
	assert_int_equal(f->server, 0);
	assert_int_equal(f->files, 9);
	assert_int_equal(f->mib, 77);
	assert_null(hbase_status_stores(&s, bytes_str("gold,k,1.x.")));
	hbase_status_release(&s);
}

/* ServerLoad and RegionLoad of ClusterStatus.proto, by hand: 100 cells to compact, 40 of them done. */
static void test_compactions(void **state)
{
	struct hbase_status s = {.version = ""};
	struct buf b = unhex("0a1a12180a070a0161100118"
			     "01120d2a0b0a0508011201725064"
			     "5828");
	struct error err = {0};

	(void)state;
	assert_int_equal(decode_status(buf_bytes(&b), &s, &err), RC_OK);
	assert_int_equal(s.nstores, 1);
	assert_int_equal(s.stores[0].to_compact, 60);
	buf_release(&b);
	hbase_status_release(&s);
}

/* ReplicationPeerDescription of Replication.proto, by hand: an enabled peer, a disabled one, and one
 * without a state. */
static void test_peers(void **state)
{
	struct buf b = unhex("0a150a0131120208001a0c0a0a7a6b3a323138313a2f68"
			     "0a070a016212020801"
			     "0a030a0163");
	struct arena a = {0};
	struct error err = {0};
	const char *peers;

	(void)state;
	for (size_t n = 0; n < b.len; n++) {
		int rc = decode_peers(bytes_of(b.ptr, n), &a, &peers, &err);

		assert_true(rc == RC_DATA || n == 0 || n == 23 || n == 32);
	}
	assert_int_equal(decode_peers(buf_bytes(&b), &a, &peers, &err), RC_OK);
	assert_string_equal(peers, "1, c");
	assert_int_equal(decode_peers((struct bytes){0}, &a, &peers, &err), RC_OK);
	assert_string_equal(peers, "");
	buf_release(&b);
	arena_release(&a);
}

/* A message that ends early gives an error or a shorter list. */
static void test_cut_messages(void **state)
{
	struct buf b = unhex(status_hex);

	(void)state;
	for (size_t n = 0; n < b.len; n++) {
		struct hbase_status s = {.version = ""};
		struct error err = {0};
		struct buf part = {0};

		buf_append(&part, b.ptr, n);
		int rc = decode_status(buf_bytes(&part), &s, &err);
		assert_int_equal(rc, RC_DATA);
		assert_true(err.msg[0]);
		hbase_status_release(&s);
		buf_release(&part);
	}
	buf_release(&b);
}

static char said[4096];

static void say(void *ctx, const char *sentence)
{
	(void)ctx;
	strncat(said, sentence, sizeof said - strlen(said) - 2);
	strcat(said, "\n");
}

static const struct listener ears = {.hear = say};

static void test_sentences(void **state)
{
	struct hbase_status s = read_status();
	struct error err = {0};

	(void)state;
	said[0] = 0;
	assert_int_equal(precheck_cluster(&ears, &s, TOLD, &err), RC_OK);
	assert_string_equal(
		said,
		"cluster: found 1 dead region server, expected none. Some regions may be on no "
		"server until the master has moved them\n"
		"region server rs2:16021: found a clock or a last report 50.0 s behind this "
		"machine's clock, expected at most 30 s. Let both machines follow one NTP server "
		"(check with `chronyc tracking`), and read the server's log\n");
	said[0] = 0;
	assert_int_equal(precheck_cluster(&ears, &s, TOLD - 50000, &err), RC_OK);
	assert_non_null(strstr(said, "region server rs1:16020: found a clock 50.0 s ahead of this "
				     "machine's"));
	assert_null(strstr(said, "rs2"));
	said[0] = 0;
	precheck_table(&ears, &s, "default:gold", TOLD);
	assert_non_null(
		strstr(said, "table gold: 1 region is in transition, one OPENING for 30 s"));
	said[0] = 0;
	precheck_table(&ears, &s, "golden", TOLD);
	assert_string_equal(said, "");
	s.version = "1.4.13";
	assert_int_equal(precheck_cluster(&ears, &s, TOLD, &err), RC_CONFIG);
	assert_string_equal(err.msg,
			    "found HBase 1.4.13 in the cluster, expected 2.4 or newer. Load "
			    "into this cluster with `hbase completebulkload`");
	s.version = "4.0.0-SNAPSHOT";
	assert_int_equal(precheck_cluster(&ears, &s, TOLD, &err), RC_OK);
	assert_non_null(strstr(said, "The tests of saltmill do not cover HBase 4.0.0-SNAPSHOT"));
	hbase_status_release(&s);
}

/* A new master sends this answer, and the program queries it again. */
static void test_no_servers(void **state)
{
	struct hbase_status s = read_status();
	struct hbase_failure why = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(precheck_servers(&s, &why, &err), RC_OK);
	assert_int_equal(why.trouble, TROUBLE_NONE);
	s.nservers = 0;
	assert_int_equal(precheck_servers(&s, &why, &err), RC_IO);
	assert_int_equal(why.trouble, TROUBLE_BUSY);
	assert_string_equal(
		err.msg, "found no live region server in the cluster, expected at least one. Start "
			 "one, then run this again");
	hbase_status_release(&s);
}

/* GetTableStateResponse {table_state {state}}: ENABLED, DISABLED, DISABLING, ENABLING. */
static void test_table_states(void **state)
{
	static const struct {
		const char *message;
		int rc;
		enum hbase_trouble trouble;
		const char *says;
	} cases[] = {{"0a020800", RC_OK, TROUBLE_NONE, ""},
		     {"0a020801", RC_CONFIG, TROUBLE_REFUSED,
		      "table t is disabled; run `enable 't'` in the HBase shell"},
		     {"0a020802", RC_CONFIG, TROUBLE_REFUSED,
		      "table t is being disabled; run `enable 't'` in the HBase shell"},
		     {"0a020803", RC_IO, TROUBLE_BUSY,
		      "HBase enables or creates table t at this "
		      "moment"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf b = unhex(cases[i].message);
		enum hbase_table_state found;
		struct hbase_failure why = {0};
		struct error err = {0};

		assert_int_equal(decode_table_state(buf_bytes(&b), &found, &err), RC_OK);
		assert_int_equal(precheck_state("t", found, &why, &err), cases[i].rc);
		assert_int_equal(why.trouble, cases[i].trouble);
		assert_string_equal(err.msg, cases[i].says);
		buf_release(&b);
	}
	struct buf b = unhex("0a020804");
	enum hbase_table_state found;
	struct error err = {0};
	assert_int_equal(decode_table_state(buf_bytes(&b), &found, &err), RC_DATA);
	assert_string_equal(err.msg, "found table state 4, expected up to 3");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),	     cmocka_unit_test(test_compactions),
		cmocka_unit_test(test_peers),	     cmocka_unit_test(test_cut_messages),
		cmocka_unit_test(test_sentences),    cmocka_unit_test(test_no_servers),
		cmocka_unit_test(test_table_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
