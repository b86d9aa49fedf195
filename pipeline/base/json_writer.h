/* json_writer.h - write JSON text piece by piece (only for pipeline/base) */
#ifndef SALTMILL_BASE_JSON_WRITER_H
#define SALTMILL_BASE_JSON_WRITER_H

#include "form.h"

struct json_writer {
	struct buf *out;
	enum form_style style;
	unsigned depth, digits;
	bool more; /* true if the innermost list or object has an item */
};

/* Start an item of a list by writing the comma and the line break before the item. */
void json_next(struct json_writer *w);
/* Start a member of an object by writing the key. */
void json_key(struct json_writer *w, const char *key);
/* Write a bracket. The bracket is '{' or '[' for json_open, and '}' or ']' for json_close. */
void json_open(struct json_writer *w, char bracket);
void json_close(struct json_writer *w, char bracket);
/* Write a value. */
void json_word(struct json_writer *w, const char *word);
void json_text(struct json_writer *w, struct bytes text);
void json_int(struct json_writer *w, int64_t v);
void json_float(struct json_writer *w, double v);

#endif
