#include "bar.h"

#include <stdlib.h>
#include <strings.h>

/*
 * Returns true if the locale is UTF-8. The first of these variables that has a value decides, as in
 * POSIX.
 */
static bool knows_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *locale = NULL;

	for (size_t i = 0; i < sizeof names / sizeof *names && !(locale && *locale); i++)
		locale = getenv(names[i]);
	const char *charset = locale ? strchr(locale, '.') : NULL;
	return charset &&
	       (strncasecmp(charset, ".UTF-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0);
}

void put_share_bar(struct buf *out, double share, int most)
{
	const char *block = knows_utf8() ? "▇" : "#";
	int n = (int)(share * most + 0.5);

	for (int i = 0; i < n && i < most; i++)
		buf_append_str(out, block);
}

void put_shade(struct buf *out, double share)
{
	static const char *const blocks[] = {" ", "·", "░", "▒", "▓", "█"};
	static const char *const plain[] = {" ", ".", ":", "+", "*", "#"};
	size_t most = sizeof blocks / sizeof *blocks - 1;
	size_t i = share > 0 ? 1 + (size_t)(share * (double)(most - 1) + 0.5) : 0;

	buf_append_str(out, (knows_utf8() ? blocks : plain)[i < most ? i : most]);
}

void put_age(struct buf *out, double seconds)
{
	if (seconds < 120)
		buf_printf(out, "%.0f s", seconds);
	else if (seconds < 2 * 3600)
		buf_printf(out, "%.0f min", seconds / 60);
	else
		buf_printf(out, "%.1f h", seconds / 3600);
}
