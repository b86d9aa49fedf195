#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>

#include "mem.h"

static size_t grown(const struct buf *b, size_t extra)
{
	size_t cap = b->cap < 64 ? 64 : b->cap * 2;

	return cap - b->len < extra ? b->len + extra : cap;
}

uint8_t *buf_reserve(struct buf *b, size_t extra)
{
	if (b->cap - b->len < extra) {
		size_t cap = grown(b, extra);

		b->ptr = mem_realloc(b->ptr, cap);
		b->cap = cap;
	}
	return b->ptr + b->len;
}

bool buf_try_reserve(struct buf *b, size_t extra)
{
	if (b->cap - b->len < extra) {
		size_t cap = grown(b, extra);
		uint8_t *p = mem_try_realloc(b->ptr, cap);

		if (!p)
			return false;
		b->ptr = p;
		b->cap = cap;
	}
	return true;
}

bool buf_try_append(struct buf *b, const void *ptr, size_t len)
{
	if (!buf_try_reserve(b, len))
		return false;
	if (len)
		memcpy(b->ptr + b->len, ptr, len);
	b->len += len;
	return true;
}

void buf_append(struct buf *b, const void *ptr, size_t len)
{
	if (len == 0)
		return;
	memcpy(buf_reserve(b, len), ptr, len);
	b->len += len;
}

void buf_append_str(struct buf *b, const char *s)
{
	buf_append(b, s, strlen(s));
}

void buf_digits(struct buf *b, uint64_t v)
{
	uint8_t text[20], *p = text + sizeof text;

	for (; v >= 100; v /= 100) {
		p -= 2;
		put_two_digits(p, (uint32_t)(v % 100));
	}
	if (v >= 10) {
		p -= 2;
		put_two_digits(p, (uint32_t)v);
	} else {
		*--p = (uint8_t)('0' + v);
	}
	size_t n = (size_t)(text + sizeof text - p);
	copy_short(buf_room(b, n), p, n);
	b->len += n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	char *at = (char *)buf_reserve(b, 1); /* most texts fit into the room that is left */
	size_t room = b->cap - b->len;
	va_start(ap, fmt);
	int n = vsnprintf(at, room, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= room) {
		at = (char *)buf_reserve(b, (size_t)n + 1);
		va_start(ap, fmt);
		vsnprintf(at, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	b->len += (size_t)n;
}

void buf_release(struct buf *b)
{
	mem_free(b->ptr);
	*b = (struct buf){0};
}
