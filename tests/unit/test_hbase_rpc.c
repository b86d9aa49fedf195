/*
 * Tests HBase's RPC with requests and answers as HBase 2.6.4 and its own client send them. The
 * test's server also cuts, delays, garbles and refuses. The recorded bytes come from a real server.
 * No test compares the program's output with itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "hex.h"
#include "mem.h"
#include "pipeline/hbase/rpc/decode.h"
#include "pipeline/hbase/rpc/encode.h"
#include "pipeline/hbase/rpc/frames.h"
#include "pipeline/hbase/rpc/pb.h"
#include "pipeline/hbase/rpc/rpc.h"
#include "pipeline/hbase/rpc/session.h"

#define REGION "gold,,1795311391100.887dbb15bb33c33d0f69170801172484."
#define TOKEN                                                                                      \
	"hdfs://127.0.0.1:33471/hbase/staging/"                                                    \
	"hbuser__gold__7ucbpl6q1lpu93d70fep1708lnruovfk58pshkt9226uk5qofigma67h7tup0bjv"

static void expect_request(uint32_t id, const char *method, struct buf *message, const char *hex)
{
	struct buf out = {0};

	rpc_put_request(&out, id, method, buf_bytes(message));
	assert_hex(buf_bytes(&out), hex);
	buf_release(&out);
	buf_release(message);
}

/* Reads hex, and replaces each # by the bytes of `text`. */
static char *filled(const char *hex, const char *text)
{
	struct buf b = {0};

	for (; *hex; hex++)
		if (*hex == '#')
			bytes_hex(&b, bytes_str(text));
		else
			buf_put(&b, (uint8_t)*hex);
	buf_put(&b, 0);
	return (char *)b.ptr;
}

static void test_preamble(void **state)
{
	struct buf b = {0};

	(void)state;
	rpc_put_preamble(&b, "ClientMetaService", "hbuser");
	assert_hex(
		buf_bytes(&b),
		"484261730050"
		"0000004a0a080a066862757365721211436c69656e744d657461536572766963651a2b6f72672e61"
		"70616368652e6861646f6f702e68626173652e636f6465632e4b657956616c7565436f646563");
	b.len = 0;
	rpc_put_preamble(&b, "MasterService", "hbuser");
	assert_hex(
		buf_bytes(&b),
		"484261730050"
		"000000460a080a06686275736572120d4d6173746572536572766963651a2b6f72672e6170616368"
		"652e6861646f6f702e68626173652e636f6465632e4b657956616c7565436f646563");
	buf_release(&b);
}

static void test_registry_requests(void **state)
{
	struct buf none = {0};

	(void)state;
	expect_request(1, "GetClusterId", &none,
		       "000000141208011a0c476574436c75737465724964200100");
	expect_request(2, "GetActiveMaster", &none,
		       "000000171508021a0f4765744163746976654d6173746572200100");
	expect_request(3, "GetMetaRegionLocations", &none,
		       "0000001e1c08031a164765744d657461526567696f6e4c6f636174696f6e73200100");
}

static void test_create_table(void **state)
{
	struct attribute items[] = {{.key = "VERSIONS", .value = "1"},
				    {.key = "TTL", .value = "86400"},
				    {.key = "BLOOMFILTER", .value = "ROW"},
				    {.key = "COMPRESSION", .value = "GZ"}};
	struct attribute policy[] = {
		{.key = "SPLIT_POLICY",
		 .value = "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy"}};
	struct attribute config[] = {{.key = "hbase.hregion.majorcompaction", .value = "0"}};
	struct described f = {.name = "f", .items = {items, 4}};
	struct description d = {.table = {.items = {policy, 1}, .configuration = {config, 1}},
				.families = &f,
				.nfamilies = 1};
	struct bytes keys[] = {bytes_of("\x01", 1), bytes_str("m")};
	struct splits s = {.keys = keys, .count = 2};
	const uint64_t nonce[] = {1, 2};
	struct buf b = {0};

	(void)state;
	put_create(&b, "gold", &d, &s, nonce);
	expect_request(
		17, "CreateTable", &b,
		"000000f31108111a0b4372656174655461626c652001df010ad2010a0f0a0764656661756c74120467"
		"6f"
		"6c6412520a0c53504c49545f504f4c49435912426f72672e6170616368652e6861646f6f702e686261"
		"73"
		"652e726567696f6e7365727665722e436f6e7374616e7453697a65526567696f6e53706c6974506f6c"
		"69"
		"63791a470a0166120d0a0856455253494f4e53120131120c0a0354544c1205383634303012120a0b42"
		"4c"
		"4f4f4d46494c5445521203524f5712110a0b434f4d5052455353494f4e1202475a22220a1d68626173"
		"65"
		"2e68726567696f6e2e6d616a6f72636f6d70616374696f6e12013012010112016d18012002");
	pb_uint(&b, 1, 409);
	expect_request(2, "getProcedureResult", &b,
		       "0000001d1808021a1267657450726f636564757265526573756c74200103089903");
	put_table_name(&b, 1, "gold");
	expect_request(12, "GetTableState", &b,
		       "00000026 13 080c 1a0d 4765745461626c655374617465 2001"
		       "110a0f0a0764656661756c741204676f6c64");
	put_table_name(&b, 1, "ns:t");
	assert_hex(buf_bytes(&b), "0a070a026e73120174");
	buf_release(&b);
}

