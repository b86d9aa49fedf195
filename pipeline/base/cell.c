/* cell.c - compare cells, and write and read their TTLs */
#include "cell.h"

const char *cell_type_name(unsigned type)
{
	switch (type) {
	case CELL_PUT: return "Put";
	case CELL_DELETE: return "Delete";
	case CELL_DELETE_FAMILY_VERSION: return "DeleteFamilyVersion";
	case CELL_DELETE_COLUMN: return "DeleteColumn";
	case CELL_DELETE_FAMILY: return "DeleteFamily";
	case CELL_MAXIMUM: return "Maximum";
	default: return "unknown";
	}
}

bool cell_type_known(unsigned type)
{
	return type == CELL_PUT ||
	       (type >= CELL_DELETE && type <= CELL_DELETE_FAMILY && type % 2 == 0);
}

void cell_put_ttl(uint8_t out[CELL_TTL_TAG_BYTES], int64_t ttl_ms)
{
	put_be16(out, CELL_TTL_TAG_BYTES - 2);
	out[2] = CELL_TTL_TAG;
	put_be64(out + 3, (uint64_t)ttl_ms);
}

/* Find the first tag of a type from `*p` on, and move `*p` after it. */
static bool next_tag(const uint8_t **p, const uint8_t *end, uint8_t type, struct bytes *out)
{
	for (const uint8_t *tag = *p; tag < end; tag = *p) {
		*p = tag + 2 + get_be16(tag);
		*out = bytes_of(tag + 3, (size_t)get_be16(tag) - 1);
		if (tag[2] == type)
			return true;
	}
	return false;
}

bool cell_tag(const struct cell *c, uint8_t type, struct bytes *out)
{
	const uint8_t *p = c->tags.ptr;

	return next_tag(&p, p + c->tags.len, type, out);
}

bool cell_ttl(const struct cell *c, int64_t *ttl_ms)
{
	const uint8_t *p = c->tags.ptr;
	struct bytes v;

	while (next_tag(&p, c->tags.ptr + c->tags.len, CELL_TTL_TAG, &v))
		if (v.len == CELL_TTL_TAG_BYTES - 3) {
			*ttl_ms = (int64_t)get_be64(v.ptr);
			return true;
		}
	return false;
}

int cell_in_row_cmp(const struct cell *a, const struct cell *b)
{
	/* cells of one file or row usually point to the same bytes of the family */
	bool same = a->family.ptr == b->family.ptr && a->family.len == b->family.len;
	int c = same ? 0 : bytes_cmp(a->family, b->family);

	if (c == 0)
		c = bytes_cmp(a->qualifier, b->qualifier);
	if (c == 0)
		c = (a->ts < b->ts) - (a->ts > b->ts);
	return c ? c : (a->type < b->type) - (a->type > b->type);
}

int cell_key_cmp(const struct cell *a, const struct cell *b)
{
	int c = bytes_cmp(a->row, b->row);

	return c ? c : cell_in_row_cmp(a, b);
}
