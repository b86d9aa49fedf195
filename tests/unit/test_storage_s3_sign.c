/* test_storage_s3_sign.c - the four examples in the documentation of Amazon S3, and names of hosts */
#include "pipeline/storage/s3_sign.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define SITE  "https://examplebucket.s3.amazonaws.com/"
#define HOST  "host: examplebucket.s3.amazonaws.com"
#define DATE  "x-amz-date: 20130524T000000Z"

static const struct example {
	const char *method, *url, *digest, *names, *signature;
	const char *lines[6];
} examples[] = {{"GET",
		 SITE "test.txt",
		 EMPTY,
		 "host;range;x-amz-content-sha256;x-amz-date",
		 "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
		 {"x-amz-content-sha256: " EMPTY, "range: bytes=0-9", HOST, DATE}},
		{"PUT",
		 SITE "test%24file.text",
		 "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
		 "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
		 "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
		 {HOST, "x-amz-storage-class: REDUCED_REDUNDANCY", DATE,
		  "date: Fri, 24 May 2013 00:00:00 GMT",
		  "x-amz-content-sha256: "
		  "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"}},
		{"GET",
		 SITE "?lifecycle=",
		 EMPTY,
		 "host;x-amz-content-sha256;x-amz-date",
		 "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
		 {HOST, DATE, "x-amz-content-sha256: " EMPTY}},
		{"GET",
		 SITE "?max-keys=2&prefix=J",
		 EMPTY,
		 "host;x-amz-content-sha256;x-amz-date",
		 "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
		 {HOST, DATE, "x-amz-content-sha256: " EMPTY}}};

static void examples_of_the_documentation(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const struct example *e = &examples[i];
		struct s3_signed r = {.method = e->method,
				      .url = e->url,
				      .digest = e->digest,
				      .stamp = "20130524T000000Z",
				      .key_id = "AKIAIOSFODNN7EXAMPLE",
				      .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
				      .region = "us-east-1",
				      .lines = e->lines};

		while (r.nlines < sizeof e->lines / sizeof *e->lines && e->lines[r.nlines])
			r.nlines++;
		char *right =
			mem_format("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/"
				   "us-east-1/s3/aws4_request, SignedHeaders=%s, Signature=%s",
				   e->names, e->signature);
		char *made = s3_authorization(&r);
		assert_string_equal(made, right);
		mem_free(made);
		mem_free(right);
	}
}

/* A shorter name comes first, also before a character that is less than a colon. */
static void order_of_names(void **state)
{
	static const char *const lines[] = {"x-amz-copy-source-range: bytes=0-9",
					    "x-amz-copy-source: /b/k"};
	struct buf text = {0}, names = {0};

	(void)state;
	add_headers(&text, &names, lines, 2);
	assert_string_equal(names.ptr, "x-amz-copy-source;x-amz-copy-source-range");
	buf_release(&text);
	buf_release(&names);
}

static void hosts(void **state)
{
	static const char *const cases[][2] = {{"https://h.example/b/k?x=1", "h.example"},
					       {"http://127.0.0.1:9000/b", "127.0.0.1:9000"},
					       {"http://h:80/b", "h"},
					       {"https://h:443", "h"},
					       {"https://h:80/b", "h:80"}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *host = s3_host(cases[i][0]);

		assert_string_equal(host, cases[i][1]);
		mem_free(host);
	}
}

static void times(void **state)
{
	char stamp[S3_STAMP];

	(void)state;
	s3_stamp(stamp, 1369353600);
	assert_string_equal(stamp, "20130524T000000Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(examples_of_the_documentation),
					   cmocka_unit_test(order_of_names),
					   cmocka_unit_test(hosts), cmocka_unit_test(times)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
