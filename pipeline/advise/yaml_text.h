/* yaml_text.h - write texts as YAML scalars (inside this wing only) */
#ifndef SALTMILL_YAML_TEXT_H
#define SALTMILL_YAML_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

/* Write text as a YAML scalar. The scalar is plain if that is safe. */
void put_yaml(struct buf *out, struct bytes text);
void put_text(struct buf *out, const char *text);
/*
 * Return the length in bytes of the character at `p` if YAML must escape it. Return 0 if it needs
 * no escape.
 */
size_t yaml_unprintable(const uint8_t *p, const uint8_t *end, uint32_t *code);

#endif
