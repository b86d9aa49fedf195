/*
 * Tests the journal of a hand-over with a cut or damage at any place. Only one process opens it,
 * for one load.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "clock.h"
#include "io.h"
#include "mem.h"
#include "pipeline/deliver/journal.h"

#define FIRST "saltmill-apply 1 00 cluster"

/* --- a disk that has only what was written and synced since this process opened the file --- */

static struct buf written, on_disk;
static bool watched, sync_fails;
static unsigned signals; /* a signal interrupts each write this often, before or after some bytes */

ssize_t write(int fd, const void *data, size_t len)
{
	static unsigned calls;

	if (signals && ++calls % (signals + 1)) {
		if (calls % 2) {
			errno = EINTR;
			return -1;
		}
		len = len > 3 ? 3 : len;
	}
	ssize_t n = syscall(SYS_write, fd, data, len);

	if (watched && n > 0)
		buf_append(&written, data, (size_t)n);
	return n;
}

static int sync_with(long call, int fd)
{
	if (sync_fails) {
		errno = EIO;
		return -1;
	}
	on_disk.len = 0;
	buf_append(&on_disk, written.ptr, written.len);
	return (int)syscall(call, fd);
}

int fdatasync(int fd)
{
	return sync_with(SYS_fdatasync, fd);
}

int fsync(int fd)
{
	return sync_with(SYS_fsync, fd);
}

static int collect(void *ctx, char *line, struct error *err)
{
	(void)err;
	buf_printf(ctx, "%s;", line);
	return RC_OK;
}

static void test_hash(void **state)
{
	struct buf b = {0};

	(void)state;
	journal_line(&b, "hello");
	/* MurmurHash3_x86_32("hello", 0) = 0x248bfa47, as Austin Appleby's reference program prints
	 */
	assert_int_equal(b.len, strlen("hello #248bfa47\n"));
	assert_memory_equal(b.ptr, "hello #248bfa47\n", b.len);
	buf_release(&b);
}

static void test_every_cut(void **state)
{
	struct buf text = {0};
	size_t ends[3];

	(void)state;
	journal_line(&text, FIRST);
	ends[0] = text.len;
	journal_line(&text, "0 put 1 17");
	ends[1] = text.len;
	journal_line(&text, "0 created");
	ends[2] = text.len;
	for (size_t cut = 0; cut <= text.len; cut++) {
		struct buf seen = {0};
		struct error err = {0};
		size_t good, whole = cut >= ends[2] ? 3 : cut >= ends[1] ? 2 : cut >= ends[0];
		const char *expected[] = {"", "", "0 put 1 17;", "0 put 1 17;0 created;"};

		assert_int_equal(journal_read(bytes_of(text.ptr, cut), "j", FIRST, collect, &seen,
					      &good, &err),
				 0);
		assert_int_equal(good, whole ? ends[whole - 1] : 0);
		assert_int_equal(seen.len, strlen(expected[whole]));
		if (seen.len)
			assert_memory_equal(seen.ptr, expected[whole], seen.len);
		buf_release(&seen);
	}
	buf_release(&text);
}

static void test_every_damage(void **state)
{
	struct buf text = {0};

	(void)state;
	journal_line(&text, FIRST);
	journal_line(&text, "0 put 1 17");
	journal_line(&text, "0 created");
	for (size_t i = 0; i + 1 < text.len; i++) {
		struct buf seen = {0};
		struct error err = {0};
		size_t good;
		uint8_t was = text.ptr[i];

		text.ptr[i] ^= 4;
		int rc = journal_read(buf_bytes(&text), "j", FIRST, collect, &seen, &good, &err);
		if (rc != RC_DATA)
			fail_msg("byte %zu: %d", i, rc);
		text.ptr[i] = was;
		buf_release(&seen);
	}
	buf_release(&text);
}

static int refuse(void *ctx, char *line, struct error *err)
{
	(void)ctx;
	return error_set(err, RC_DATA, "`%s` is no event", line);
}

static void test_sentence(void **state)
{
	struct buf text = {0};
	struct error err = {0};
	size_t good;

	(void)state;
	journal_line(&text, FIRST);
	journal_line(&text, "0 x");
	assert_int_equal(journal_read(buf_bytes(&text), "j", FIRST, refuse, NULL, &good, &err),
			 RC_DATA);
	assert_string_equal(err.msg, "j, line 2: `0 x` is no event");
	buf_release(&text);
}

/*
 * apply does not change a foreign file without a line feed. apply overwrites the incomplete first
 * line of a journal.
 */