static void test_bulk_requests(void **state)
{
	struct buf b = {0};
	const struct hbase_family_file file = {"f", "/bulk/g/f/0"};
	char *hex;

	(void)state;
	put_prepare(&b, "gold", bytes_str(REGION));
	hex = filled("000000631508021a0f5072657061726542756c6b4c6f616420014c"
		     "0a0f0a0764656661756c741204676f6c64123908011235#",
		     REGION);
	expect_request(2, "PrepareBulkLoad", &b, hex);
	free(hex);
	struct hbase_bulk load = {.token = TOKEN, .files = &file, .nfiles = 1};
	put_bulk_load(&b, bytes_str(REGION), &load);
	char *half =
		filled("000000da1308031a0d42756c6b4c6f61644846696c652001c4010a3908011235"
		       "676f6c642c2c313739353331313339313130302e3838376462623135626233336333336430"
		       "66363931373038303131373234"
		       "38342e12100a0166120b2f62756c6b2f672f662f3018012a73#",
		       TOKEN);
	expect_request(3, "BulkLoadHFile", &b, half);
	free(half);
	put_cleanup(&b, bytes_str(REGION), TOKEN);
	half = filled("000000c81508041a0f436c65616e757042756c6b4c6f61642001b0010a73#123908011235"
		      "676f6c642c2c313739353331313339313130302e3838376462623135626233336333336430"
		      "6636393137303830313137323438342e",
		      TOKEN);
	expect_request(4, "CleanupBulkLoad", &b, half);
	free(half);
}

/*
 * A delegation token is field 4, before the staging folder (Client.proto, HBase.proto). Without a
 * whole token, the client sends nothing to a secured cluster. The region has a server, but no port
 * listens.
 */
static void test_fs_token(void **state)
{
	struct buf b = {0};
	const struct hbase_family_file file = {"f", "/u/0"};
	struct hbase_fs_token token = {bytes_str("id"), bytes_str("pw"), "HDFS_DELEGATION_TOKEN",
				       "1.2.3.4:8020"};
	struct hbase_bulk load = {
		.token = "/s", .files = &file, .nfiles = 1, .fs_token = &token, .patience_ms = 100};
	struct hbase h = {.kerberos = true};
	const struct hbase_region r = {.name = bytes_str("r"), .place = {"127.0.0.1", 1}};
	struct hbase_failure why;
	struct error err;
	bool loaded = true;

	(void)state;
	put_bulk_load(&b, bytes_str("r"), &load);
	assert_hex(buf_bytes(&b), "0a05080112017212090a016612042f752f301801222d0a02696412027077"
				  "1a15484446535f44454c45474154494f4e5f544f4b454e220c312e322e"
				  "332e343a383032302a022f73");
	buf_release(&b);
	/* `replicate` of BulkLoadHFileRequest is field 8, and true without it */
	load.fs_token = NULL;
	load.no_replicate = true;
	put_bulk_load(&b, bytes_str("r"), &load);
	assert_hex(buf_bytes(&b), "0a05080112017212090a016612042f752f3018012a022f734000");
	buf_release(&b);
	const struct hbase_fs_token lacks[] = {{{0}, token.password, token.kind, token.service},
					       {token.identifier, {0}, token.kind, token.service},
					       {token.identifier, token.password,
						"WEBHDFS delegation", token.service},
					       {token.identifier, token.password, token.kind, ""}};
	for (size_t i = 0; i <= sizeof lacks / sizeof *lacks; i++) {
		load.fs_token = i ? &lacks[i - 1] : NULL;
		assert_int_equal(hbase_bulk_load(&h, &r, &load, &loaded, &why, &err), RC_CONFIG);
		assert_int_equal(why.trouble, TROUBLE_REFUSED);
		assert_false(loaded);
	}
}

