/*
 * fuzz_state.c - reads the files of a state folder, or gets an error
 *
 * The first byte chooses the file, with t for topic.json, n for status.json, and any other byte for
 * a load.
 */
#include "memory_file.h"

#include "pipeline/stream/state/state_files.h"

static int read_one(char kind, const char *path, struct arena *a, struct error *err)
{
	struct state_topics topics = {0};
	struct state_note note = {0};
	struct state_load load = {0};
	int rc;

	if (kind == 'n')
		return note_read(path, &note, err);
	if (kind == 't') {
		rc = topics_read(path, &topics, a, err);
		if (rc == RC_OK && topics.n == 0)
			abort();
		for (size_t i = 0; rc == RC_OK && i < topics.n; i++)
			if (!topics.item[i].topic || !topics.item[i].cluster)
				abort();
		return rc;
	}
	rc = load_read(path, &load, a, err);
	if (rc == RC_OK && (!load.dir || (load.nranges && !load.ranges) || load.phase > STATE_SEEK))
		abort();
	for (size_t i = 1; rc == RC_OK && i < load.nranges; i++) {
		const struct offset_range *was = &load.ranges[i - 1], *r = &load.ranges[i];

		if (place_order(was->topic, 0, r->topic, 0) == 0 && was->partition >= r->partition)
			abort();
	}
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	struct error err;
	char path[64];

	if (size == 0)
		return 0;
	int fd = memory_file(bytes_of(data + 1, size - 1), path);
	int rc = read_one((char)data[0], path, &a, &err);
	expect_sentence(rc, &err);
	arena_release(&a);
	close(fd);
	return 0;
}
