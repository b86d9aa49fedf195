/* cmd_version.c - `saltmill version`: identify this program, to compare two of them */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <jansson.h>
#include <libdeflate.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include "arguments.h"
#include "load.h"
#include "io.h"
#include "late.h"
#include "mem.h"
#include "planning.h"

#define SELF "/proc/self/exe"

static json_t *libraries(void)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "libdeflate", LIBDEFLATE_VERSION_STRING, "lz4",
			 LZ4_versionString(), "zlib", zlibVersion(), "zstd", ZSTD_versionString());
}

static json_t *describe(const uint8_t digest[16])
{
	struct buf hex = {0};
	struct utsname machine;

	bytes_hex(&hex, bytes_of(digest, 16));
	json_t *out = json_pack("{s:s, s:s, s:s%, s:b, s:b, s:b, s:s, s:s, s:{s:i, s:i}, s:o}",
				"program", "saltmill", "version", SALTMILL_VERSION, "build",
				hex.ptr, hex.len, "kafka", late_has(LATE_RDKAFKA), "metrics",
				late_has(LATE_MICROHTTPD), "hdfs", late_has(LATE_CURL), "machine",
				uname(&machine) == 0 ? machine.machine : "", "compiler",
				__VERSION__, "formats", "pieces", PIECES_FORMAT, "sketch",
				SAMPLES_FORMAT, "libraries", libraries());
	buf_release(&hex);
	return out;
}

static void print_text(struct buf *text, const json_t *about)
{
	const char *key, *name;
	const json_t *v, *library;

	json_object_foreach((json_t *)(uintptr_t)about, key, v)
	{
		if (json_is_string(v))
			buf_printf(text, "%s: %s\n", key, json_string_value(v));
	}
	json_object_foreach(json_object_get(about, "libraries"), name, library)
		buf_printf(text, "%s: %s\n", name, json_string_value(library));
}

static int run(struct arguments *a)
{
	struct buf text = {0};
	struct error err;
	uint8_t digest[16];
	uint64_t size;

	if (io_digest_file(SELF, digest, &size, &err))
		return command_fail("version", &err);
	json_t *about = describe(digest);
	char *line = about ? json_dumps(about, JSON_COMPACT) : NULL;
	if (a->run.json && line)
		buf_printf(&text, "%s\n", line);
	else if (line)
		print_text(&text, about);
	mem_free(line);
	json_decref(about);
	int status = command_print("version", &text);
	buf_release(&text);
	return status;
}

const struct command version_command = {
	.name = "version",
	.usage = "[--json]",
	.summary = "print the version, the build, the formats and the libraries of this program",
	.run = run,
	.statuses = "0 done; 2 wrong usage",
	.examples = {"saltmill version", "saltmill version --json"}};
