#include "key_text.h"

#include <inttypes.h>
#include <time.h>

static uint64_t number(struct bytes b)
{
	uint64_t v = 0;
	for (size_t i = 0; i < b.len; i++)
		v = v << 8 | b.ptr[i];
	return v;
}

static void put_millis(struct buf *out, int64_t ms)
{
	time_t s = (time_t)(ms / 1000);
	struct tm t;
	if (ms < 0 || !gmtime_r(&s, &t)) {
		buf_printf(out, "%" PRId64 " ms", ms);
		return;
	}
	buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year + 1900, t.tm_mon + 1,
		   t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)(ms % 1000));
}

/* Text without its terminator and what fills it up. */
static void put_text(struct buf *out, const struct key_part *p, struct bytes b)
{
	if (p->terminator != NO_TERMINATOR && b.len && b.ptr[b.len - 1] == p->terminator)
		b.len--;
	while (p->width && b.len > 1 && b.ptr[p->pad_left ? 0 : b.len - 1] == p->pad) {
		b.ptr += p->pad_left;
		b.len--;
	}
	bytes_escape(out, b);
}

static void put_value(struct buf *out, const struct key_part *p, struct bytes b)
{
	switch (p->as) {
	case AS_U8:
	case AS_U16:
	case AS_U32:
	case AS_U64: buf_printf(out, "%" PRIu64, number(b)); return;
	case AS_I32: buf_printf(out, "%" PRId32, (int32_t)(uint32_t)(number(b) ^ 1u << 31)); return;
	case AS_I64: buf_printf(out, "%" PRId64, (int64_t)(number(b) ^ UINT64_C(1) << 63)); return;
	case AS_MILLIS: put_millis(out, (int64_t)number(b)); return;
	case AS_REVERSED_MILLIS: put_millis(out, INT64_MAX - (int64_t)number(b)); return;
	default: put_text(out, p, b); return;
	}
}

void key_text(void *namer, struct bytes key, size_t part, struct buf *out)
{
	const struct key_namer *k = namer;
	size_t ends[SHAPE_MAX_PARTS], n = shape_ends(k->shape, key, ends), from = 0;
	const char *comma = "";

	for (size_t i = 0; i < n && i <= part && i < k->table->nrowkey; from = ends[i++]) {
		const struct key_part *p = &k->table->rowkey[i];
		struct bytes b = bytes_of(key.ptr + from, ends[i] - from);
		if (p->kind == PART_SALT && part == 0) {
			buf_printf(out, "%" PRIu64, number(b));
		} else if (p->kind == PART_FIELD) {
			buf_printf(out, "%s%s ", comma, k->job->fields[p->field].name);
			put_value(out, p, b);
			comma = ", ";
		}
	}
}
