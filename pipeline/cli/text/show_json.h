/* show_json.h - JSON made here, as text */
#ifndef SALTMILL_SHOW_JSON_H
#define SALTMILL_SHOW_JSON_H

#include <jansson.h>

#include "bytes.h"
#include "lint.h"

/* A string of any bytes, as names of files are; those that are not UTF-8 become \xHH. */
json_t *show_string(const char *text);

/* HBase's \xHH text of bytes. */
json_t *show_escaped(struct bytes v);

/* Append one, quoted. */
void show_json_text(struct buf *out, struct bytes text);

/* What lint found, as `lint --json` has it. */
json_t *show_findings(const struct lint *l);

/* The same of any bytes, those that are not UTF-8 as \xHH: what a terminal obeys is \uHHHH. */
void show_json_value(struct buf *out, struct bytes v);
/* The same of HBase's \xHH text of bytes. */
void show_json_escaped(struct buf *out, struct bytes v);

/* Append v and a line end to out, in the form of jansson's flags; v is released. */
void show_json(struct buf *out, json_t *v, size_t flags);

#endif
