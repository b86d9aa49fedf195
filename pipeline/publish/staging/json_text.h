/*
 * json_text.h - bytes as JSON, within this room
 */
#ifndef SALTMILL_PUBLISH_JSON_TEXT_H
#define SALTMILL_PUBLISH_JSON_TEXT_H

#include <jansson.h>

#include "bytes.h"

/* A JSON string; bytes that are not UTF-8 become \xHH.  NULL: out of memory. */
json_t *text_json(struct bytes v);
void text_base64(struct buf *out, struct bytes v);
/* Append the JSON text; false: out of memory. */
bool text_dump(struct buf *out, const json_t *json, size_t flags);

#endif
