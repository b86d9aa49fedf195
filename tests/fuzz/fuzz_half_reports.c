/*
 * fuzz_half_reports.c - checks that the report of a map or reduce gives an error, or survives
 * reading and writing
 */
#include "memory_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "half_reports.h"
#include "io.h"

static char folder[] = "/tmp/saltmill-fuzz-XXXXXX";

static void remove_folder(void)
{
	struct error ignored;

	io_remove_tree(folder, &ignored);
}

static void put_report(struct bytes text)
{
	char path[64];

	snprintf(path, sizeof path, "%s/report.json", folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text.ptr, text.len) != (ssize_t)text.len || close(fd) != 0)
		abort();
}

/* Writes the report, reads its text into `out`, and removes the file. */
static void take_report(struct buf *out)
{
	struct error err;
	char path[64];

	snprintf(path, sizeof path, "%s/report.json", folder);
	if (io_read_file(path, out, &err) || unlink(path) < 0)
		abort();
}

static int read_and_write(struct bytes text, bool map, struct buf *out, struct error *err)
{
	struct arena a = {0};
	struct map_report m;
	struct reduce_report r;
	char path[64];

	snprintf(path, sizeof path, "%s/report.json", folder);
	put_report(text);
	int rc = map ? map_report_read(&m, folder, &a, err)
		     : reduce_report_read(&r, folder, &a, err);
	if (unlink(path) < 0)
		abort();
	if (rc == RC_OK)
		rc = map ? map_report_write(&m, folder, err) : reduce_report_write(&r, folder, err);
	if (rc == RC_OK)
		take_report(out);
	arena_release(&a);
	return rc;
}

static void check(struct bytes text, bool map)
{
	struct buf once = {0}, twice = {0};
	struct error err;
	int rc = read_and_write(text, map, &once, &err);

	expect_sentence(rc, &err);
	if (rc == RC_OK && read_and_write(buf_bytes(&once), map, &twice, &err))
		abort();
	expect_same(buf_bytes(&once), buf_bytes(&twice));
	buf_release(&once);
	buf_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;

	if (!made && (!mkdtemp(folder) || atexit(remove_folder)))
		abort();
	made = true;
	check(bytes_of(data, size), true);
	check(bytes_of(data, size), false);
	return 0;
}
