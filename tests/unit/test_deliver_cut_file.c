/* Tests the folder of cut files. `apply` creates the folder only if no folder has this name, and
 * removes only its own files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "hfile.h"
#include "io.h"
#include "mem.h"
#include "pipeline/deliver/apply/applying.h"

#define PART "9f8e7d6c5b4a39210123456789abcdef"

struct place {
	char *dir, *parts;
	struct apply_options opt;
	struct apply_result result;
	struct applying run;
};

static char *below(const char *dir, const char *name)
{
	return mem_format("%s/%s", dir, name);
}

static void write_file(const char *dir, const char *name)
{
	struct error err = {0};
	char *path = below(dir, name);

	assert_int_equal(io_write_file(path, bytes_str("x"), &err), 0);
	mem_free(path);
}

static bool is_there(const char *dir, const char *name)
{
	char *path = below(dir, name);
	bool there = access(path, F_OK) == 0;

	mem_free(path);
	return there;
}

/* Prepares `apply --journal DIR/orders` when a folder has the name of the parts' folder. */
static void begin(struct place *p)
{
	struct error err = {0};

	*p = (struct place){0};
	assert_int_equal(io_make_temp_dir(&p->dir, "/tmp", "cut", &err), 0);
	p->run = (struct applying){.opt = &p->opt,
				   .result = &p->result,
				   .journal = {.fd = -1, .path = below(p->dir, "orders")},
				   .cut_lock = PTHREAD_MUTEX_INITIALIZER};
	p->parts = below(p->dir, "orders.saltmill-parts");
	assert_int_equal(io_make_dir(p->parts, &err), 0);
}

static void end(struct place *p)
{
	struct error err = {0};

	assert_int_equal(io_remove_tree(p->dir, &err), 0);
	arena_release(&p->result.arena);
	mem_free(p->run.journal.path);
	mem_free(p->parts);
	mem_free(p->dir);
}

static void test_nothing_was_cut(void **state)
{
	struct place p;
	struct error err = {0};

	(void)state;
	begin(&p);
	char *older = below(p.dir, "orders-parts");
	assert_int_equal(io_make_dir(older, &err), 0);
	write_file(older, PART);
	write_file(p.parts, PART);
	assert_int_equal(cut_forget(&p.run, &err), 0);
	assert_true(is_there(older, PART));
	assert_true(is_there(p.parts, PART));
	mem_free(older);
	end(&p);
}

static void test_only_parts_go(void **state)
{
	struct place p;
	struct error err = {0};

	(void)state;
	begin(&p);
	p.run.cut_begun = true;
	write_file(p.parts, PART);
	write_file(p.parts, ".cut-0-17-1");
	write_file(p.parts, "orders.csv");
	write_file(p.parts, PART "0");
	assert_int_equal(cut_forget(&p.run, &err), 0);
	assert_false(is_there(p.parts, PART));
	assert_false(is_there(p.parts, ".cut-0-17-1"));
	assert_true(is_there(p.parts, "orders.csv"));
	assert_true(is_there(p.parts, PART "0"));
	assert_int_equal(p.result.nwarnings, 1);
	assert_non_null(strstr(p.result.warnings[0], "orders.saltmill-parts, because "));
	end(&p);
}

static void test_all_goes(void **state)
{
	struct place p;
	struct error err = {0};

	(void)state;
	begin(&p);
	p.run.cut_begun = true;
	write_file(p.parts, PART);
	write_file(p.parts, ".cut-0-17-1");
	assert_int_equal(cut_forget(&p.run, &err), 0);
	assert_false(is_there(p.dir, "orders.saltmill-parts"));
	assert_int_equal(cut_forget(&p.run, &err), 0); /* a run died after this call */
	assert_int_equal(p.result.nwarnings, 0);
	end(&p);
}

/* apply neither fills a foreign folder nor records it as the load's folder. */
static void test_folder_of_others(void **state)
{
	struct place p;
	struct applied_file source = {.bytes = 1, .cells = 1};
	struct hbase_regions regions = {0};
	struct hand_file file = {0};
	struct buf words = {0};
	struct error err = {0};
	uint64_t bytes;

	(void)state;
	begin(&p);
	struct applied table = {.sources = &source, .hand = {.files = &file}, .run = &p.run};
	char *path = below(p.dir, "file");
	write_file(p.dir, "file");
	source.path = path;
	assert_int_equal(io_digest_file(path, source.digest, &bytes, &err), 0);
	assert_int_equal(cut_at_regions(&table, &file, &regions, &words, &err), RC_CONFIG);
	char *said = mem_format("%s already exists, and this load did not create it, but apply "
				"needs that name for the parts of cut files; move it away, or "
				"choose another place with --journal",
				p.parts);
	assert_string_equal(err.msg, said);
	assert_false(p.run.cut_begun);
	mem_free(said);
	mem_free(path);
	buf_release(&words);
	end(&p);
}

/* --- a file and its parts --- */

static char said[1024];

static void hear(void *ctx, const char *sentence)
{
	(void)ctx;
	snprintf(said, sizeof said, "%s", sentence);
}

