/*
 * logs.c - write jobs with regular expressions for access logs of Apache and nginx (common and
 * combined), for syslog without years (RFC 3164), and for logs of programs, which begin with a time
 * and a level
 */
#include <sys/stat.h>
#include <time.h>

#include "pattern.h"
#include "sniff_parts.h"

#define LOOK_LINES 1000

static const char source_of_lines[] =
	"    columns: [line]\n"
	"    delimiter: '\\x01'   # a line is one column, of which each field takes its part\n"
	"    quote: '\\x02'\n";
static const char dash_null[] = "    'null': '-'\n";

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

#define END_OF_TABLE                                                                               \
	"      - {field: time, as: reversed_millis}   # newest first\n"                            \
	"      - {hash: md5, of: [line], bytes: 8}   # the same line twice is one row\n"           \
	"    timestamp: time\n"                                                                    \
	"    families:\n"                                                                          \
	"      d: {versions: 1, compression: {codec: auto, framing: hadoop}}\n"                    \
	"    cells:\n"

static const char table_of_lines[] = "tables:\n"
				     "  - name: log\n"
				     "    rowkey:\n"
				     "      - {salt: 16, of: [host]}\n"
				     "      - {field: host, terminator: '\\x00'}\n" END_OF_TABLE;

/* --- logs of programs: Python's logging, Log4j, Logback, Spring Boot, Hadoop, ZooKeeper --- */

/* The strict forms find the layout. The job has the short ones, because the type checks the time. */
#define TIME                                                                                       \
	"^(\\d{4}-\\d\\d-\\d\\d[ T]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d{1,9})?(?:Z|[-+]\\d\\d:?\\d\\d)?)"
#define LEVEL	    "(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE)"
#define SHORT_TIME  "^(\\S{10}[ T]\\S+)"
#define SHORT_LEVEL "([A-Z]+)"

/* The groups of the pattern are the columns, where %T is a time and %L a level. The first layout that fits all lines is used. */
static const struct log_layout {
	const char *pattern, *columns[7];
} layouts[] = {
	{"%T - (\\S+) - %L - (.*)", {"time", "name", "level", "message"}},
	{"%T +%L +(\\d+) --- \\[ *([^]]*)\\] (?:\\[ *[^]]*\\] )?(\\S+) *: (.*)",
	 {"time", "level", "pid", "thread", "logger", "message"}},
	{"%T +\\[([^]]*)\\] +%L +(\\S+) +- +(.*)",
	 {"time", "thread", "level", "logger", "message"}},
	{"%T +%L +\\[([^]]*)\\] +(\\S+?):? +(?:- +)?(.*)",
	 {"time", "level", "thread", "logger", "message"}},
	{"%T - %L +\\[(.*?)\\] - (.*)", {"time", "level", "thread", "message"}},
	{"%T +%L +([\\w.$-]+): (.*)", {"time", "level", "logger", "message"}},
	{"%T(?: -)? +\\[?%L\\]?:?(?: -)? +(.*)", {"time", "level", "message"}},
};

static void put_cells(struct buf *out, const char *const *names)
{
	for (; *names; names++)
		buf_printf(out, "      - {family: d, qualifier: %s, value: %s, optional: true}\n",
			   *names, *names);
}

