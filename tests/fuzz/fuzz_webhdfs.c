/* fuzz_webhdfs.c - reads any answer of a server as every kind of answer */
#include <stdlib.h>

#include "pipeline/storage/webhdfs_answers.h"

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_info(const struct storage_info *i)
{
	check(i->kind == STORAGE_FILE || i->kind == STORAGE_FOLDER);
	check(i->mode <= 07777);
	check(memchr(i->owner, 0, sizeof i->owner) != NULL);
}

static void read_list(struct bytes json)
{
	struct error err;
	struct arena a = {0};
	struct storage_entry *e;
	size_t n;

	if (answer_list(json, &a, &e, &n, &err) == RC_OK)
		for (size_t i = 0; i < n; i++) {
			check(e[i].name[0] && !strchr(e[i].name, '/'));
			check_info(&e[i].info);
		}
	arena_release(&a);
}

static void read_refusal(struct bytes json)
{
	struct webhdfs_refusal r;
	bool found = answer_refusal(json, &r);

	check(memchr(r.exception, 0, sizeof r.exception) && memchr(r.message, 0, sizeof r.message));
	check(found || (!r.exception[0] && !r.message[0]));
	check(!strpbrk(r.message, "\r\n\033"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bytes json = bytes_of(data, size);
	struct error err;
	struct storage_info info;
	struct buf url = {0};
	uint8_t sum[HDFS_SUM_BYTES];
	struct webhdfs_defaults defaults;
	struct webhdfs_capacity capacity;
	struct webhdfs_quota quota;
	bool yes;

	read_refusal(json);
	read_list(json);
	answer_boolean(json, &yes, &err);
	answer_checksum(json, sum, &yes, &err);
	if (answer_status(json, &info, &err) == RC_OK)
		check_info(&info);
	answer_capacity(json, &capacity, &err);
	answer_quota(json, &quota, &err);
	if (answer_defaults(json, &defaults, &err) == RC_OK)
		check(defaults.block_bytes >= 512 && defaults.block_bytes % 512 == 0 &&
		      defaults.replication > 0);
	if (answer_location(json, &url, &err) == RC_OK)
		check(url.len && url.ptr[url.len - 1] == 0);
	buf_release(&url);
	return 0;
}
