/* near.c - find and hash neighbourhoods (near.h) */
#include "near.h"

#include "hash.h"

/*
 * Returns the beginning of the key that a row shares with its neighbours. The beginning contains
 * the entity. The time and the parts after the time are not in the beginning.
 */
static struct bytes neighbourhood(const struct key_shape *shape, struct bytes key)
{
	size_t ends[SHAPE_MAX_PARTS], n = shape_ends(shape, key, ends);
	size_t salt = shape->salt_bytes > 0; /* a salt bucket alone is not an entity */

	if (n >= salt + 3)
		return bytes_of(key.ptr, ends[n - 3]);
	if (n == salt + 2)
		return bytes_of(key.ptr, ends[salt]);
	return bytes_of(key.ptr, key.len > 2 ? key.len - 2 : 0);
}

static inline uint64_t hash_ends(uint64_t first, uint64_t last)
{
	return (first * UINT64_C(0x9E3779B97F4A7C15) ^ last) * UINT64_C(0xD6E8FEB86659FD93);
}

/* Returns the length of all neighbourhoods, or 0 if their lengths differ. */
static size_t near_bytes(const struct key_shape *shape)
{
	size_t n = 0, parts = shape->nparts, salt = shape->salt_bytes > 0;

	if (parts < salt + 2)
		return 0;
	for (size_t i = 0; i < (parts >= salt + 3 ? parts - 2 : salt + 1); i++) {
		if (!shape->parts[i].width)
			return 0;
		n += shape->parts[i].width;
	}
	return n;
}

struct near near_of(const struct key_shape *shape)
{
	return (struct near){shape, near_bytes(shape)};
}

uint64_t near_hash(const struct near *n, struct bytes key)
{
	struct bytes near = n->bytes ? bytes_of(key.ptr, n->bytes) : neighbourhood(n->shape, key);

	if (near.len >= 8 && near.len <= 16)
		return hash_ends(get_be64(near.ptr), get_be64(near.ptr + near.len - 8));
	return XXH3_64bits(near.ptr, near.len);
}
