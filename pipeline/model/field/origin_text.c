/* origin_text.c - texts of a row that are not in its columns: path, line, number and partitions */
#include "field.h"

#include <ctype.h>
#include <inttypes.h>

#include "event.h"

#define HIVE_NULL "__HIVE_DEFAULT_PARTITION__" /* Hive's folder for rows whose column is null */

bool path_partition(const char *path, const char *name, struct bytes *value)
{
	size_t len = strlen(name);
	bool found = false;

	for (const char *end; (end = strchr(path, '/')) != NULL; path = end + 1) {
		if (strncmp(path, name, len) != 0 || path[len] != '=')
			continue;
		*value = bytes_of(path + len + 1, (size_t)(end - path) - len - 1);
		found = true;
	}
	return found;
}

static int hex_digit(uint8_t c)
{
	return isdigit(c) ? c - '0' : tolower(c) - 'a' + 10;
}

/* Append the value of a folder. Hive writes special characters as %XX. */
static void put_unescaped(struct buf *out, struct bytes text)
{
	for (size_t i = 0; i < text.len; i++) {
		const uint8_t *p = text.ptr + i;
		bool escaped = *p == '%' && i + 2 < text.len && isxdigit(p[1]) && isxdigit(p[2]);

		buf_put(out, (uint8_t)(escaped ? hex_digit(p[1]) << 4 | hex_digit(p[2]) : *p));
		i += escaped ? 2 : 0;
	}
}

bool origin_text(enum origin origin, const char *name, const struct event *ev, struct buf *out)
{
	struct bytes value;

	switch (origin) {
	case ORIGIN_FILE: buf_append_str(out, ev->file); return true;
	case ORIGIN_LINE: buf_printf(out, "%" PRIu64, ev->line); return true;
	case ORIGIN_ROW: buf_printf(out, "%" PRIu64, ev->row); return true;
	case ORIGIN_PARTITION: break;
	case ORIGIN_COLUMN: return false;
	}
	if (!path_partition(ev->file, name, &value) || bytes_eq(value, bytes_str(HIVE_NULL)))
		return false;
	put_unescaped(out, value);
	return true;
}
