/*
 * zone.c - read a zone's rules once, together with the job, as a list of offsets
 *
 * localtime_r in the loading threads would need one TZ for the whole process, and a lock. The zone's
 * file (RFC 8536) names the moments of all changes up to a year, and then has a rule such as
 * EST5EDT,M3.2.0,M11.1.0. glibc has the offset at each of these moments. It parses the rule again
 * for each later moment, so zone.c sets TZ to the rule, and compares offsets at steps of a week up to
 * ZONE_LAST_S. Two changes by a rule do not cancel each other within a week.
 *
 * glibc silently uses UTC for an unknown zone. So zone.c reads the zone's file first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "sections.h"

#include "bytes.h"

#define RULE_STEP_S  (7 * 86400)
#define HEADER_BYTES 44
#define FILE_MOST    (1u << 20)

/* A zone's file: the moments of changes, as big-endian int64_t, and the rule for later moments. */
struct zone_file {
	const uint8_t *times;
	size_t ntimes;
	const char *rule; /* a text of TZ; "" means that the last offset stays */
};

static int32_t offset_at(int64_t utc_s)
{
	time_t t = (time_t)utc_s;
	struct tm tm;

	return localtime_r(&t, &tm) ? (int32_t)tm.tm_gmtoff : 0;
}

/* Find the first second in (`low`, `high`] that has the offset of `high`. */
static int64_t bisect(int64_t low, int64_t high, int32_t after)
{
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;

		if (offset_at(middle) == after)
			high = middle;
		else
			low = middle;
	}
	return high;
}

static void add_span(struct arena *a, struct zone *z, int64_t from_s, int32_t offset_s)
{
	z->spans = arena_grow(a, z->spans, z->nspans, sizeof *z->spans);
	z->spans[z->nspans++] = (struct zone_span){from_s, offset_s};
}

static void set_tz(const char *value)
{
	if (value)
		setenv("TZ", value, 1);
	else
		unsetenv("TZ");
	tzset();
}

/* Add the changes of the file, then those of its rule. */
static void scan_zone(struct arena *a, struct zone *z, const struct zone_file *f)
{
	int32_t offset = offset_at(ZONE_FIRST_S);
	int64_t t = ZONE_FIRST_S;

	add_span(a, z, INT64_MIN, offset);
	for (size_t i = 0; i < f->ntimes; i++) {
		int64_t at = (int64_t)get_be64(f->times + 8 * i);
		if (at <= t || at > ZONE_LAST_S)
			continue;
		t = at;
		int32_t next = offset_at(t);
		if (next != offset)
			add_span(a, z, t, next);
		offset = next;
	}
	if (!f->rule[0])
		return;
	set_tz(f->rule);
	for (; t < ZONE_LAST_S; t += RULE_STEP_S) {
		int32_t next = offset_at(t + RULE_STEP_S);
		if (next != offset)
			add_span(a, z, bisect(t, t + RULE_STEP_S, next), next);
		offset = next;
	}
}

/* Parse an offset such as "+08:00", "-0330" or "+8". */
static bool parse_offset(const char *name, int32_t *offset_s)
{
	unsigned hours, minutes = 0;
	int end = 0;

	if (name[0] != '+' && name[0] != '-')
		return false;
	const char *digits = name + 1;
	size_t n = strspn(digits, "0123456789");
	if (n == 4 && sscanf(digits, "%2u%2u%n", &hours, &minutes, &end) < 2)
		return false;
	if (n < 1 || n == 3 || n > 4)
		return false;
	if (n < 3) {
		if (sscanf(digits, "%2u%n", &hours, &end) < 1)
			return false;
		if (digits[n] == ':') {
			if (strspn(digits + n + 1, "0123456789") != 2 ||
			    sscanf(digits + n + 1, "%2u", &minutes) < 1)
				return false;
			end += 3;
		}
	}
	if (digits[end] || hours > 18 || minutes > 59)
		return false;
	*offset_s = (int32_t)(hours * 3600 + minutes * 60) * (name[0] == '-' ? -1 : 1);
	return true;
}

static const char *zone_folder(void)
{
	const char *dir = getenv("TZDIR");

	return dir && *dir ? dir : "/usr/share/zoneinfo";
}

/*
 * Append the file of a zone to `out`. Return false if there is no such zone. The folder also contains
 * lists and scripts. Only compiled zones begin with TZif.
 */