static void test_files_of_others(void **state)
{
	static const struct {
		const char *text;
		int rc;
	} cases[] = {{"precious", RC_CONFIG},
		     {"saltmill-apply 2", RC_CONFIG},
		     {FIRST " #00000000 and more", RC_CONFIG},
		     {"", RC_OK},
		     {"saltmill-ap", RC_OK},
		     {FIRST " #", RC_OK}};
	char dir[] = "/tmp/saltmill-journal-XXXXXX";
	struct buf seen = {0};
	struct error err = {0};
	(void)state;
	assert_non_null(mkdtemp(dir));
	char *path = mem_format("%s/j", dir);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct journal j;
		struct buf text = {0};

		FILE *f = fopen(path, "w");
		fputs(cases[i].text, f);
		fclose(f);
		if (journal_open(&j, path, FIRST, collect, &seen, &err) != cases[i].rc)
			fail_msg("`%s`: %s", cases[i].text, err.msg);
		journal_close(&j);
		assert_int_equal(io_read_file(path, &text, &err), 0);
		if (cases[i].rc) {
			char *said = mem_format("%s: found another file, expected a journal of "
						"apply; choose another file "
						"with --journal",
						path);

			assert_string_equal(err.msg, said);
			mem_free(said);
			assert_true(bytes_eq(buf_bytes(&text), bytes_str(cases[i].text)));
		} else {
			struct buf line = {0};

			journal_line(&line, FIRST);
			assert_true(bytes_eq(buf_bytes(&text), buf_bytes(&line)));
			buf_release(&line);
		}
		buf_release(&text);
	}
	assert_int_equal(seen.len, 0);
	assert_int_equal(io_remove_tree(dir, &err), 0);
	mem_free(path);
}

static void test_files(void **state)
{
	char dir[] = "/tmp/saltmill-journal-XXXXXX";
	struct journal one, two;
	struct buf seen = {0}, text = {0};
	struct error err = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	char *path = mem_format("%s/j", dir);
	assert_int_equal(journal_open(&one, path, FIRST, collect, &seen, &err), 0);
	assert_int_equal(journal_note(&one, "0 created", &err), 0);
	/* a line is on disk before the end of the journal, and no other process may write */
	assert_int_equal(io_read_file(path, &text, &err), 0);
	assert_non_null(memmem(text.ptr, text.len, "0 created #", 11));
	assert_int_equal(journal_open(&two, path, FIRST, collect, &seen, &err), RC_BUSY);
	journal_close(&one);
	/* apply overwrites an incomplete last line */
	FILE *f = fopen(path, "a");
	fputs("0 put 1", f);
	fclose(f);
	assert_int_equal(journal_open(&one, path, FIRST, collect, &seen, &err), 0);
	assert_int_equal(journal_note(&one, "finished", &err), 0);
	journal_close(&one);
	seen.len = 0;
	assert_int_equal(journal_open(&one, path, FIRST, collect, &seen, &err), 0);
	assert_int_equal(seen.len, strlen("0 created;finished;"));
	assert_memory_equal(seen.ptr, "0 created;finished;", seen.len);
	journal_close(&one);
	assert_int_equal(journal_open(&one, path, "saltmill-apply 1 00 other", collect, &seen,
				      &err),
			 RC_CONFIG);
	assert_non_null(strstr(err.msg, "another load or cluster"));
	assert_int_equal(io_remove_tree(dir, &err), 0);
	mem_free(path);
	buf_release(&seen);
	buf_release(&text);
}

/*
 * A process dies before it syncs its lines, or its sync fails. The kernel shows the lines to the
 * next process, but the disk does not have them. So the next process brings them to the disk before
 * it appends a line.
 */