/* Writes rows a to f with one cell each. The levels of ZSTD give different bytes. */
static void write_hfile(const char *path, struct applied_file *s)
{
	static const char rows[] = "abcdef";
	char value[2000];
	uint32_t x = 1;
	struct hfile_options opt = {.codec = CODEC_ZSTD};
	struct hfile_summary sum = {0};
	struct hfile_writer *w;
	struct error err = {0};

	assert_int_equal(hfile_writer_new(&w, path, &opt, &err), 0);
	for (size_t i = 0; i < sizeof value; i++, x = x * 1664525 + 1013904223)
		value[i] = "abc"[x >> 24 & 1];
	for (size_t i = 0; i < sizeof rows - 1; i++) {
		struct cell c = {.row = bytes_of(rows + i, 1),
				 .family = bytes_str("f"),
				 .qualifier = bytes_str("q"),
				 .ts = 1,
				 .value = bytes_of(value, sizeof value - i),
				 .type = CELL_PUT};

		assert_int_equal(hfile_add(w, &c, &err), 0);
	}
	assert_int_equal(hfile_finish(w, &sum, &err), 0);
	*s = (struct applied_file){.path = path,
				   .family = "f",
				   .bytes = sum.file_bytes,
				   .cells = sum.cells};
	memcpy(s->digest, sum.digest, sizeof s->digest);
	hfile_summary_release(&sum);
}

/* Cuts a file at regions that begin at these rows, and at no row. `tuned` may be NULL. */
static size_t cut_at(const char *borders, struct manifest_tuning *tuned, char *words, size_t room)
{
	struct place p;
	struct hbase_region items[8] = {{.place = {.port = 0}}};
	struct hbase_regions r = {.item = items, .count = 1 + strlen(borders)};
	struct hand_file file = {.first = bytes_str("a"), .last = bytes_str("f")};
	struct manifest_table manifest = {.tuned = tuned, .ntuned = tuned ? 1 : 0};
	struct apply_table result = {.name = "t"};
	struct applied_file source;
	struct buf out = {0};
	struct error err = {0};

	begin(&p);
	assert_int_equal(rmdir(p.parts), 0);
	p.opt.listener.hear = hear;
	mem_free(p.run.journal.path);
	char *journal = below(p.dir, "orders"), *path = below(p.dir, "file");
	assert_int_equal(journal_open(&p.run.journal, journal, "first", NULL, NULL, &err), 0);
	write_hfile(path, &source);
	struct applied table = {.sources = &source,
				.result = &result,
				.manifest = &manifest,
				.hand = {.files = &file},
				.run = &p.run};
	for (size_t i = 1; i < r.count; i++)
		items[i].start = items[i - 1].end = bytes_of(borders + i - 1, 1);
	said[0] = 0;
	if (cut_at_regions(&table, &file, &r, &out, &err))
		fail_msg("%s", err.msg);
	assert_true(p.run.cut_begun && out.len < room);
	memcpy(words, out.ptr, out.len);
	words[out.len] = 0;
	size_t n = 0;
	for (size_t i = 0; i < out.len; i++)
		n += out.ptr[i] == ' ';
	buf_release(&out);
	mem_free(journal);
	mem_free(path);
	close(p.run.journal.fd);
	pthread_mutex_destroy(&p.run.journal.lock);
	end(&p);
	return n;
}

/* apply selected a file for a cut, but its regions merged before the cut. The file stays whole.
 */
static void test_parts(void **state)
{
	char words[1024];

	(void)state;
	assert_int_equal(cut_at("ce", NULL, words, sizeof words), 3);
	assert_non_null(strstr(words, " 61:62:2:"));
	assert_non_null(strstr(words, " 63:64:2:"));
	assert_non_null(strstr(words, " 65:66:2:"));
	assert_non_null(strstr(said, "rows a to f, crosses borders of the live regions; apply "
				     "cuts it into 3 files with the same 6 cells"));
	assert_int_equal(cut_at("g", NULL, words, sizeof words), 1);
	assert_non_null(strstr(words, " 61:66:6:"));
	assert_null(strstr(said, "crosses"));
	assert_non_null(strstr(said, "rows a to f, crossed a border of the live regions that no "
				     "longer exists; apply writes it again unchanged, with 6 "
				     "cells"));
}

/* Parts get the settings that the load chose for their family, and not those of another family. */
static void test_settings(void **state)
{
	struct manifest_tuning other = {.family = "g", .level = 19},
			       own = {.family = "f", .level = 19};
	char usual[1024], same[1024], better[1024];

	(void)state;
	cut_at("c", NULL, usual, sizeof usual);
	cut_at("c", &other, same, sizeof same);
	assert_string_equal(same, usual);
	cut_at("c", &own, better, sizeof better);
	assert_string_not_equal(better, usual);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_was_cut), cmocka_unit_test(test_only_parts_go),
		cmocka_unit_test(test_all_goes),	cmocka_unit_test(test_folder_of_others),
		cmocka_unit_test(test_parts),		cmocka_unit_test(test_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
