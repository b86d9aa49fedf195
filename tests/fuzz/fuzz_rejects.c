/* fuzz_rejects.c - a repaired rejects.jsonl gives messages, or an error with path and line
 */
#include "memory_file.h"

#include "pipeline/input/kafka/replay.h"

static size_t sum(struct bytes b)
{
	size_t n = 0;

	for (size_t i = 0; i < b.len; i++)
		n += b.ptr[i];
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct replay r;
	struct error err;
	char path[64];

	static volatile size_t all; /* read every byte of the reject */
	int fd = memory_file(bytes_of(data, size), path);
	const struct kafka_source of = {.topic = "t"};
	int rc = replay_open(&r, path, &of, &err);
	expect_sentence(rc, &err);
	if (rc && !strstr(err.msg, path))
		abort();
	for (size_t i = 0; rc == RC_OK && i < r.count; i++) {
		const struct message *m = &r.messages[i];

		all += sum(m->key) + sum(m->value);
		for (size_t k = 0; k < m->nheaders; k++)
			all += sum(m->headers[k].value) + strlen(m->headers[k].name);
	}
	replay_close(&r);
	close(fd);
	return 0;
}
