/*
 * json.h - the values at given paths of a JSON text, and proof that all of the text is JSON
 *
 *   json_paths_new, json_extract* (a struct json_scratch a thread), json_scratch_release,
 *   json_paths_free
 *
 * A path: user.id, items[0].sku, [2].name, ["a key with . or ["].b, ['x'].
 */
#ifndef SALTMILL_SOURCE_JSON_H
#define SALTMILL_SOURCE_JSON_H

#include "bytes.h"
#include "error.h"
#include "event.h"

#define JSON_MOST_NESTED 2048

/* Immutable: any thread. */
struct json_paths;
/* The paths differ.  RC_CONFIG: one is no path; the sentence names it, *bad is its index. */
int json_paths_new(struct json_paths **out, const char *const *paths, size_t n, size_t *bad,
		   struct error *err);
void json_paths_free(struct json_paths *p);

struct json_scratch {
	uint8_t *text; /* strings without their escapes */
	size_t room;
};
void json_scratch_release(struct json_scratch *s);

/* What is wrong with a text: "expected a value", at which byte. */
struct json_fault {
	size_t at;
	const char *expected;
};

/*
 * columns[i] becomes the value at path i: a string without quotes and escapes (quoted is set), a
 * number, true and false as their text, an object or an array as its text; absent when there is
 * none or null.  Of a key that stands twice the last counts.  Borrowed from text and s, valid
 * until the next call with s; of what is borrowed from s EVENT_ROOM_BYTES more may be read.  False:
 * text is not JSON (RFC 8259, in UTF-8 without surrogates, one value, nested at most
 * JSON_MOST_NESTED deep).
 */
bool json_extract(const struct json_paths *p, struct json_scratch *s, struct bytes text,
		  struct column *columns, struct json_fault *fault);

#endif
