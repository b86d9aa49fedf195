/*
 * json.h - read the values at given paths of a JSON text, and check that the whole text is JSON
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

struct json_form; /* job.h */

/* Compiled paths. Immutable, so threads may share them. */
struct json_paths;
/*
 * Compile n different paths. Return RC_CONFIG if a path is invalid, and set `*bad` to the path's
 * index, or to n if a list of `form` is invalid. `form` may be NULL. With `form->explode`, a path
 * that begins with this list is a path in each item of the list.
 */
int json_paths_new(struct json_paths **out, const char *const *paths, size_t n,
		   const struct json_form *form, size_t *bad, struct error *err);
void json_paths_free(struct json_paths *p);

struct json_scratch {
	uint8_t *text;	   /* unescaped strings */
	size_t room, used; /* `used` is private to json_extract and json_list_next */
};
void json_scratch_release(struct json_scratch *s);

/*
 * Return what JSON expects instead of a text that is no value. `minus` is true after a minus sign.
 * Python's json.dumps writes NaN and Infinity.
 */
static inline const char *json_expected(bool minus, const uint8_t *p, const uint8_t *end)
{
	if (end - p > 2 && (memcmp(p, "NaN", 3) == 0 || memcmp(p, "Inf", 3) == 0))
		return "a value of JSON, which has no NaN and no Infinity; replace them by null";
	return minus ? "a digit after the minus sign" : "a value";
}

/*
 * The fault of a text. `expected` completes the message "expected ...", and `at` is the offset of
 * the byte.
 */
struct json_fault {
	size_t at;
	const char *expected;
};

/*
 * Set columns[i] to the value at path i. A string is without escapes and quotes (`quoted` is true).
 * Any other value is its text. A missing value or null is absent. If a key occurs twice, the last
 * value counts. Columns borrow from `text` and, until the next call, from `s`. EVENT_ROOM_BYTES
 * after a value in `s` are readable. Return false unless the text is one JSON value by RFC 8259, in
 * UTF-8 without surrogates, nested at most JSON_MOST_NESTED deep.
 */
bool json_extract(const struct json_paths *p, struct json_scratch *s, struct bytes text,
		  struct column *columns, struct json_fault *fault);

/* The items of the list of `explode`. */
struct json_list {
	struct bytes list; /* the text of the list; ptr NULL if the record has no such list */
	size_t at;
};
/*
 * Get the list of `explode` in the text of the last json_extract. `columns` are those of that call,
 * with room for one more column than there are paths.
 */
struct json_list json_list_of(const struct json_paths *p, const struct column *columns);
/*
 * Set the columns of the next item and `*item` to the item's text. Columns of the record stay.
 * Return false after the last item.
 */
bool json_list_next(const struct json_paths *p, struct json_scratch *s, struct json_list *items,
		    struct column *columns, struct bytes *item);

#endif
