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

static const char rest_field[] =
	"  rest: {from: line, match: '\" \\d{3} \\S+ (.*)'}   # a layout of its own\n";

#define SYSLOG_TIME "^[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d "
#define SYSLOG_HOST "[^<\\s]\\S* [^][: ]+(?:\\[\\d+\\])?:? "
#define FACILITY    "(?:<[^> ]+> )?" /* of `syslogd -v`, as in <auth.info> or <4.3> */

/* Write the fields of syslog, and the facility if some lines have one. */
static void put_syslog(bool facility, struct buf *out)
{
	const char *head = facility ? "^.{16}" FACILITY : "^.{16}";

	if (facility)
		buf_append_str(out, "  facility: {from: line, match: '^.{16}(?:<([^> ]+)>)?'}\n");
	buf_printf(out, "  host: {from: line, match: '%s(\\S+)'}\n", head);
	buf_printf(out, "  program: {from: line, match: '%s\\S+ ([^][: ]+)'}\n", head);
	buf_printf(out, "  pid: {from: line, match: '%s\\S+ [^][: ]+(?:\\[(\\d+))?', type: u32}\n",
		   head);
	buf_printf(out, "  text: {from: line, match: '%s\\S+ \\S+ (.*)'}\n", head);
}

static void put_place(bool equal, struct buf *out)
{
	if (equal)
		buf_append_str(out,
			       "  'key of $line': {from: [$file, ':', $line]}   # only for the "
			       "row key: some lines are equal\n");
}

/* Write the end of the row key, and the table up to its cells. */
static void put_end(bool equal, struct buf *out)
{
	buf_printf(out,
		   "      - {field: time, as: reversed_millis}   # newest first\n"
		   "      - {hash: md5, of: [line%s\n"
		   "    timestamp: time\n"
		   "    families:\n"
		   "      d: {versions: 1, compression: {codec: auto, framing: hadoop}}\n"
		   "    cells:\n",
		   equal ? ", 'key of $line'], bytes: 8}   # without the line's number, equal "
			   "lines are one row"
			 : "], bytes: 8}   # the same line twice is one row");
}

static void put_table(bool equal, struct buf *out)
{
	put_place(equal, out);
	buf_append_str(out, "tables:\n"
			    "  - name: log\n"
			    "    rowkey:\n"
			    "      - {salt: 16, of: [host]}\n"
			    "      - {field: host, terminator: '\\x00'}\n");
	put_end(equal, out);
}

/* --- logs of programs: Python's logging, Log4j, Logback, Spring Boot, Hadoop, ZooKeeper --- */

/* The strict forms find the layout. The job has the short ones, because the type checks the time. */
static const char log_time[] =
	"\\d{4}-\\d\\d-\\d\\d[ T]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d{1,9})?(?:Z|[-+]\\d\\d:?\\d\\d)?";
static const char log_level[] = "TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE";
#define SHORT_TIME  "\\S{10}[ T]\\S+"
#define SHORT_LEVEL "[A-Z]+"

/*
 * A line is these parts, one after another: the pattern before a column, the pattern of its value,
 * and its name. A value that takes as little as possible (`lazy`) needs the rest to find its end.
 * The first layout that fits all lines is used.
 */
