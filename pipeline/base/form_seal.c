/* form_seal.c - see form_seal.h */
#include "form_seal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "mem.h"

/* Digest all members of the object. The layout of its text has no effect. */
static void digest(const json_t *object, char hex[FORM_SEAL_DIGITS + 1])
{
	XXH128_canonical_t sum;
	struct buf b = {0};
	char *text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);

	assert(text);
	XXH128_canonicalFromHash(&sum, XXH3_128bits(text, strlen(text)));
	bytes_hex(&b, bytes_of(sum.digest, sizeof sum.digest));
	memcpy(hex, b.ptr, FORM_SEAL_DIGITS);
	hex[FORM_SEAL_DIGITS] = 0;
	buf_release(&b);
	free(text);
}

void form_seal_text(struct bytes text, char hex[FORM_SEAL_DIGITS + 1])
{
	json_t *object = json_loadb((const char *)text.ptr, text.len, JSON_ALLOW_NUL, NULL);

	digest(object, hex);
	json_decref(object);
}

bool form_seal_holds(json_t *object, bool old)
{
	char hex[FORM_SEAL_DIGITS + 1];
	json_t *kept = json_incref(json_object_get(object, FORM_SEAL_KEY));
	bool holds = old && !kept;

	if (json_is_string(kept)) {
		json_object_del(object, FORM_SEAL_KEY);
		digest(object, hex);
		holds = strcmp(json_string_value(kept), hex) == 0;
	}
	json_decref(kept);
	return holds;
}