static void test_unsynced_lines(void **state)
{
	static const char *const tails[] = {"", "0 put 1", "0 done\0\0\n"};
	char dir[] = "/tmp/saltmill-journal-XXXXXX";
	struct journal j;
	struct buf seen = {0}, text = {0}, lines = {0};
	struct error err = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	char *path = mem_format("%s/j", dir), *old = mem_format("%s/old", dir);
	journal_line(&lines, FIRST);
	journal_line(&lines, "0 created");
	for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
		FILE *f = fopen(path, "w");
		fwrite(lines.ptr, lines.len, 1, f);
		fwrite(tails[i], i == 2 ? 9 : strlen(tails[i]), 1, f);
		fclose(f);
		written.len = on_disk.len = 0;
		watched = true;
		assert_int_equal(link(path, old), 0);
		assert_int_equal(journal_open(&j, path, FIRST, collect, &seen, &err), 0);
		assert_true(bytes_eq(buf_bytes(&on_disk), buf_bytes(&lines)));
		/* the lines are in a new file, so a power failure keeps them in the old one */
		struct stat st;
		assert_int_equal(stat(old, &st), 0);
		assert_int_equal(st.st_nlink, 1);
		assert_int_equal(unlink(old), 0);
		/* after a failed sync, the disk may have any part of a line, so no line follows */
		sync_fails = true;
		assert_int_equal(journal_note(&j, "0 sent 1", &err), RC_IO);
		sync_fails = false;
		assert_int_equal(journal_note(&j, "0 done 1", &err), RC_IO);
		watched = false;
		journal_close(&j);
		written.len = on_disk.len = text.len = 0;
		watched = true;
		assert_int_equal(journal_open(&j, path, FIRST, collect, &seen, &err), 0);
		assert_int_equal(journal_note(&j, "0 sent 2", &err), 0);
		watched = false;
		journal_close(&j);
		assert_int_equal(io_read_file(path, &text, &err), 0);
		assert_true(bytes_eq(buf_bytes(&on_disk), buf_bytes(&text)));
		assert_null(memmem(text.ptr, text.len, "0 done 1", 8));
	}
	sync_fails = true;
	assert_int_equal(journal_open(&j, path, FIRST, collect, &seen, &err), RC_IO);
	sync_fails = false;
	assert_int_equal(io_remove_tree(dir, &err), 0);
	mem_free(old);
	mem_free(path);
	buf_release(&seen);
	buf_release(&text);
	buf_release(&lines);
	buf_release(&written);
	buf_release(&on_disk);
}

/* Signals interrupt the writes, and the journal has all bytes all the same. */
static void test_signals(void **state)
{
	char dir[] = "/tmp/saltmill-journal-XXXXXX";
	struct journal j;
	struct buf seen = {0}, text = {0}, lines = {0};
	struct error err = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	char *path = mem_format("%s/j", dir);
	journal_line(&lines, FIRST);
	journal_line(&lines, "0 created");
	journal_line(&lines, "0 sent 1");
	for (signals = 1; signals < 4; signals++) {
		assert_int_equal(journal_open(&j, path, FIRST, collect, &seen, &err), 0);
		assert_int_equal(journal_note(&j, "0 created", &err), 0);
		assert_int_equal(journal_note(&j, "0 sent 1", &err), 0);
		journal_close(&j);
		text.len = 0;
		assert_int_equal(io_read_file(path, &text, &err), 0);
		assert_true(bytes_eq(buf_bytes(&text), buf_bytes(&lines)));
		assert_int_equal(unlink(path), 0);
	}
	signals = 0;
	assert_int_equal(io_remove_tree(dir, &err), 0);
	mem_free(path);
	buf_release(&seen);
	buf_release(&text);
	buf_release(&lines);
}

/* Makes a load as the journal sees it, which is a folder with a manifest. File times have a
 * resolution of some ms, so the test makes no two loads in the same tick. */
static void make_load(const char *dir)
{
	struct error err = {0};
	char *manifest = mem_format("%s/manifest.json", dir);

	clock_sleep_ms(20);
	assert_int_equal(io_make_dir(dir, &err), 0);
	assert_int_equal(io_write_file(manifest, bytes_str("{}"), &err), 0);
	mem_free(manifest);
}

static void expect_found(const char *dir, const char *path, bool other, const char *alike)
{
	struct error err = {0};
	struct journal_found f;
	char load[JOURNAL_LOAD], *usual = mem_format("%s.j", dir);

	assert_int_equal(journal_load(load, dir, &err), 0);
	assert_int_equal(journal_find(usual, ".j", FIRST, load, &f, &err), 0);
	assert_string_equal(f.path, path);
	assert_int_equal(f.other, other);
	if (alike)
		assert_string_equal(f.alike, alike);
	else
		assert_null(f.alike);
	mem_free(usual);
	mem_free(f.path);
	mem_free(f.alike);
}

static void begin(const char *path, const char *first, const char *load)
{
	struct journal j;
	struct buf seen = {0};
	struct error err = {0};

	assert_int_equal(journal_open(&j, path, first, collect, &seen, &err), 0);
	if (load)
		assert_int_equal(journal_note(&j, load, &err), 0);
	assert_int_equal(journal_note(&j, "finished", &err), 0);
	journal_close(&j);
	buf_release(&seen);
}

