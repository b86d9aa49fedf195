/*
 * test_hbase_digest.c - tests DIGEST-MD5 with the bytes of two logins by tokens that a server of HBase
 * 2.6.4 accepted
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "hex.h"
#include "mem.h"
#include "pipeline/hbase/rpc/digest.h"

#define OFFER                                                                                      \
	",qop=\"auth,auth-int,auth-conf\",charset=utf-8,cipher=\"3des,rc4,des,rc4-56,rc4-40\","    \
	"algorithm=md5-sess"
#define USER "AAAAJwgAEhFhbGljZUBFWEFNUExFLkNPTRgBINLhpbSgNCjS6dfUojQwDA=="

/* a frame with a ConnectionHeader for the ClientService */
static const char header[] = "\0\0\0\x0f\x12\x0d"
			     "ClientService";
static struct buf identifier, password;
static struct hadoop_token token;

static int make_token(void **state)
{
	static const uint8_t secret[] = {0xe0, 0x99, 0x63, 0x8b, 0x93, 0x71, 0x93,
					 0x2c, 0xae, 0x1c, 0xf5, 0x57, 0x09, 0xaa,
					 0x59, 0x9e, 0x37, 0xc3, 0x00, 0x0b};

	(void)state;
	buf_append(&password, secret, sizeof secret);
	token = (struct hadoop_token){.password = buf_bytes(&password),
				      .kind = HBASE_TOKEN,
				      .service = "c"};
	int read = text_unbase64(&identifier, USER);
	token.identifier = buf_bytes(&identifier);
	return read ? 0 : -1;
}

static int free_token(void **state)
{
	(void)state;
	buf_release(&identifier);
	buf_release(&password);
	return 0;
}

static void begin(struct digest *d, const char *challenge, enum protection layer,
		  const char *cnonce, const char *response)
{
	struct digest_challenge c;
	struct buf answer = {0};
	struct error err;

	assert_int_equal(digest_challenge_read(&c, bytes_str(challenge), &err), RC_OK);
	assert_int_equal(c.offered, PROTECT_AUTHENTICATION | PROTECT_INTEGRITY | PROTECT_PRIVACY);
	digest_answer(d, &c, &token, layer, cnonce, &answer);
	buf_put(&answer, 0);
	assert_non_null(
		strstr((const char *)answer.ptr, "username=\"" USER "\",realm=\"default\","));
	assert_non_null(strstr((const char *)answer.ptr, "digest-uri=\"null/default\""));
	assert_non_null(strstr((const char *)answer.ptr, response));
	buf_release(&answer);
}

/* The bytes of a login with auth-int, and its first message. */
static void test_integrity(void **state)
{
	struct digest d;
	struct buf piece = {0};

	(void)state;
	begin(&d, "realm=\"default\",nonce=\"6Y1gsc8ED9DD0UdxeSWBJ9ayQ4OhNlN005UWKUOe\"" OFFER,
	      PROTECT_INTEGRITY, "UCO/7JuycyERm6kc7mkF6AsVVwVtbymR",
	      "response=88c1587c500ea9409c0723341d9e357d,qop=auth-int");
	assert_true(digest_proves(&d, bytes_str("rspauth=bdcde47a778203e2990d67294a4a3b74")));
	assert_false(digest_proves(&d, bytes_str("rspauth=bdcde47a778203e2990d67294a4a3b75")));
	assert_false(digest_proves(&d, bytes_str("rspauth=")));
	assert_false(digest_proves(&d, bytes_str("")));
	digest_wrap(&d, bytes_of(header, sizeof header - 1), &piece);
	assert_hex(buf_bytes(&piece),
		   "0000000f120d436c69656e7453657276696365abc3e10dcc375ccc8aa5000100000000");
	buf_release(&piece);
}

