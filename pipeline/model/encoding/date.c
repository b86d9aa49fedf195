/*
 * date.c - the parts of a date as digits
 */
#include "encoding.h"

#define LAST_YEAR 9999

/*
 * Convert a day since 1970-01-01 to the year, month and day (Howard Hinnant, "chrono-compatible
 * low-level date algorithms", civil_from_days).
 */
static void civil_of_day(int64_t day, int64_t *year, int64_t *month, int64_t *day_of_month)
{
	int64_t z = day + 719468; /* 0000-03-01 */
	int64_t era = z / 146097, of_era = z % 146097;
	int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
	int64_t m = (5 * of_year + 2) / 153;

	*day_of_month = of_year - (153 * m + 2) / 5 + 1;
	*month = m < 10 ? m + 3 : m - 9;
	*year = y + era * 400 + (*month <= 2);
}

static size_t put_digits(uint8_t *to, int64_t v, size_t n)
{
	for (size_t i = n; i-- > 0; v /= 10)
		to[i] = (uint8_t)('0' + v % 10);
	return n;
}

bool date_put(unsigned parts, int64_t local_s, uint8_t *to)
{
	int64_t year, month, day, at = local_s + INT64_C(86400); /* local time may be before 1970 */

	if (at < 0)
		return false;
	civil_of_day(at / 86400 - 1, &year, &month, &day);
	if (year > LAST_YEAR)
		return false;
	if (parts & DATE_YEAR)
		to += put_digits(to, year, 4);
	if (parts & DATE_MONTH)
		to += put_digits(to, month, 2);
	if (parts & DATE_DAY)
		to += put_digits(to, day, 2);
	if (parts & DATE_HOUR)
		put_digits(to, at / 3600 % 24, 2);
	return true;
}

bool date_take(unsigned part, struct bytes in, uint64_t *out)
{
	static const uint64_t least[] = {1969, 1, 1, 0}, most[] = {LAST_YEAR, 12, 31, 23};
	size_t i = 0;

	while (!(part >> i & 1))
		i++;
	*out = 0;
	for (size_t k = 0; k < in.len; k++) {
		if (in.ptr[k] < '0' || in.ptr[k] > '9')
			return false;
		*out = *out * 10 + (uint64_t)(in.ptr[k] - '0');
	}
	return *out >= least[i] && *out <= most[i];
}