/* The command is the one that lets AccessController of HBase 2.6.4 accept the call. */
static void test_grant_advice(void **state)
{
	static const struct {
		const char *said, *advice;
	} cases[] = {
		{"Insufficient permissions (user=bob@EXAMPLE.COM, scope=default, "
		 "params=[namespace=default,table=default:t1x,family=f],action=CREATE)",
		 "`grant 'bob', 'C', '@default'`"},
		{"Insufficient permissions (user=bob@EXAMPLE.COM, scope=default:t1, "
		 "params=[table=default:t1,],action=CREATE)",
		 "`grant 'bob', 'C', 'default:t1'`"},
		{"Insufficient permissions for user 'bob' (table=g1, action=READ)",
		 "`grant 'bob', 'R', 'g1'`"},
		{"Insufficient permissions (user=bob@R, scope=GLOBAL, params=[],action=ADMIN)",
		 "`grant 'bob', 'A'`"},
		{"Token generation only allowed for Kerberos authenticated clients", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hbase_failure why = {0};
		struct error err = {0};

		exception_tell(bytes_str("org.apache.hadoop.hbase.security.AccessDeniedException"),
			       bytes_str(cases[i].said), &why, &err);
		assert_int_equal(why.trouble, TROUBLE_REFUSED);
		assert_int_equal(strstr(err.msg, "; run `") != NULL, cases[i].advice != NULL);
		if (cases[i].advice && !strstr(err.msg, cases[i].advice))
			fail_msg("%s", err.msg);
	}
}

static void test_scan_requests(void **state)
{
	struct buf b = {0};
	const struct hbase_scan meta = {.family = "info",
					.start = bytes_str("gold,,"),
					.stop = bytes_str("gold ,,")};

	(void)state;
	put_scan_open(&b, bytes_str("hbase:meta,,1"), &meta);
	expect_request(
		1, "Scan", &b,
		"000000460a08011a045363616e20013a0a110801120d68626173653a6d6574612c2c31121e0a"
		"060a04696e666f1a06676f6c642c2c2207676f6c64202c2c380188016420e80738014001");
	/* scanner 9e808080a09fc7b045 as a varint */
	uint64_t scanner = 0;
	struct buf v = unhex("9e808080a09fc7b045");
	assert_int_equal(get_varint(v.ptr, v.ptr + v.len, &scanner), v.len);
	buf_release(&v);
	put_scan_next(&b, scanner, 10000, 1, 0);
	expect_request(5, "Scan", &b,
		       "0000001f0a08051a045363616e200113189e808080a09fc7b04520904e300138014001");
}

/* HBase's TableName treats `default:t` as the table `t`. */
static void test_meta_range(void **state)
{
	static const char *const cases[][3] = {{"t", "t,,", "t ,,"},
					       {"default:t", "t,,", "t ,,"},
					       {"a:t", "a:t,,", "a:t ,,"},
					       {"defaults:t", "defaults:t,,", "defaults:t ,,"}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *start, *stop;

		meta_range(cases[i][0], &start, &stop);
		assert_string_equal(start, cases[i][1]);
		assert_string_equal(stop, cases[i][2]);
		mem_free(start);
		mem_free(stop);
	}
}

/* --- answers --- */

/* Returns the message of a recorded answer to the call `id`. */
static int answer_of(struct buf *frame, uint32_t id, const char *hex, struct bytes *message,
		     struct hbase_failure *why, struct error *err)
{
	struct bytes cells;

	*frame = unhex(hex);
	assert_int_equal(get_be32(frame->ptr), frame->len - 4);
	return rpc_read_answer(bytes_of(frame->ptr + 4, frame->len - 4), id, message, &cells, why,
			       err);
}

static void test_registry_answers(void **state)
{
	struct buf frame;
	struct bytes message, id;
	struct hbase_place at;
	struct hbase_failure why = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(
		answer_of(&frame, 1,
			  "0000002a020801260a2463376661613964652d623262332d346664332d61346562"
			  "2d373162653331613638653531",
			  &message, &why, &err),
		0);
	assert_int_equal(decode_bytes(message, &id, &err), 0);
	assert_true(bytes_eq(id, bytes_str("c7faa9de-b2b3-4fd3-a4eb-71be31a68e51")));
	buf_release(&frame);
	assert_int_equal(
		answer_of(&frame, 2,
			  "0000001c020802180a160a096c6f63616c686f737410b5bb0218c4d0b586a034",
			  &message, &why, &err),
		0);
	assert_int_equal(decode_master(message, &at, &err), 0);
	assert_string_equal(at.host, "localhost");
	assert_int_equal(at.port, 40373);
	buf_release(&frame);
	assert_int_equal(
		answer_of(
			&frame, 3,
			"00000046020803420a400a1b0801120d0a05686261736512046d6574611a00220028003000"
			"38"
			"0012160a096c6f63616c686f737410e3ab0218fdbcb686a03418ffffffffffffffffff01",
			&message, &why, &err),
		0);
	assert_int_equal(decode_meta_place(message, &at, &err), 0);
	assert_string_equal(at.host, "localhost");
	assert_int_equal(at.port, 38371);
	buf_release(&frame);
}

static void test_procedure_answers(void **state)
{
	struct buf frame;
	struct bytes message;
	enum procedure_state now;
	uint64_t id;
	enum hbase_table_state table = TABLE_ENABLING;
	struct hbase_failure why = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(answer_of(&frame, 17, "000000070208110308 9903", &message, &why, &err), 0);
	assert_int_equal(decode_number(message, &id, &err), 0);
	assert_int_equal(id, 409);
	buf_release(&frame);
	assert_int_equal(answer_of(&frame, 2, "0000001402080210080110b6a49787a03418c5a49787a034",
				   &message, &why, &err),
			 0);
	assert_int_equal(decode_procedure(message, &now, &why, &err), 0);
	assert_int_equal(now, PROCEDURE_RUNNING);
	buf_release(&frame);
	assert_int_equal(answer_of(&frame, 10, "0000001402080a10080210b6a49787a03418f9b49787a034",
				   &message, &why, &err),
			 0);
	assert_int_equal(decode_procedure(message, &now, &why, &err), 0);
	assert_int_equal(now, PROCEDURE_FINISHED);
	buf_release(&frame);
	assert_int_equal(answer_of(&frame, 12, "0000000802080c040a020800", &message, &why, &err),
			 0);
	assert_int_equal(decode_table_state(message, &table, &err), 0);
	assert_int_equal(table, TABLE_ENABLED);
	buf_release(&frame);
}

static void test_loaded_answers(void **state)
{
	static const struct {
		const char *hex;
		uint32_t call;
		uint64_t loaded;
	} cases[] = {{"00000006020801020801", 1, 1}, {"00000006020803020800", 3, 0}};
	struct error err = {0};
	struct hbase_failure why = {0};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct buf frame;
		struct bytes message;
		uint64_t loaded = 7;

		assert_int_equal(answer_of(&frame, cases[i].call, cases[i].hex, &message, &why,
					   &err),
				 0);
		assert_int_equal(decode_number(message, &loaded, &err), 0);
		assert_int_equal(loaded, cases[i].loaded);
		buf_release(&frame);
	}
	struct buf frame;
	struct bytes message;
	assert_int_equal(answer_of(&frame, 4, "0000000402080400", &message, &why, &err), 0);
	assert_int_equal(message.len, 0);
	buf_release(&frame);
}