/* The bytes of a login with auth-conf and RC4. */
static void test_privacy(void **state)
{
	struct digest d;
	struct buf piece = {0};

	(void)state;
	begin(&d, "realm=\"default\",nonce=\"z1ZJEtSIrxVtH2Nz/QvnsHQC0Tz2iBXtNLnwT3yD\"" OFFER,
	      PROTECT_PRIVACY, "+iTyxeC2Y08fr5e7btL+bGW+c+Wg2wYa",
	      "response=e4cd42658f7f40848243dd6999102fa1,qop=auth-conf,cipher=\"rc4\"");
	assert_true(digest_proves(&d, bytes_str("rspauth=36c5033b36137710b037ffb7ee72f6b7")));
	digest_wrap(&d, bytes_of(header, sizeof header - 1), &piece);
	assert_hex(buf_bytes(&piece),
		   "09288b92c68c20c8e8c669f4b695ce399d46baa0b5581c8feb651004b8000100000000");
	buf_release(&piece);
}

/* A piece that is changed, repeated, cut or out of order is refused. The keys of both directions are made equal. */
static void test_changed_pieces(void **state)
{
	(void)state;
	for (unsigned privacy = 0; privacy < 2; privacy++) {
		for (size_t i = 0; i <= 21; i++) {
			struct digest d = {.layer = privacy ? PROTECT_PRIVACY : PROTECT_INTEGRITY};
			struct buf piece = {0}, again = {0}, out = {0};
			struct error err;

			for (unsigned k = 0; k < 256; k++)
				d.in.cipher.s[k] = d.out.cipher.s[k] = (uint8_t)(k * 7 + 3);
			digest_wrap(&d, bytes_str("hello"), &piece);
			digest_wrap(&d, bytes_str("again"), &again);
			if (i < piece.len)
				piece.ptr[i] ^= 1;
			int rc = digest_unwrap(&d, buf_bytes(&piece), &out, &err);
			assert_int_equal(rc, i < piece.len ? RC_DATA : RC_OK);
			assert_int_equal(out.len, i < piece.len ? 0 : 5);
			if (rc == RC_OK) {
				assert_int_equal(digest_unwrap(&d, bytes_of(again.ptr, 15), &out,
							       &err),
						 RC_DATA);
				assert_int_equal(digest_unwrap(&d, (struct bytes){0}, &out, &err),
						 RC_DATA);
			}
			buf_release(&piece);
			buf_release(&again);
			buf_release(&out);
		}
	}
}

static void test_challenges(void **state)
{
	static const struct {
		const char *text;
		int rc;
		unsigned offered;
	} cases[] = {
		{"nonce=\"a\\\"b\",qop=auth,algorithm=md5-sess", RC_OK, 1},
		{"nonce=n,qop=\"auth-int\",algorithm=md5-sess", RC_OK, 2},
		/* privacy needs RC4 */
		{"nonce=n,qop=\"auth-conf\",cipher=\"3des\",algorithm=md5-sess", RC_OK, 0},
		{"nonce=n,qop=\"auth-conf,auth\",cipher=\"rc4-56,rc4\",algorithm=md5-sess", RC_OK,
		 5},
		{"nonce=n,qop=\"auth-conf,auth\",cipher=\"rc4-56\",algorithm=md5-sess", RC_OK, 1},
		{"nonce=n,qop=auth", RC_DATA, 0},
		{"nonce=\"n,algorithm=md5-sess", RC_DATA, 0},
		{"qop=auth,algorithm=md5-sess", RC_DATA, 0},
		{"", RC_DATA, 0},
		{"garbage", RC_DATA, 0},
	};
	char longest[700] = "nonce=\"";

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct digest_challenge c;
		struct error err;
		int rc = digest_challenge_read(&c, bytes_str(cases[i].text), &err);

		if (rc != cases[i].rc || (rc == RC_OK && c.offered != cases[i].offered))
			fail_msg("case %zu: %d, %u", i, rc, c.offered);
	}
	struct digest_challenge c;
	struct error err;
	memset(longest + 7, 'n', 400);
	strcat(longest, "\",algorithm=md5-sess");
	assert_int_equal(digest_challenge_read(&c, bytes_str(longest), &err), RC_DATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integrity),
		cmocka_unit_test(test_privacy),
		cmocka_unit_test(test_changed_pieces),
		cmocka_unit_test(test_challenges),
	};

	return cmocka_run_group_tests(tests, make_token, free_token);
}