static const struct log_part {
	const char *before, *value, *column;
	bool lazy;
} layouts[][7] = {
	{{"^", log_time, "time", false},
	 {" - ", "\\S+", "name", false},
	 {" - ", log_level, "level", false},
	 {" - ", ".*", "message", false}},
	{{"^", log_time, "time", false},
	 {" +", log_level, "level", false},
	 {" +", "\\d+", "pid", false},
	 {" --- \\[ *", "[^]]*", "thread", false},
	 {"\\] (?:\\[ *[^]]*\\] )?", "\\S+", "logger", false},
	 {" *: ", ".*", "message", false}},
	{{"^", log_time, "time", false},
	 {" +\\[", "[^]]*", "thread", false},
	 {"\\] +", log_level, "level", false},
	 {" +", "\\S+", "logger", false},
	 {" +- +", ".*", "message", false}},
	{{"^", log_time, "time", false},
	 {" +", log_level, "level", false},
	 {" +\\[", "[^]]*", "thread", false},
	 {"\\] +", "\\S+?", "logger", true},
	 {":? +(?:- +)?", ".*", "message", false}},
	{{"^", log_time, "time", false},
	 {" - ", log_level, "level", false},
	 {" +\\[", ".*?", "thread", true},
	 {"\\] - ", ".*", "message", false}},
	{{"^", log_time, "time", false},
	 {" +", log_level, "level", false},
	 {" +", "[\\w.$-]+", "logger", false},
	 {": ", ".*", "message", false}},
	{{"^", log_time, "time", false},
	 {"(?: -)? +\\[?", log_level, "level", false},
	 {"\\]?:?(?: -)? +", ".*", "message", false}},
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

/*
 * A date is at most half a year before or after the day of `near`. So from a day half a year before
 * the file's last change, no line is newer than the file and a day.
 */
#define NEWEST_LINE ((time_t)181 * 24 * 60 * 60)

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
	time_t near = stat(file, &st) ? 0 : st.st_mtime - NEWEST_LINE;
	if (!gmtime_r(&near, &tm))
		tm = (struct tm){.tm_year = 70, .tm_mday = 1};
	buf_printf(out,
		   "{near: %04d-%02d-%02d}}   # 181 days before the file's last change, so no line "
		   "is newer than the file\n",
		   tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

/* Append a part as a group. `open` begins it. */
static void put_part(const struct log_part *part, bool strict, const char *open, struct buf *out)
{
	const char *value = strict || part->value != log_time ? part->value : SHORT_TIME;

	value = !strict && part->value == log_level ? SHORT_LEVEL : value;
	buf_printf(out, "%s%s%s)", part->before, open, value);
}

/* Append the pattern up to column `keep`, which alone captures, and the rest if it finds the end. */
static void put_column(const struct log_part *layout, size_t keep, struct buf *out)
{
	for (size_t i = 0; layout[i].column && (i <= keep || layout[keep].lazy); i++)
		put_part(&layout[i], false, i == keep ? "(" : "(?:", out);
}

static void put_layout(const struct log_part *layout, bool equal, struct buf *out)
{
	static const char table[] =
		"tables:\n"
		"  - name: log\n"
		"    rowkey:\n"
		"      - {salt: 16, of: [line]}   # spreads rows that come in order\n";
	const char *names[7];

	buf_append_str(out, "fields:\n");
	for (size_t i = 0; i < 7; i++) {
		struct buf pattern = {0};

		names[i] = layout[i].column;
		if (!names[i])
			break;
		put_column(layout, i, &pattern);
		buf_printf(out, "  %s: {from: line, match: ", names[i]);
		put_yaml(out, buf_bytes(&pattern));
		buf_append_str(out,
			       i ? "}\n"
				 : ", type: time, format: iso8601}   # UTC if the value has no "
				   "offset; for another zone add `zone: Europe/Berlin`\n");
		buf_release(&pattern);
	}
	put_place(equal, out);
	buf_append_str(out, table);
	put_end(equal, out);
	put_cells(out, names);
}

/* Return the layout of a log of a program, or NULL. Other lines are those of stack traces. */
static const struct log_part *find_layout(const struct lines *l)
{
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
		struct buf pattern = {0}, begins = {0};

		for (size_t k = 0; layouts[i][k].column; k++)
			put_part(&layouts[i][k], true, "(", &pattern);
		put_part(layouts[i], true, "(", &begins);
		buf_put(&pattern, 0);
		buf_put(&begins, 0);
		bool fits = all_match(l, (const char *)pattern.ptr, (const char *)begins.ptr);
		buf_release(&pattern);
		buf_release(&begins);
		if (fits)
			return layouts[i];
	}
	return NULL;
}

bool log_write(const struct lines *l, const char *file, const char *name, bool equal,
	       struct buf *out)
{
	static const char *const access_cells[] = {"user", "method",  "path",  "status",
						   "size", "referer", "agent", NULL};
	static const char *const common_cells[] = {"user",   "method", "path",
						   "status", "size",   NULL};
	static const char *const other_cells[] = {"user", "method", "path", "status",
						  "size", "rest",   NULL};
	static const char *const syslog_cells[] = {"program", "pid", "text", NULL};
	static const char *const facility_cells[] = {"facility", "program", "pid", "text", NULL};
	bool access = all_match(l,
				"^\\S+ \\S+ \\S+ \\[\\d\\d/[A-Z][a-z]{2}/\\d{4}:[0-9:]{8} "
				"[-+]\\d{4}\\] \"(?:[^\"\\\\]|\\\\.)*\" \\d{3} (?:\\d+|-)",
				NULL);
	bool combined = access && all_match(l,
					    "\" \\d{3} \\S+ \"(?:[^\"\\\\]|\\\\.)*\" "
					    "\"(?:[^\"\\\\]|\\\\.)*\"$",
					    NULL);
	bool common = access && all_match(l, "\" \\d{3} \\S+$", NULL);
	bool syslog = !access && all_match(l, SYSLOG_TIME FACILITY SYSLOG_HOST, NULL);
	bool facility = syslog && !all_match(l, SYSLOG_TIME SYSLOG_HOST, NULL);
	const struct log_part *layout = access || syslog ? NULL : find_layout(l);

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
		put_layout(layout, equal, out);
	} else if (access) {
		buf_printf(out, "%s%s", access_fields,
			   combined ? combined_fields
			   : common ? ""
				    : rest_field);
		put_table(equal, out);
		put_cells(out, combined ? access_cells : common ? common_cells : other_cells);
	} else {
		buf_append_str(out, "fields:\n  time: {from: line, substring: [1, 15], type: time, "
				    "format: '%b %e %H:%M:%S', year: ");
		put_year(file, out);
		put_syslog(facility, out);
		put_table(equal, out);
		put_cells(out, facility ? facility_cells : syslog_cells);
	}
	buf_append_str(out, "    regions: {split: none}\n");
	return true;
}