/* HBase 2.6.4 sends these answers if it requires Kerberos, and for an exception of an unknown class
 * with do_not_retry false. */
static void test_refusals(void **state)
{
	static const struct {
		const char *hex, *name, *words;
		bool may_pass;
	} cases[] = {{"0000005f5e08ffffffff0f12560a366f72672e6170616368652e6861646f6f702e6862617365"
		      "2e73656375726974792e41636365737344656e696564457863657074696f6e121a4175746865"
		      "6e7469636174696f6e2069732072657175697265642801",
		      "AccessDeniedException", "Authentication is required", false},
		     {"0000005d5c08ffffffff0f12540a376f72672e6170616368652e6861646f6f"
		      "702e68626173652e6970632e53656375726974794e6f74456e61626c656445"
		      "7863657074696f6e12177365637572697479206973206e6f7420656e61626c"
		      "65642800",
		      "SecurityNotEnabledException", "security is not enabled", true}};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct buf frame;
		struct bytes message;
		struct hbase_failure why = {0};
		struct error err = {0};

		assert_int_equal(answer_of(&frame, 1, cases[i].hex, &message, &why, &err), RC_IO);
		assert_int_equal(why.trouble, TROUBLE_REFUSED);
		assert_int_equal(why.may_pass, cases[i].may_pass);
		assert_int_equal(why.wants_kerberos, i == 0);
		assert_string_equal(why.name, cases[i].name);
		assert_non_null(strstr(err.msg, cases[i].words));
		buf_release(&frame);
	}
}

