/*
 * json.h - the values at given paths of a JSON text, and proof that all of the text is JSON
 *
 *   json_paths_new, json_extract* (one struct json_scratch per thread), json_scratch_release,
 *   json_paths_free
 *
 * Examples of paths: user.id, items[0].sku, [2].name, ["a key with . or ["].b, ['x'].
 */
#ifndef SALTMILL_SOURCE_JSON_H
#define SALTMILL_SOURCE_JSON_H

#include "bytes.h"
#include "error.h"
#include "event.h"

#define JSON_MOST_NESTED 2048

/* Immutable; threads may share it. */
struct json_paths;
/*
 * Compile n different paths. RC_CONFIG: a path is invalid; the error names it, *bad is its index.
 */
int json_paths_new(struct json_paths **out, const char *const *paths, size_t n, size_t *bad,
		   struct error *err);
void json_paths_free(struct json_paths *p);

struct json_scratch {
	uint8_t *text; /* unescaped strings */
	size_t room;
};
void json_scratch_release(struct json_scratch *s);

/* The fault of a text, as in "expected a value", and its byte. */
struct json_fault {
	size_t at;
	const char *expected;
};

/*
 * Set columns[i] to the value at path i: a string unescaped and without quotes (`quoted` is set),
 * any other value as its text. A missing value or null is absent. If a key occurs twice, the last
 * one counts. Columns borrow from text and, until the next call, from s; EVENT_ROOM_BYTES after a
 * value in s are readable. Returns false if text is not JSON: RFC 8259, one value, UTF-8 without
 * surrogates, nested at most JSON_MOST_NESTED deep.
 */
bool json_extract(const struct json_paths *p, struct json_scratch *s, struct bytes text,
		  struct column *columns, struct json_fault *fault);

#endif