/*
 * A renamed load finds its journal under the load's old name. A new load of the same input does not
 * use that journal, even if the old folder is gone, because its files would be missing.
 */
static void test_find(void **state)
{
	struct error err = {0};
	char *dir, line[JOURNAL_LOAD];

	(void)state;
	assert_int_equal(io_make_temp_dir(&dir, "/tmp", "journal", &err), 0);
	char *old = mem_format("%s/old", dir), *new = mem_format("%s/new", dir);
	char *old_j = mem_format("%s/old.j", dir), *new_j = mem_format("%s/new.j", dir);
	char *foreign = mem_format("%s/a.j", dir), *odd = mem_format("%s/old.j.txt", dir);
	char *bare = mem_format("%s/bare.j", dir);
	make_load(old);
	assert_int_equal(journal_load(line, old, &err), 0);
	expect_found(old, old_j, false, NULL);
	begin(foreign, FIRST "x", line);
	begin(old_j, FIRST, line);
	assert_int_equal(io_write_file(odd, bytes_str("no journal"), &err), 0);
	expect_found(old, old_j, false, NULL);
	/* another load in the same parent folder */
	make_load(new);
	expect_found(new, new_j, false, NULL);
	/* another load in place of the removed one */
	assert_int_equal(io_remove_tree(old, &err), 0);
	expect_found(new, new_j, false, old_j);
	assert_int_equal(io_remove_tree(new, &err), 0);
	for (unsigned i = 0; i < 8; i++) { /* the file system reuses inodes */
		make_load(new);
		expect_found(new, new_j, false, old_j);
		assert_int_equal(io_remove_tree(new, &err), 0);
	}
	/* a renamed load */
	assert_int_equal(unlink(old_j), 0);
	make_load(old);
	assert_int_equal(journal_load(line, old, &err), 0);
	begin(old_j, FIRST, line);
	assert_int_equal(rename(old, new), 0);
	expect_found(new, old_j, true, NULL);
	/* apply uses a journal with the load's own name, with any content */
	assert_int_equal(io_write_file(new_j, bytes_str("x"), &err), 0);
	expect_found(new, new_j, false, NULL);
	assert_int_equal(unlink(new_j), 0);
	/* a journal that does not name its load */
	assert_int_equal(unlink(old_j), 0);
	begin(bare, FIRST, NULL);
	expect_found(new, new_j, false, bare);
	assert_int_equal(io_remove_tree(dir, &err), 0);
	char *const names[] = {old, new, old_j, new_j, foreign, odd, bare, dir};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		mem_free(names[i]);
}

/* A copy is another load, even if its files are hard links. chmod does not change a load. */
static void test_load_line(void **state)
{
	struct error err = {0};
	char *dir, one[JOURNAL_LOAD], two[JOURNAL_LOAD];

	(void)state;
	assert_int_equal(io_make_temp_dir(&dir, "/tmp", "journal", &err), 0);
	char *a = mem_format("%s/a", dir), *b = mem_format("%s/b", dir);
	char *of_a = mem_format("%s/manifest.json", a), *of_b = mem_format("%s/manifest.json", b);
	make_load(a);
	assert_int_equal(journal_load(one, a, &err), 0);
	assert_int_equal(chmod(a, 0700), 0);
	assert_int_equal(journal_load(two, a, &err), 0);
	assert_string_equal(one, two);
	assert_true(journal_same_time(one, two));
	make_load(b);
	assert_int_equal(journal_load(two, b, &err), 0);
	assert_string_not_equal(one, two);
	assert_false(journal_same_time(one, two));
	assert_int_equal(unlink(of_b), 0);
	assert_int_equal(link(of_a, of_b), 0);
	assert_int_equal(journal_load(one, a, &err), 0);
	assert_int_equal(journal_load(two, b, &err), 0);
	assert_string_not_equal(one, two);
	assert_false(journal_same_time("load 7", "load"));
	assert_int_equal(io_remove_tree(dir, &err), 0);
	char *const names[] = {a, b, of_a, of_b, dir};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		mem_free(names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash),	     cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_every_damage), cmocka_unit_test(test_sentence),
		cmocka_unit_test(test_files),	     cmocka_unit_test(test_unsynced_lines),
		cmocka_unit_test(test_signals),	     cmocka_unit_test(test_files_of_others),
		cmocka_unit_test(test_find),	     cmocka_unit_test(test_load_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