/* Builds an ExceptionResponse in an answer to call 1. */
static struct buf exception_frame(const char *class_name, const char *trace, bool overloaded,
				  bool for_good)
{
	struct buf header = {0}, frame = {0};

	pb_uint(&header, 1, 1);
	size_t at = pb_open(&header, 2);
	pb_text(&header, 1, class_name);
	pb_text(&header, 2, trace);
	pb_text(&header, 3, "other.example");
	pb_uint(&header, 4, 16020);
	pb_uint(&header, 5, for_good);
	if (overloaded)
		pb_uint(&header, 6, 1);
	pb_close(&header, at);
	pb_delimited(&frame, buf_bytes(&header));
	buf_release(&header);
	return frame;
}

static void test_exceptions(void **state)
{
	static const struct {
		const char *name;
		bool overloaded;
		enum hbase_trouble trouble;
	} cases[] = {
		{"org.apache.hadoop.hbase.NotServingRegionException", false, TROUBLE_GONE},
		{"org.apache.hadoop.hbase.exceptions.RegionMovedException", false, TROUBLE_GONE},
		{"org.apache.hadoop.hbase.RegionTooBusyException", false, TROUBLE_BUSY},
		{"org.apache.hadoop.hbase.PleaseHoldException", false, TROUBLE_GONE},
		{"org.apache.hadoop.hbase.TableExistsException", false, TROUBLE_EXISTS},
		{"org.apache.hadoop.hbase.NamespaceNotFoundException", false, TROUBLE_MISSING},
		{"java.io.IOException", false, TROUBLE_REFUSED},
		{"java.io.IOException", true, TROUBLE_BUSY},
		{"org.apache.hadoop.hbase.UnknownScannerException", false, TROUBLE_GONE},
		{"NoDots", false, TROUBLE_REFUSED},
	};
	(void)state;
	struct bytes none, nothing;
	struct hbase_failure unsaid = {0};
	struct error silent = {0};
	struct buf bare = unhex("04 0801 1200"); /* an exception without a message */
	assert_int_equal(rpc_read_answer(buf_bytes(&bare), 1, &none, &nothing, &unsaid, &silent),
			 RC_IO);
	assert_int_equal(unsaid.trouble, TROUBLE_REFUSED);
	buf_release(&bare);
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		bool for_good = i % 2;
		struct buf frame =
			exception_frame(cases[i / 2].name, "class: said so\n\tat nowhere.else",
					cases[i / 2].overloaded, for_good);
		struct bytes message, cells;
		struct hbase_failure why = {0};
		struct error err = {0};

		assert_int_equal(rpc_read_answer(buf_bytes(&frame), 1, &message, &cells, &why,
						 &err),
				 RC_IO);
		assert_int_equal(why.trouble, cases[i / 2].trouble);
		assert_int_equal(why.may_pass, why.trouble == TROUBLE_REFUSED && !for_good);
		assert_string_equal(err.msg, "class: said so");
		buf_release(&frame);
	}
}

