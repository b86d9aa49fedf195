/*
 * fuzz_journal.c - apply replays a journal, or refuses it with an error that names the line
 *
 * The first byte chooses whether each line gets its correct hash. Otherwise the hashes stop a
 * fuzzer at the first byte that it changes. The first line is the one that the load expects.
 */
#include "memory_file.h"

#include "mem.h"
#include "pipeline/deliver/apply/applying.h"

#define FIRST "saltmill-apply 1 00 cluster"

enum { FILES = 3 };

/* Replays a line as hand_journal.c does for a load with one table. */
static int replay_line(void *ctx, char *line, struct error *err)
{
	struct applied *t = ctx;

	if (strncmp(line, "table ", 6) == 0)
		return incarnation_read(&t->bound, line + 5)
			       ? RC_OK
			       : error_set(err, RC_DATA, "not a table");
	int rc = handover_replay(&t->hand, line, err);
	return rc == RC_END ? RC_OK : rc;
}

static void check(const struct applied *t)
{
	size_t ended = 0;

	if (t->hand.nfiles < FILES)
		abort();
	for (size_t i = 0; i < t->hand.nfiles; i++) {
		const struct hand_file *f = &t->hand.files[i];

		if (f->state > HAND_CUT || (i >= FILES && (!f->upload || !f->first.ptr)))
			abort();
		ended += f->state == HAND_DONE || f->state == HAND_CUT;
	}
	/* a file with two notes `done` counts once, and apply may send a file again */
	if (ended > *t->hand.done)
		abort();
}

static void mend(struct bytes text, struct buf *out)
{
	journal_line(out, FIRST);
	for (size_t from = 0; from < text.len;) {
		const uint8_t *p = text.ptr + from, *end = memchr(p, '\n', text.len - from);
		size_t n = end ? (size_t)(end - p) : text.len - from;
		char *line = mem_format("%.*s", (int)n, (const char *)p);

		journal_line(out, line);
		mem_free(line);
		from += n + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char journal[] = "j";
	struct apply_options opt = {.dir = "load"};
	struct apply_result result = {0};
	struct applying a = {.opt = &opt, .result = &result, .journal = {.path = journal}};
	_Atomic uint64_t done = 0;
	struct applied t = {.run = &a, .hand = {.table = "t", .nfiles = FILES, .done = &done}};
	const struct hand_world world = {.self = &t, .part = cut_part};
	struct buf text = {0};
	struct error err;
	size_t good;

	if (size == 0)
		return 0;
	t.hand.world = &world;
	t.hand.files = mem_calloc(FILES, sizeof *t.hand.files);
	t.hand.files_room = FILES;
	t.sources = mem_calloc(FILES, sizeof *t.sources);
	t.sources_room = FILES;
	if (data[0] & 1)
		mend(bytes_of(data + 1, size - 1), &text);
	else
		buf_append(&text, data + 1, size - 1);
	int rc = journal_read(buf_bytes(&text), journal, FIRST, replay_line, &t, &good, &err);
	expect_sentence(rc, &err);
	if (good > text.len || (rc && !strstr(err.msg, "j")))
		abort();
	check(&t);
	incarnation_release(&t.bound);
	mem_free(t.hand.files);
	mem_free(t.sources);
	arena_release(&result.arena);
	buf_release(&text);
	return 0;
}
