#include "input/flat.h"

static bool inside(struct flat *f, size_t at, size_t bytes)
{
	if (at <= f->data.len && bytes <= f->data.len - at)
		return true;
	f->bad = true;
	return false;
}

static struct flat_table table_at(struct flat *f, size_t at)
{
	struct flat_table none = {0}, t = {.flat = f, .at = at};

	if (!inside(f, at, 4))
		return none;
	int64_t vtable = (int64_t)at - (int32_t)get_le32(f->data.ptr + at);
	if (vtable < 0 || !inside(f, (size_t)vtable, 4)) {
		f->bad = true;
		return none;
	}
	t.vtable = (size_t)vtable;
	t.vtable_bytes = get_le16(f->data.ptr + t.vtable);
	t.bytes = get_le16(f->data.ptr + t.vtable + 2);
	if (t.vtable_bytes < 4 || !inside(f, t.vtable, t.vtable_bytes) || !inside(f, at, t.bytes)) {
		f->bad = true;
		return none;
	}
	return t;
}

struct flat_table flat_root(struct flat *f)
{
	return inside(f, 0, 4) ? table_at(f, get_le32(f->data.ptr)) : (struct flat_table){0};
}

/* Return the position of the field, or 0 if it is absent. */
static size_t place(const struct flat_table *t, unsigned id, size_t bytes)
{
	size_t entry = 4 + 2 * (size_t)id;

	if (!t->flat || entry + 2 > t->vtable_bytes)
		return 0;
	size_t offset = get_le16(t->flat->data.ptr + t->vtable + entry);
	if (offset == 0)
		return 0;
	if (offset + bytes > t->bytes) {
		t->flat->bad = true;
		return 0;
	}
	return t->at + offset;
}

int64_t flat_number(const struct flat_table *t, unsigned id, size_t bytes, int64_t otherwise)
{
	size_t at = place(t, id, bytes);

	if (at == 0)
		return otherwise;
	const uint8_t *p = t->flat->data.ptr + at;
	return bytes == 1   ? (int8_t)*p
	       : bytes == 2 ? (int16_t)get_le16(p)
	       : bytes == 4 ? (int32_t)get_le32(p)
			    : (int64_t)get_le64(p);
}

/* Return the position to which the offset in the field points, or 0 if it is absent. */
static size_t follow(const struct flat_table *t, unsigned id)
{
	size_t at = place(t, id, 4);

	return at == 0 ? 0 : at + get_le32(t->flat->data.ptr + at);
}

struct flat_table flat_sub(const struct flat_table *t, unsigned id)
{
	size_t at = follow(t, id);

	return at == 0 ? (struct flat_table){0} : table_at(t->flat, at);
}

struct flat_vector flat_vector(const struct flat_table *t, unsigned id, size_t width)
{
	size_t at = follow(t, id);

	if (at == 0 || !inside(t->flat, at, 4))
		return (struct flat_vector){0};
	size_t n = get_le32(t->flat->data.ptr + at);
	if (!inside(t->flat, at + 4, n * width))
		return (struct flat_vector){0};
	return (struct flat_vector){t->flat->data.ptr + at + 4, n};
}

struct flat_table flat_item(struct flat *f, const struct flat_vector *v, size_t i)
{
	size_t at = (size_t)(v->ptr - f->data.ptr) + 4 * i;

	return table_at(f, at + get_le32(f->data.ptr + at));
}

struct bytes flat_text(const struct flat_table *t, unsigned id)
{
	struct flat_vector v = flat_vector(t, id, 1);

	return bytes_of(v.ptr, v.n);
}
