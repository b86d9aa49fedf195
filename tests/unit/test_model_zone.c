/* Compares the offsets of zone.c with localtime_r, which reads the whole file of a zone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pipeline/model/job/sections.h"

static uint64_t random_state = 1;

static uint64_t any(uint64_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 11) % below;
}

static void agree(const struct zone *z, int64_t utc_s)
{
	time_t t = (time_t)utc_s;
	struct tm tm;

	assert_non_null(localtime_r(&t, &tm));
	if (zone_local(z, utc_s) != utc_s + tm.tm_gmtoff)
		fail_msg("%s: found %lld at %lld, glibc has %lld", z->name,
			 (long long)zone_local(z, utc_s), (long long)utc_s,
			 (long long)(utc_s + tm.tm_gmtoff));
}

static void compare_zone(const char *name)
{
	struct arena a = {0};
	const struct zone *z;
	struct error err;
	char tz[300];

	if (zone_load(&z, name, &a, &err))
		fail_msg("%s", err.msg);
	if (!z) {
		assert_string_equal(name, "UTC");
		return;
	}
	snprintf(tz, sizeof tz, ":%s", name);
	setenv("TZ", tz, 1);
	tzset();
	for (int i = 0; i < 60; i++)
		agree(z, ZONE_FIRST_S + (int64_t)any(ZONE_LAST_S - ZONE_FIRST_S));
	for (size_t i = 1; i < z->nspans; i += i < 40 ? 1 : 1 + any(40)) {
		assert_true(z->spans[i].offset_s != z->spans[i - 1].offset_s);
		agree(z, z->spans[i].from_s - 1);
		agree(z, z->spans[i].from_s);
	}
	arena_release(&a);
}

/* Every zone of the system, at random moments, and a second before and at changes. */
static void all_zones(void **state)
{
	FILE *f = fopen("/usr/share/zoneinfo/tzdata.zi", "r");
	char line[300], type, name[200], link[200];
	size_t n = 0;

	(void)state;
	if (!f) {
		puts("no list of all zones in /usr/share/zoneinfo");
		skip();
	}
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%c %199s %199s", &type, name, link) < 2 ||
		    (type != 'Z' && type != 'L'))
			continue;
		compare_zone(type == 'L' ? link : name);
		n++;
	}
	fclose(f);
	assert_true(n > 300);
}

/* New York has a change at the second Sunday of March 2013, and by its rule one in 2400. */
static void new_york(void **state)
{
	struct arena a = {0};
	const struct zone *z;
	struct error err;

	(void)state;
	assert_int_equal(zone_load(&z, "America/New_York", &a, &err), 0);
	assert_int_equal(zone_local(z, 1362898799), 1362898799 - 18000);
	assert_int_equal(zone_local(z, 1362898800), 1362898800 - 14400);
	assert_int_equal(zone_local(z, 13575625199),
			 13575625199 - 18000); /* 2400-03-12T06:59:59Z */
	assert_int_equal(zone_local(z, 13575625200), 13575625200 - 14400);
	assert_int_equal(zone_local(z, -4000000000),
			 -4000000000 - 17762); /* 1843: local mean time */
	arena_release(&a);
}

static void write_file(const char *path, const char *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* Each shorter beginning of a zone's file, and a file of version 1, are errors. */
static void damaged(void **state)
{
	char dir[] = "/tmp/saltmill-zone-XXXXXX", path[64], bytes[20000];
	struct arena a = {0};
	const struct zone *z;
	struct error err;
	FILE *f = fopen("/usr/share/zoneinfo/Asia/Tehran", "rb");

	(void)state;
	assert_non_null(f);
	size_t n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/Here", dir);
	setenv("TZDIR", dir, 1);
	for (size_t len = 0; len < n; len++) {
		write_file(path, bytes, len);
		assert_int_equal(zone_load(&z, "Here", &a, &err), RC_CONFIG);
		assert_non_null(strstr(err.msg, len < 44 ? "unknown zone `Here`"
							 : "found a damaged or old file"));
	}
	write_file(path, bytes, n);
	assert_int_equal(zone_load(&z, "Here", &a, &err), 0);
	assert_int_equal(zone_local(z, 1700000000), 1700000000 + 12600);
	bytes[4] = 0; /* version 1 */
	write_file(path, bytes, n);
	assert_int_equal(zone_load(&z, "Here", &a, &err), RC_CONFIG);
	unsetenv("TZDIR");
	unlink(path);
	rmdir(dir);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_zones), cmocka_unit_test(new_york),
					   cmocka_unit_test(damaged)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
