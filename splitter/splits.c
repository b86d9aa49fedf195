/*
 * splits.c - the list of split keys and its text form
 *
 * The text has one key in each line, in the \xHH form. Parsing is stricter than HBase's
 * toBytesBinary, which silently reads \xab as the three letters "xab". A line that the shell would
 * read as another key is an error.
 */
#include "splits.h"

#include <inttypes.h>

#include "cell.h"
#include "io.h"
#include "keytext.h"
#include "mem.h"

int splits_add(struct splits *s, struct bytes key, struct error *err)
{
	if (key.len == 0)
		return error_set(err, RC_ORDER,
				 "split key %zu: found an empty key, expected at least one byte",
				 s->count + 1);
	if (key.len > CELL_ROW_MAX)
		return error_set(err, RC_LIMIT,
				 "split key %zu: found %zu bytes, expected at most %d",
				 s->count + 1, key.len, CELL_ROW_MAX);
	if (s->count) {
		int c = bytes_cmp(s->keys[s->count - 1], key);

		if (c >= 0)
			return error_set(
				err, RC_ORDER,
				c ? "split key %zu: found a key below the previous key, expected rising keys"
				  : "split key %zu: found the previous key again, expected rising keys",
				s->count + 1);
	}
	s->keys = mem_grow(s->keys, s->count, sizeof *s->keys);
	uint8_t *copy = mem_alloc(key.len);
	memcpy(copy, key.ptr, key.len);
	s->keys[s->count++] = bytes_of(copy, key.len);
	return RC_OK;
}

int splits_copy(struct splits *s, const struct splits *from, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < from->count; i++)
		rc = splits_add(s, from->keys[i], err);
	return rc;
}

void splits_release(struct splits *s)
{
	for (size_t i = 0; i < s->count; i++) {
		void *owned;

		/* copy the pointer, because `ptr` of a slice is const */
		memcpy(&owned, &s->keys[i].ptr, sizeof owned);
		mem_free(owned);
	}
	mem_free(s->keys);
	*s = (struct splits){0};
}

size_t splits_region(const struct splits *s, struct bytes row)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (bytes_cmp(s->keys[mid], row) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void splits_format(const struct splits *s, struct buf *out)
{
	for (size_t i = 0; i < s->count; i++) {
		bytes_escape(out, s->keys[i]);
		buf_put(out, '\n');
	}
}

/* Take a line as File.foreach and chomp do. */
struct bytes keytext_line(struct bytes *text)
{
	const uint8_t *end = memchr(text->ptr, '\n', text->len);
	size_t len = end ? (size_t)(end - text->ptr) : text->len;
	size_t taken = end ? len + 1 : len;
	struct bytes line = bytes_of(text->ptr, len);

	if (len && line.ptr[len - 1] == '\r')
		line.len--;
	*text = bytes_of(text->ptr + taken, text->len - taken);
	return line;
}

static bool is_hex(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

/* Reject a line that the shell would read as another key. */
static int check_line(struct bytes line, struct error *err)
{
	if (line.len == 0)
		return error_set(
			err, RC_DATA,
			"found an empty line, which is an empty split key, expected a key");
	for (size_t i = 0; i < line.len; i++) {
		uint8_t c = line.ptr[i];

		if (c < 0x20 || c > 0x7E)
			return error_set(err, RC_DATA,
					 "found byte 0x%02X in column %zu, expected \\x%02X", c,
					 i + 1, c);
		if (c != '\\' || i + 1 == line.len || line.ptr[i + 1] != 'x')
			continue;
		if (line.len - i < 4 || !is_hex(line.ptr[i + 2]) || !is_hex(line.ptr[i + 3]))
			return error_set(
				err, RC_DATA,
				"found \"%.*s\" in column %zu, expected \\x and two upper-case hex digits "
				"(the shell reads others as text)",
				(int)(line.len - i < 4 ? line.len - i : 4),
				(const char *)line.ptr + i, i + 1);
	}
	return RC_OK;
}

int keytext_parse(struct buf *key, struct bytes line, struct error *err)
{
	int rc = check_line(line, err);

	if (rc == RC_OK)
		bytes_unescape(key, line);
	return rc;
}

int splits_parse(struct splits *s, const char *name, struct bytes text, struct error *err)
{
	struct buf key = {0};
	int rc = RC_OK;

	for (uint64_t number = 1; rc == RC_OK && text.len; number++) {
		key.len = 0;
		rc = keytext_parse(&key, keytext_line(&text), err);
		if (rc == RC_OK)
			rc = splits_add(s, buf_bytes(&key), err);
		if (rc) {
			err->code = rc = RC_DATA;
			error_prefix(err, "%s:%" PRIu64 ": ", name, number);
		}
	}
	buf_release(&key);
	return rc;
}

int splits_read(struct splits *s, const char *path, struct error *err)
{
	struct buf text = {0};
	int rc = io_read_file(path, &text, err);

	if (rc == RC_OK)
		rc = splits_parse(s, path, buf_bytes(&text), err);
	buf_release(&text);
	return rc;
}

/*
 * Let p be the common prefix of a and b. A string of at most the length of p cannot be above a and
 * at most b. The result is p plus the next byte of b.
 */
struct bytes shortest_separator(struct bytes a, struct bytes b)
{
	size_t n = 0;

	while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n])
		n++;
	return bytes_of(b.ptr, n < b.len ? n + 1 : n);
}
