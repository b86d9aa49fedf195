/*
 * logs.c - write jobs with regular expressions for access logs of Apache and nginx (common and
 * combined), and for syslog without years (RFC 3164)
 */
#include <sys/stat.h>
#include <time.h>

#include "pattern.h"
#include "sniff_parts.h"

#define LOOK_LINES 1000

static const char source_of_lines[] =
	"    columns: [line]\n"
	"    delimiter: '\\x01'   # a line is one column, of which each field takes its part\n"
	"    quote: '\\x02'\n"
	"    'null': '-'\n";

static const char access_fields[] =
	"fields:\n"
	"  host: {from: line, match: '^\\S+'}\n"
	"  user: {from: line, match: '^\\S+ \\S+ (\\S+)'}\n"
	"  time: {from: line, match: '\\[([^]]+)\\]', type: time, format: '%d/%b/%Y:%H:%M:%S %z'}\n"
	"  method: {from: line, match: '\\] \"([A-Z]*)'}\n"
	"  path: {from: line, match: '\\] \"[A-Z-]* ?([^ \"]*)'}\n"
	"  status: {from: line, match: '\" (\\d{3}) ', type: u32}\n"
	"  size: {from: line, match: '\" \\d{3} (\\S+)', type: u64}\n";

static const char combined_fields[] =
	"  referer: {from: line, match: '\" \\d{3} \\S+ \"((?:[^\"\\\\]|\\\\.)*)\"'}\n"
	"  agent: {from: line, match: '\"((?:[^\"\\\\]|\\\\.)*)\"$'}\n";

static const char syslog_fields[] =
	"  host: {from: line, match: '^.{16}(\\S+)'}\n"
	"  program: {from: line, match: '^.{16}\\S+ ([^][: ]+)'}\n"
	"  pid: {from: line, match: '^.{16}\\S+ [^][: ]+(?:\\[(\\d+))?', type: u32}\n"
	"  text: {from: line, match: '^.{16}\\S+ \\S+ (.*)'}\n";

static const char table_of_lines[] =
	"tables:\n"
	"  - name: log\n"
	"    rowkey:\n"
	"      - {salt: 16, of: [host]}\n"
	"      - {field: host, terminator: '\\x00'}\n"
	"      - {field: time, as: reversed_millis}   # newest first\n"
	"      - {hash: md5, of: [line], bytes: 8}   # the same line twice is one row\n"
	"    timestamp: time\n"
	"    families:\n"
	"      d: {versions: 1, compression: {codec: auto, framing: hadoop}}\n"
	"    cells:\n";

static void put_cells(struct buf *out, const char *const *names)
{
	for (; *names; names++)
		buf_printf(out, "      - {family: d, qualifier: %s, value: %s, optional: true}\n",
			   *names, *names);
}

static bool all_match(const struct lines *l, const char *text)
{
	struct arena a = {0};
	struct pattern *p;
	struct pattern_scratch s = {0};
	struct error err;
	size_t n = 0;
	bool all = pattern_new(&p, &a, text, &err) == RC_OK;

	for (size_t i = 0; i < l->n && i < LOOK_LINES && all; i++) {
		struct bytes line = line_text(l, i);

		if (!line.len)
			continue;
		n++;
		all = pattern_find(p, &s, line, NULL) == PATTERN_FOUND;
	}
	pattern_scratch_release(&s);
	arena_release(&a);
	return all && n > 0;
}

/* Write the year, which comes from the file's name or from the time of the file's last change. */
static void put_year(const char *file, struct buf *out)
{
	int64_t day;
	struct stat st;
	struct tm tm;

	if (field_day_of(file, &day)) {
		buf_append_str(out, "file}   # nearest to the date in the file's name\n");
		return;
	}
	if (stat(file, &st) || !gmtime_r(&st.st_mtime, &tm))
		tm = (struct tm){.tm_year = 70, .tm_mday = 1};
	buf_printf(out, "{near: %04d-%02d-%02d}}   # the day of the file's last change\n",
		   tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

bool log_write(const struct lines *l, const char *file, const char *name, struct buf *out)
{
	static const char *const access_cells[] = {"user", "method",  "path",  "status",
						   "size", "referer", "agent", NULL};
	static const char *const common_cells[] = {"user",   "method", "path",
						   "status", "size",   NULL};
	static const char *const syslog_cells[] = {"program", "pid", "text", NULL};
	bool access = all_match(l, "^\\S+ \\S+ \\S+ \\[\\d\\d/[A-Z][a-z]{2}/\\d{4}:[0-9:]{8} "
				   "[-+]\\d{4}\\] \"(?:[^\"\\\\]|\\\\.)*\" \\d{3} (?:\\d+|-)");
	bool combined = access && all_match(l, "\" \\d{3} \\S+ \"(?:[^\"\\\\]|\\\\.)*\" "
					       "\"(?:[^\"\\\\]|\\\\.)*\"$");
	bool syslog = !access && all_match(l, "^[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d \\S+ "
					      "[^][: ]+(?:\\[\\d+\\])?:? ");

	if (!access && !syslog)
		return false;
	buf_printf(out, "# Proposed by saltmill init: %s.\nsource:\n  csv:\n    files: [",
		   access ? "an access log" : "a syslog");
	put_yaml(out, bytes_str(name));
	buf_printf(out, "]\n%s%s", l->encoding ? "    encoding: " : "",
		   l->encoding ? l->encoding : "");
	buf_printf(out, "%s%s", l->encoding ? "\n" : "", source_of_lines);
	if (access) {
		buf_printf(out, "%s%s%s", access_fields, combined ? combined_fields : "",
			   table_of_lines);
		put_cells(out, combined ? access_cells : common_cells);
	} else {
		buf_append_str(out, "fields:\n  time: {from: line, substring: [1, 15], type: time, "
				    "format: '%b %e %H:%M:%S', year: ");
		put_year(file, out);
		buf_printf(out, "%s%s", syslog_fields, table_of_lines);
		put_cells(out, syslog_cells);
	}
	buf_append_str(out, "    regions: {split: none}\n");
	return true;
}
