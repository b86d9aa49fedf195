/*
 * test_base_tokens.c - tests Hadoop's credentials files. Credentials.writeTokenStorageToStream of Hadoop 3.4.2 wrote these
 * bytes, in both forms. The third token has an identifier of 300 bytes, `big`
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "hex.h"
#include "io.h"
#include "mem.h"
#include "temp_dir.h"

/* clang-format off */
#define WRITABLE_HEAD \
	"4844545300030f3132372e302e302e313a34373239391e0005616c696365056862617365008a01a20681" \
	"f80f8a01a22a8e7c0f010214654ac9871db8c747dc44b6c2f0b4a897a68e216215484446535f44454c45" \
	"474154494f4e5f544f4b454e0f3132372e302e302e313a343732393909636c75737465722d312b000000" \
	"2708001211616c696365404558414d504c452e434f4d180120d2e1a5b4a03428d2e9d7d4a234300c14e0" \
	"99638b9371932cae1cf55709aa599e37c3000b1048424153455f415554485f544f4b454e09636c757374" \
	"65722d31036269678e012c"
#define WRITABLE_TAIL \
	"020102054f544845520001036b657903a1b2c3"
#define PROTO_HEAD \
	"4844545301b5040a710a0f3132372e302e302e313a3437323939125e0a1e0005616c6963650568626173" \
	"65008a01a20681f80f8a01a22a8e7c0f01021214654ac9871db8c747dc44b6c2f0b4a897a68e21621a15" \
	"484446535f44454c45474154494f4e5f544f4b454e220f3132372e302e302e313a34373239390a6d0a09" \
	"636c75737465722d3112600a2b0000002708001211616c696365404558414d504c452e434f4d180120d2" \
	"e1a5b4a03428d2e9d7d4a234300c1214e099638b9371932cae1cf55709aa599e37c3000b1a1048424153" \
	"455f415554485f544f4b454e2209636c75737465722d310ac4020a0362696712bc020aac02"
#define PROTO_TAIL \
	"120201021a054f544845522200120a0a036b65791a03a1b2c3"
/* clang-format on */

static struct buf big_file(const char *head, const char *tail)
{
	struct buf b = unhex(head), end = unhex(tail);

	for (unsigned i = 0; i < 300; i++)
		buf_put(&b, (uint8_t)(i * 5 + 1));
	buf_append(&b, end.ptr, end.len);
	buf_release(&end);
	return b;
}

static void check(const struct hadoop_tokens *t)
{
	char user[LOGIN_USER];

	assert_int_equal(t->count, 3);
	assert_string_equal(t->item[0].kind, HDFS_TOKEN);
	assert_string_equal(t->item[0].service, "127.0.0.1:47299");
	assert_hex(t->item[0].identifier,
		   "0005616c696365056862617365008a01a20681f80f8a01a22a8e7c0f0102");
	assert_hex(t->item[0].password, "654ac9871db8c747dc44b6c2f0b4a897a68e2162");
	assert_true(token_user(&t->item[0], user, sizeof user));
	assert_string_equal(user, "alice");
	assert_string_equal(t->item[1].kind, HBASE_TOKEN);
	assert_string_equal(t->item[1].service, "cluster-1");
	assert_hex(t->item[1].password, "e099638b9371932cae1cf55709aa599e37c3000b");
	assert_true(token_user(&t->item[1], user, sizeof user));
	assert_string_equal(user, "alice"); /* without the realm */
	assert_false(token_user(&t->item[1], user, 5));
	assert_int_equal(t->item[2].identifier.len, 300);
	assert_int_equal(t->item[2].identifier.ptr[299], (uint8_t)(299 * 5 + 1));
	assert_string_equal(t->item[2].service, "");
	assert_false(token_user(&t->item[2], user, sizeof user));
}

static void test_both_forms(void **state)
{
	static const char *const files[][2] = {{WRITABLE_HEAD, WRITABLE_TAIL},
					       {PROTO_HEAD, PROTO_TAIL}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct buf file = big_file(files[i][0], files[i][1]);
		struct hadoop_tokens t;
		struct error err;

		assert_int_equal(tokens_read(&t, buf_bytes(&file), &err), RC_OK);
		check(&t);
		arena_release(&t.arena);
		/* a file that ends early is refused, or has fewer secrets */
		for (size_t n = 0; n < file.len; n++) {
			struct buf cut = {
				0}; /* exactly n bytes, so that a sanitizer sees a read after them */

			buf_append(&cut, file.ptr, n);
			int rc = tokens_read(&t, buf_bytes(&cut), &err);
			assert_true(rc == RC_DATA || (i == 0 && t.count == 3));
			arena_release(&t.arena);
			buf_release(&cut);
		}
		buf_release(&file);
	}
}

