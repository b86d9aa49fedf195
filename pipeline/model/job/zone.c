/*
 * zone.c reads a zone's rules from glibc once, together with the job, and keeps a list of offsets.
 * localtime_r in the loading threads would need one TZ for the whole process, and a lock.
 *
 * To find the list, zone.c compares offsets at steps from ZONE_FIRST_S to ZONE_LAST_S, and bisects
 * each step in which the offset changes. In all zones, two changes within a day never cancel each
 * other. Changes by the rule at the end of a zone's file (RFC 8536, 3.3) do not cancel each other
 * within a week.
 *
 * glibc silently uses UTC for an unknown zone. So zone.c checks that the zone's file exists.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "sections.h"

#define STEP_S 86400
/* 2100-01-01; the tables of all zone files end before it */
#define RULE_S	    INT64_C(4102444800)
#define RULE_STEP_S (7 * 86400)

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

static void scan_zone(struct arena *a, struct zone *z)
{
	int32_t offset = offset_at(ZONE_FIRST_S);

	add_span(a, z, INT64_MIN, offset);
	for (int64_t t = ZONE_FIRST_S, step = STEP_S; t < ZONE_LAST_S; t += step) {
		step = t < RULE_S ? STEP_S : RULE_STEP_S;
		int32_t next = offset_at(t + step);
		if (next != offset)
			add_span(a, z, bisect(t, t + step, next), next);
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
 * Return true if the zone exists. The folder also contains lists and scripts. Only compiled zones
 * begin with TZif.
 */
static bool zone_exists(const char *name)
{
	char path[512], magic[4] = "";
	struct stat st;

	if (name[0] == '/' || strstr(name, ".."))
		return false;
	int n = snprintf(path, sizeof path, "%s/%s", zone_folder(), name);
	if (n < 0 || (size_t)n >= sizeof path || stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	FILE *f = fopen(path, "rb");
	bool good = f && fread(magic, 1, 4, f) == 4 && memcmp(magic, "TZif", 4) == 0;
	if (f)
		fclose(f);
	return good;
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

static void set_tz(const char *value)
{
	if (value)
		setenv("TZ", value, 1);
	else
		unsetenv("TZ");
	tzset();
}

static void ask_glibc(struct arena *a, struct zone *z)
{
	const char *now = getenv("TZ");
	char *before = now ? mem_strdup(now) : NULL;
	char *ours = mem_format(":%s", z->name);

	set_tz(ours);
	scan_zone(a, z);
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
	if (!zone_exists(name))
		return unknown_zone(name, err);
	ask_glibc(a, z);
	return RC_OK;
}