/* Reads every answer without a memory error, cut at every byte and with every byte changed. */
static void test_damaged_answers(void **state)
{
	static const char hex[] = "020803420a400a1b0801120d0a05686261736512046d6574611a002200280030"
				  "00380012160a096c6f63"
				  "616c686f737410e3ab0218fdbcb686a03418ffffffffffffffffff01";
	struct buf whole = unhex(hex);

	(void)state;
	for (size_t cut = 0; cut < whole.len; cut++) {
		struct bytes message, cells;
		struct hbase_place at;
		struct hbase_failure why = {0};
		struct error err = {0};
		/* a heap copy, so that a sanitizer sees reads past its end */
		uint8_t *copy = mem_alloc(cut + 1);

		memcpy(copy, whole.ptr, cut);
		int rc = rpc_read_answer(bytes_of(copy, cut), 3, &message, &cells, &why, &err);
		assert_int_equal(rc, RC_DATA);
		mem_free(copy);
		for (unsigned v = 0; v < 256; v += 5) {
			uint8_t was = whole.ptr[cut];

			whole.ptr[cut] = (uint8_t)v;
			rc = rpc_read_answer(buf_bytes(&whole), 3, &message, &cells, &why, &err);
			if (rc == RC_OK)
				rc = decode_meta_place(message, &at, &err);
			assert_true(rc <= 0);
			whole.ptr[cut] = was;
		}
	}
	buf_release(&whole);
}

/* --- cells and regions --- */

static void test_recorded_cell(void **state)
{
	struct buf block = unhex("0000007e 0000004f 00000027 0035");
	struct cell c;
	struct region_info info;
	struct error err = {0};

	(void)state;
	buf_append_str(&block, REGION);
	struct buf more =
		unhex("04 696e666f 726567696f6e696e666f 000001a200e5da59 04 50425546"
		      "08fca29787a034120f0a0764656661756c741204676f6c641a002201012800 3000 3800");
	buf_append(&block, more.ptr, more.len);
	struct bytes rest = buf_bytes(&block);
	assert_int_equal(decode_cell(&rest, &c, &err), 0);
	assert_int_equal(rest.len, 0);
	assert_true(bytes_eq(c.row, bytes_str(REGION)));
	assert_true(bytes_eq(c.family, bytes_str("info")));
	assert_true(bytes_eq(c.qualifier, bytes_str("regioninfo")));
	assert_int_equal(c.ts, INT64_C(0x1a200e5da59));
	assert_int_equal(c.type, CELL_PUT);
	assert_int_equal(decode_region_info(bytes_of(c.value.ptr + 4, c.value.len - 4), &info,
					    &err),
			 0);
	assert_true(bytes_eq(info.table, bytes_str("gold")));
	assert_true(bytes_eq(info.space, bytes_str("default")));
	assert_int_equal(info.start.len, 0);
	assert_true(bytes_eq(info.end, bytes_of("\x01", 1)));
	assert_false(info.split || info.offline);
	assert_int_equal(decode_cell(&rest, &c, &err), RC_END);
	for (size_t cut = 1; cut < block.len; cut++) {
		uint8_t *copy = mem_alloc(cut);

		memcpy(copy, block.ptr, cut);
		rest = bytes_of(copy, cut);
		assert_int_equal(decode_cell(&rest, &c, &err), RC_DATA);
		mem_free(copy);
	}
	buf_release(&block);
	buf_release(&more);
}

static int take_meta(struct meta_rows *rows, const char *row, const char *start, const char *end,
		     bool split, const char *server)
{
	struct error err = {0};
	struct buf info = {0};

	buf_append_str(&info, "PBUF");
	pb_uint(&info, 1, 7);
	put_table_name(&info, 2, "t");
	pb_text(&info, 3, start);
	pb_text(&info, 4, end);
	pb_uint(&info, 5, split);
	pb_uint(&info, 6, split);
	struct cell c = {.row = bytes_str(row),
			 .family = bytes_str("info"),
			 .qualifier = bytes_str("regioninfo"),
			 .value = buf_bytes(&info)};
	int rc = meta_take(rows, &c, &err);
	c.qualifier = bytes_str("server");
	c.value = bytes_str(server);
	if (rc == RC_OK)
		rc = meta_take(rows, &c, &err);
	buf_release(&info);
	return rc;
}

