/* salvage_find.c - find the intact blocks of a damaged file, and check their cells */
#include "salvage.h"

#include "mem.h"

#define WINDOW ((size_t)1 << 20)
#define MAGIC  8

static bool is_magic(const uint8_t *p)
{
	for (int t = 0; t < HBLOCK_TYPES; t++)
		if (memcmp(p, hfile_block_magic((enum hblock_type)t), MAGIC) == 0)
			return true;
	return false;
}

/* Find the magic of a block from `at` on. Bytes that cannot be read have none. */
static uint64_t find_magic(struct hfile *f, uint64_t at, uint8_t *window)
{
	struct error err;

	while (at + HBLOCK_HEADER <= f->in.limit) {
		uint64_t left = f->in.limit - at;
		size_t n = left < WINDOW ? (size_t)left : WINDOW;

		if (f->source.read(f->source.self, at, window, n, &err) == RC_OK)
			for (size_t i = 0; i + MAGIC <= n; i++)
				if (is_magic(window + i))
					return at + i;
		at += n < WINDOW ? n : n - MAGIC + 1;
	}
	return f->in.limit;
}

static int read_intact(struct hfile *f, uint64_t at, struct hblock *b, struct error *err)
{
	int rc = hfile_block_read_packed(&f->in, at, b, err);

	if (rc == RC_OK && !b->checked)
		rc = error_set(err, RC_DATA, "found a block without checksums");
	return rc;
}

int hfile_salvage_find(struct hfile *f, uint64_t *at, struct hblock *b, struct error *why,
		       struct error *err)
{
	uint8_t *window = NULL;
	struct error later;

	*why = (struct error){0};
	if (*at >= f->in.limit)
		return RC_END;
	int rc = read_intact(f, *at, b, why);
	if (rc == RC_OK)
		return rc;
	window = mem_try_alloc(WINDOW);
	if (!window)
		return error_memory(err, WINDOW, "a damaged file");
	later = *why;
	while (rc && rc != RC_MEMORY && *at < f->in.limit) {
		*at = find_magic(f, *at + 1, window);
		rc = *at < f->in.limit ? read_intact(f, *at, b, &later) : RC_END;
	}
	mem_free(window);
	if (rc == RC_MEMORY)
		*err = later;
	return rc;
}

int hfile_salvage_check(const struct hfile *f, struct bytes cells, struct cell *first,
			struct error *err)
{
	struct cell before = {0}, c = {0};
	struct kv kv;
	size_t at = 0;
	int rc;

	while ((rc = hfile_reader_take_cell(f, cells, &at, &kv, &c, err)) == RC_OK) {
		if (!before.row.len)
			*first = c;
		else if (cell_key_cmp(&before, &c) > 0 || !bytes_eq(before.family, c.family))
			return error_set(err, RC_DATA, "found cells out of order");
		before = c;
	}
	return rc == RC_END ? RC_OK : rc;
}