static bool read_zone(const char *name, struct buf *out)
{
	char path[512];
	struct stat st;

	if (name[0] == '/' || strstr(name, ".."))
		return false;
	int n = snprintf(path, sizeof path, "%s/%s", zone_folder(), name);
	if (n < 0 || (size_t)n >= sizeof path || stat(path, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size < HEADER_BYTES || st.st_size > FILE_MOST)
		return false;
	FILE *f = fopen(path, "rb");
	if (!f)
		return false;
	buf_reserve(out, (size_t)st.st_size);
	out->len = fread(out->ptr, 1, (size_t)st.st_size, f);
	fclose(f);
	return out->len >= HEADER_BYTES && memcmp(out->ptr, "TZif", 4) == 0;
}

static bool zone_exists(const char *name)
{
	struct buf file = {0};
	bool exists = read_zone(name, &file);

	buf_release(&file);
	return exists;
}

/* Return the size of a data block of a zone's file. The header is before the block. */
static uint64_t block_bytes(const uint8_t *header, size_t time_bytes)
{
	uint64_t utc = get_be32(header + 20), standard = get_be32(header + 24),
		 leaps = get_be32(header + 28), times = get_be32(header + 32),
		 types = get_be32(header + 36), chars = get_be32(header + 40);

	return times * (time_bytes + 1) + types * 6 + chars + leaps * (time_bytes + 4) + standard +
	       utc;
}

/*
 * Find the parts of a zone's file. Files of version 2 and later repeat header and block with 64-bit
 * times, and end with the rule between line feeds.
 */
static bool parse_zone(struct buf *file, struct zone_file *out)
{
	const uint8_t *p = file->ptr, *end = p + file->len;
	uint64_t first = HEADER_BYTES + block_bytes(p, 4);

	if (p[4] < '2' || first + HEADER_BYTES > file->len)
		return false;
	p += first;
	uint64_t second = HEADER_BYTES + block_bytes(p, 8);
	if (memcmp(p, "TZif", 4) != 0 || second + 2 > (uint64_t)(end - p))
		return false;
	*out = (struct zone_file){p + HEADER_BYTES, get_be32(p + 32), (const char *)p + second + 1};
	if (p[second] != '\n' || end[-1] != '\n')
		return false;
	file->ptr[file->len - 1] = 0; /* the end of the rule */
	return true;
}

/* Set the error for a zone that does not exist. Berlin means Europe/Berlin, and UTC+1 is +01:00. */
static int unknown_zone(const char *name, struct error *err)
{
	unsigned hours;
	char sign, rest;

	if ((sscanf(name, "UTC%c%2u%c", &sign, &hours, &rest) == 2 ||
	     sscanf(name, "GMT%c%2u%c", &sign, &hours, &rest) == 2) &&
	    (sign == '+' || sign == '-') && hours < 15)
		return error_set(err, RC_CONFIG, "unknown zone `%.60s`; did you mean `%c%02u:00`?",
				 name, sign, hours);

	static const char *const areas[] = {"Europe",	 "Asia",    "America",	"Africa",
					    "Australia", "Pacific", "Atlantic", "Indian"};

	for (size_t i = 0; i < sizeof areas / sizeof *areas; i++) {
		char whole[80];

		snprintf(whole, sizeof whole, "%s/%.60s", areas[i], name);
		for (char *p = whole; *p; p++)
			*p = *p == ' ' ? '_' : *p;
		if (zone_exists(whole))
			return error_set(err, RC_CONFIG, "unknown zone `%.60s`; did you mean `%s`?",
					 name, whole);
	}
	return error_set(
		err, RC_CONFIG,
		"unknown zone `%.60s`, expected UTC, an offset like +08:00, or a name of the "
		"time zone database like Asia/Shanghai",
		name);
}

static void ask_glibc(struct arena *a, struct zone *z, const struct zone_file *f)
{
	const char *now = getenv("TZ");
	char *before = now ? mem_strdup(now) : NULL;
	char *ours = mem_format(":%s", z->name);

	set_tz(ours);
	scan_zone(a, z, f);
	set_tz(before);
	mem_free(ours);
	mem_free(before);
}

int zone_load(const struct zone **out, const char *name, struct arena *a, struct error *err)
{
	int32_t offset_s;
	struct stat st;

	*out = NULL;
	if (strcmp(name, "UTC") == 0 || strcmp(name, "Z") == 0)
		return RC_OK;
	struct zone *z = arena_alloc(a, sizeof *z);
	z->name = name;
	*out = z;
	if (parse_offset(name, &offset_s)) {
		add_span(a, z, INT64_MIN, offset_s);
		return RC_OK;
	}
	if (stat(zone_folder(), &st))
		return error_set(
			err, RC_CONFIG,
			"zone `%.60s`: found no time zone database in %s, expected the package "
			"tzdata, or TZDIR set to a database",
			name, zone_folder());
	struct buf file = {0};
	struct zone_file parts;
	int rc = RC_OK;
	if (!read_zone(name, &file))
		rc = unknown_zone(name, err);
	else if (!parse_zone(&file, &parts))
		rc = error_set(
			err, RC_CONFIG,
			"zone `%.60s`: found a damaged or old file in %s, expected version 2 or "
			"later; install the package tzdata again",
			name, zone_folder());
	else
		ask_glibc(a, z, &parts);
	buf_release(&file);
	return rc;
}