static void test_regions(void **state)
{
	struct hbase_regions r = {0};
	struct meta_rows rows = {.out = &r};
	struct error err = {0};

	(void)state;
	/* hbase:meta still lists the parent of a split; rows are not in the order of their keys */
	take_meta(&rows, "t,m,1.x.", "m", "", true, "a:1");
	take_meta(&rows, "t,p,2.x.", "p", "", false, "b:2");
	take_meta(&rows, "t,m,2.x.", "m", "p", false, "");
	take_meta(&rows, "t,,1.x.", "", "m", false, "c.example:65535");
	assert_int_equal(meta_finish(&rows, &err), 0);
	assert_int_equal(r.count, 3);
	assert_string_equal(r.item[0].place.host, "c.example");
	assert_int_equal(r.item[0].place.port, 65535);
	assert_string_equal(r.item[1].place.host, "");
	assert_true(bytes_eq(r.item[1].end, bytes_str("p")));
	assert_true(bytes_eq(r.item[2].name, bytes_str("t,p,2.x.")));
	hbase_regions_release(&r);
	rows = (struct meta_rows){.out = &r};
	assert_int_equal(meta_finish(&rows, &err), RC_END);
	take_meta(&rows, "t,,1.x.", "", "m", false, "a:1");
	take_meta(&rows, "t,n,1.x.", "n", "", false, "a:1");
	assert_int_equal(meta_finish(&rows, &err), RC_DATA);
	assert_non_null(strstr(err.msg, "gap"));
	hbase_regions_release(&r);
	rows = (struct meta_rows){.out = &r};
	take_meta(&rows, "t,,1.x.", "", "", false, "a:1");
	take_meta(&rows, "t,,2.x.", "", "", false, "a:1");
	assert_int_equal(meta_finish(&rows, &err), RC_DATA);
	hbase_regions_release(&r);
}

/* Tests names of replaced regions. HBase made this name for this RegionInfo. */
static void test_parents(void **state)
{
	struct hbase_regions r = {0};
	struct meta_rows rows = {.out = &r};
	struct error err = {0};
	struct buf info =
		unhex("50425546"
		      "08fca29787a034120f0a0764656661756c741204676f6c641a002201012800 3000 3800");

	(void)state;
	take_meta(&rows, "t,m,1.00000000000000000000000000000001.", "m", "", true, "a:1");
	take_meta(&rows, "t,m,2.x.", "m", "", false, "a:1");
	take_meta(&rows, "t,,1.x.", "", "m", false, "a:1");
	struct cell c = {.row = bytes_str("t,,1.x."),
			 .family = bytes_str("info"),
			 .qualifier = bytes_str("merge0000"),
			 .value = buf_bytes(&info)};
	assert_int_equal(meta_take(&rows, &c, &err), 0);
	c.value.len -= 1; /* in the middle of a field */
	assert_int_equal(meta_take(&rows, &c, &err), RC_DATA);
	assert_int_equal(meta_finish(&rows, &err), 0);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.nparents, 2);
	assert_true(bytes_eq(r.parents[0], bytes_str("00000000000000000000000000000001")));
	assert_true(bytes_eq(r.parents[1], bytes_str("887dbb15bb33c33d0f69170801172484")));
	buf_release(&info);
	hbase_regions_release(&r);
}

static void test_places(void **state)
{
	static const struct {
		const char *text;
		bool good;
		const char *host;
		unsigned port;
	} cases[] = {
		{"h", true, "h", 16000},     {"h:1", true, "h", 1},
		{"[::1]:7", true, "::1", 7}, {"[::1]", true, "::1", 16000},
		{"::1", true, "::1", 16000}, {"h:0", false, "", 0},
		{"h:65536", false, "", 0},   {"h:", false, "", 0},
		{"h:1x", false, "", 0},	     {"", false, "", 0},
		{":80", false, "", 0},	     {"h:99999999999999999999", false, "", 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hbase_place at;
		bool good = place_read(bytes_str(cases[i].text), 16000, &at);

		if (good != cases[i].good ||
		    (good && (strcmp(at.host, cases[i].host) != 0 || at.port != cases[i].port)))
			fail_msg("`%s`", cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preamble),
		cmocka_unit_test(test_registry_requests),
		cmocka_unit_test(test_create_table),
		cmocka_unit_test(test_bulk_requests),
		cmocka_unit_test(test_fs_token),
		cmocka_unit_test(test_grant_advice),
		cmocka_unit_test(test_scan_requests),
		cmocka_unit_test(test_registry_answers),
		cmocka_unit_test(test_procedure_answers),
		cmocka_unit_test(test_loaded_answers),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_exceptions),
		cmocka_unit_test(test_damaged_answers),
		cmocka_unit_test(test_recorded_cell),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_parents),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_meta_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