/* Return true if the pattern fits all lines. With `begins`, the others must not fit `begins`. */
static bool all_match(const struct lines *l, const char *text, const char *begins)
{
	struct arena a = {0};
	struct pattern *other = NULL;
	size_t none = 0;
	struct pattern *p;
	struct pattern_scratch s = {0};
	struct error err;
	size_t n = 0;
	bool all = pattern_new(&p, &a, text, &err) == RC_OK &&
		   (!begins || pattern_new(&other, &a, begins, &err) == RC_OK);

	for (size_t i = 0; i < l->n && i < LOOK_LINES && all; i++) {
		struct bytes line = line_text(l, i);

		if (!line.len)
			continue;
		n++;
		all = pattern_find(p, &s, line, NULL) == PATTERN_FOUND;
		if (!all && other && n > 1) {
			none++;
			all = pattern_find(other, &s, line, NULL) == PATTERN_NONE;
		}
	}
	pattern_scratch_release(&s);
	arena_release(&a);
	return all && n > 2 * none;
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

/* Append the pattern with these texts for %T and %L. */
static void put_pattern(const char *p, const char *time, const char *level, struct buf *out)
{
	for (; *p; p++)
		if (*p == '%')
			buf_append_str(out, *++p == 'T' ? time : level);
		else
			buf_put(out, (uint8_t)*p);
}

/*
 * Append the pattern up to the end of group `keep`, which alone captures. If the group takes as
 * little as possible, append the rest too, which decides where the group ends.
 */
static void put_group(const char *pattern, size_t keep, struct buf *out)
{
	size_t group = 0;
	bool closed = false;

	for (const char *p = pattern; *p; p++) {
		bool escaped = p > pattern && p[-1] == '\\';
		bool opens = *p == '(' && p[1] != '?' && !escaped;

		buf_put(out, (uint8_t)*p);
		if (*p == ')' && !escaped && group == keep && !closed) {
			if (p[-1] != '?')
				return;
			closed = true;
		}
		if (opens && ++group != keep)
			buf_append_str(out, "?:");
	}
}

static void put_layout(const struct log_layout *layout, struct buf *out)
{
	static const char table[] =
		"tables:\n"
		"  - name: log\n"
		"    rowkey:\n"
		"      - {salt: 16, of: [line]}   # spreads rows that come in order\n" END_OF_TABLE;

	buf_append_str(out, "fields:\n");
	for (size_t i = 0; layout->columns[i]; i++) {
		struct buf whole = {0}, pattern = {0};

		put_pattern(layout->pattern, SHORT_TIME, SHORT_LEVEL, &whole);
		buf_put(&whole, 0);
		put_group((const char *)whole.ptr, i + 1, &pattern);
		buf_printf(out, "  %s: {from: line, match: ", layout->columns[i]);
		put_yaml(out, buf_bytes(&pattern));
		buf_append_str(out,
			       i ? "}\n"
				 : ", type: time, format: iso8601}   # UTC if the value has no "
				   "offset; for another zone add `zone: Europe/Berlin`\n");
		buf_release(&whole);
		buf_release(&pattern);
	}
	buf_append_str(out, table);
	put_cells(out, layout->columns);
}

/* Return the layout of a log of a program, or NULL. Other lines are those of stack traces. */
static const struct log_layout *find_layout(const struct lines *l)
{
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
		struct buf pattern = {0};

		put_pattern(layouts[i].pattern, TIME, LEVEL, &pattern);
		buf_put(&pattern, 0);
		bool fits = all_match(l, (const char *)pattern.ptr, TIME);
		buf_release(&pattern);
		if (fits)
			return &layouts[i];
	}
	return NULL;
}

bool log_write(const struct lines *l, const char *file, const char *name, struct buf *out)
{
	static const char *const access_cells[] = {"user", "method",  "path",  "status",
						   "size", "referer", "agent", NULL};
	static const char *const common_cells[] = {"user",   "method", "path",
						   "status", "size",   NULL};
	static const char *const syslog_cells[] = {"program", "pid", "text", NULL};
	bool access = all_match(l,
				"^\\S+ \\S+ \\S+ \\[\\d\\d/[A-Z][a-z]{2}/\\d{4}:[0-9:]{8} "
				"[-+]\\d{4}\\] \"(?:[^\"\\\\]|\\\\.)*\" \\d{3} (?:\\d+|-)",
				NULL);
	bool combined = access && all_match(l,
					    "\" \\d{3} \\S+ \"(?:[^\"\\\\]|\\\\.)*\" "
					    "\"(?:[^\"\\\\]|\\\\.)*\"$",
					    NULL);
	bool syslog = !access && all_match(l,
					   "^[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d \\S+ "
					   "[^][: ]+(?:\\[\\d+\\])?:? ",
					   NULL);
	const struct log_layout *layout = access || syslog ? NULL : find_layout(l);

	if (!access && !syslog && !layout)
		return false;
	buf_printf(out, "# Proposed by saltmill init: %s.\nsource:\n  csv:\n    files: [",
		   access   ? "an access log"
		   : layout ? "a log of a program"
			    : "a syslog");
	put_yaml(out, bytes_str(name));
	buf_printf(out, "]\n%s%s", l->encoding ? "    encoding: " : "",
		   l->encoding ? l->encoding : "");
	buf_printf(out, "%s%s%s", l->encoding ? "\n" : "", source_of_lines,
		   layout ? "" : dash_null);
	if (layout) {
		put_layout(layout, out);
	} else if (access) {
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