/* The written file is Hadoop's, except for the aliases and the secrets, which it lacks. */
static void test_writing(void **state)
{
	struct buf file = big_file(WRITABLE_HEAD, WRITABLE_TAIL), out = {0};
	struct hadoop_tokens t, again;
	struct error err;

	(void)state;
	assert_int_equal(tokens_read(&t, buf_bytes(&file), &err), RC_OK);
	t.count = 2;
	tokens_write(&out, &t);
	file.ptr[5] = 2; /* the number of tokens */
	assert_memory_equal(out.ptr, file.ptr, out.len - 1);
	assert_int_equal(out.ptr[out.len - 1], 0); /* no secrets */
	t.count = 3;
	out.len = 0;
	tokens_write(&out, &t);
	assert_int_equal(tokens_read(&again, buf_bytes(&out), &err), RC_OK);
	check(&again);
	arena_release(&again.arena);
	arena_release(&t.arena);
	buf_release(&out);
	buf_release(&file);
}

static void test_other_files(void **state)
{
	static const char *const bad[] = {"",
					  "48445453",
					  "4844545302 00",
					  "4844545400 00",
					  "48445453 00 8501",
					  "48445453 00 ff",
					  "48445453 00 87ffffffffffffffff",
					  "48445453 01 ffffffffffffffffffff7f"};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct buf file = unhex(bad[i]);
		struct hadoop_tokens t;
		struct error err;

		if (tokens_read(&t, buf_bytes(&file), &err) != RC_DATA)
			fail_msg("case %zu", i);
		arena_release(&t.arena);
		buf_release(&file);
	}
}

/* Numbers around each length of WritableUtils. */
static void test_lengths(void **state)
{
	static const size_t sizes[] = {0, 1, 127, 128, 255, 256, 65535, 65536, 1000000};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct buf b = {0};
		uint8_t *zeros = mem_calloc(sizes[i] + 1, 1);
		struct bytes part;

		token_put(&b, bytes_of(zeros, sizes[i]));
		struct bytes rest = buf_bytes(&b);
		assert_true(token_take(&rest, &part));
		assert_int_equal(part.len, sizes[i]);
		assert_int_equal(rest.len, 0);
		rest = bytes_of(b.ptr, b.len - 1);
		assert_false(token_take(&rest, &part));
		mem_free(zeros);
		buf_release(&b);
	}
}

static void replace(const char *path, const uint8_t *ptr, size_t len)
{
	struct error err;

	assert_int_equal(io_replace_file(path, bytes_of(ptr, len), NULL, &err), RC_OK);
}

/* Another program replaces the file while this process runs. Pointers to earlier tokens stay valid. */
static void test_replaced_file(void **state)
{
	struct buf file = big_file(WRITABLE_HEAD, WRITABLE_TAIL), one = {0};
	const char *path = path_of("tokens"), *problem;

	(void)state;
	setenv("HADOOP_TOKEN_FILE_LOCATION", path, 1);
	assert_int_equal(login_tokens(&problem)->count, 0);
	assert_non_null(strstr(problem, path));
	replace(path, file.ptr, file.len);
	const struct hadoop_tokens *first = login_tokens(&problem);
	assert_null(problem);
	check(first);
	assert_ptr_equal(login_tokens(NULL), first);
	replace(path, file.ptr, file.len / 2);
	assert_ptr_equal(login_tokens(&problem), first);
	assert_null(problem);
	tokens_write(&one, &(struct hadoop_tokens){.item = first->item + 1, .count = 1});
	replace(path, one.ptr, one.len);
	const struct hadoop_tokens *second = login_tokens(NULL);
	assert_int_equal(second->count, 1);
	assert_string_equal(second->item[0].kind, HBASE_TOKEN);
	check(first);
	assert_int_equal(remove(path), 0);
	assert_ptr_equal(login_tokens(NULL), second);
	unsetenv("HADOOP_TOKEN_FILE_LOCATION");
	buf_release(&one);
	buf_release(&file);
}

/* The bytes of a token are the same for all kinds of HDFS. */
static void test_kinds(void **state)
{
	static const char *const kinds[] = {"HDFS_DELEGATION_TOKEN", "WEBHDFS delegation",
					    "SWEBHDFS delegation", "kms-dt"};
	struct buf id = unhex("0005616c696365056862617365008a01a20681f80f8a01a22a8e7c0f0102");
	char user[LOGIN_USER];

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct hadoop_token t = {.identifier = buf_bytes(&id), .kind = kinds[i]};

		assert_int_equal(token_user(&t, user, sizeof user), i < 3);
		assert_int_equal(token_is_of_hdfs(&t), i < 3);
	}
	buf_release(&id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_forms),    cmocka_unit_test(test_writing),
		cmocka_unit_test(test_other_files),   cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_replaced_file), cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
