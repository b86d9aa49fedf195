/* cmd_version.c - implements `saltmill version`, which prints the version, build, formats and
 * libraries */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <libdeflate.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include "arguments.h"
#include "form.h"
#include "load.h"
#include "io.h"
#include "late.h"
#include "mem.h"
#include "planning.h"
#include "schemas.h"

#define SELF "/proc/self/exe"

struct library_view {
	const char *name, *version;
};
struct formats_view {
	int32_t pieces, sketch;
};
struct version_view {
	const char *program, *version;
	uint8_t build[16];
	bool kafka, metrics, hdfs;
	const char *machine, *compiler;
	struct formats_view formats;
	const struct library_view *libraries;
	size_t nlibraries;
};

static const struct form_member library_members[] = {
	{"name", FORM_TEXT, IN(library_view, name), "name of the library"},
	{"version", FORM_TEXT, IN(library_view, version), "its version"},
};
static const struct form library_form = FORM(library_view, library_members);

static const struct form_member formats_members[] = {
	{"pieces", FORM_INT32, IN(formats_view, pieces),
	 "format version of the pieces that map "
	 "writes"},
	{"sketch", FORM_INT32, IN(formats_view, sketch),
	 "format version of the files that `plan "
	 "--save` writes"},
};
static const struct form formats_form = FORM(formats_view, formats_members);

static const struct form_member version_members[] = {
	{"program", FORM_TEXT, IN(version_view, program), "saltmill"},
	{"version", FORM_TEXT, IN(version_view, version), "version of the program"},
	{"build", FORM_DIGEST, IN(version_view, build), "XXH3-128 of the program file"},
	{"kafka", FORM_FLAG, IN(version_view, kafka), "true if the program can read Kafka topics"},
	{"metrics", FORM_FLAG, IN(version_view, metrics), "true if the program can serve /metrics"},
	{"hdfs", FORM_FLAG, IN(version_view, hdfs), "true if the program can write to WebHDFS"},
	{"machine", FORM_TEXT, IN(version_view, machine), "architecture of the machine"},
	{"compiler", FORM_TEXT, IN(version_view, compiler), "compiler that built the program"},
	{"formats", FORM_PART, IN(version_view, formats),
	 "format versions of the files that one "
	 "command writes for another",
	 .items = &formats_form},
	{"libraries", FORM_MAP, IN(version_view, libraries),
	 "versions of the libraries that affect the output bytes",
	 ITEMS(version_view, library_form, nlibraries)},
};
const struct form version_form =
	NAMED_FORM(version_view, version_members, "version", "version --json");

static void print_text(struct buf *text, const struct version_view *v)
{
	for (const struct form_member *m = version_members; m->kind != FORM_PART; m++) {
		size_t start = text->len;

		if (m->kind != FORM_TEXT && m->kind != FORM_DIGEST)
			continue;
		buf_printf(text, "%s: ", m->key);
		if (!form_plain(text, m, v))
			text->len = start;
		buf_put(text, '\n');
	}
	for (size_t i = 0; i < v->nlibraries; i++)
		buf_printf(text, "%s: %s\n", v->libraries[i].name, v->libraries[i].version);
}

static int run(struct arguments *a)
{
	struct buf text = {0};
	struct error err;
	struct utsname machine;
	uint8_t digest[16];
	uint64_t size;

	if (io_digest_file(SELF, digest, &size, &err))
		return command_fail("version", &err);
	const struct library_view libraries[] = {{"libdeflate", LIBDEFLATE_VERSION_STRING},
						 {"lz4", LZ4_versionString()},
						 {"zlib", zlibVersion()},
						 {"zstd", ZSTD_versionString()}};
	struct version_view v = {.program = "saltmill",
				 .version = SALTMILL_VERSION,
				 .kafka = late_has(LATE_RDKAFKA),
				 .metrics = late_has(LATE_MICROHTTPD),
				 .hdfs = late_has(LATE_CURL),
				 .machine = uname(&machine) == 0 ? machine.machine : "",
				 .compiler = __VERSION__,
				 .formats = {PIECES_FORMAT, SAMPLES_FORMAT},
				 .libraries = libraries,
				 .nlibraries = sizeof libraries / sizeof *libraries};

	memcpy(v.build, digest, sizeof v.build);
	if (a->run.json)
		form_put(&text, &version_form, &v, FORM_LINE);
	else
		print_text(&text, &v);
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
