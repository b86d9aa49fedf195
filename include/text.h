/*
 * text.h - UTF-8, and bytes of strangers as text for people
 *
 * The one place that knows which bytes are UTF-8 (Unicode 15, table 3-7).
 */
#ifndef SALTMILL_TEXT_H
#define SALTMILL_TEXT_H

#include "bytes.h"

/*
 * The character at the start of s (not empty); returns its length in bytes.  Malformed UTF-8 gives
 * U+FFFD and the length of the maximal ill-formed subpart (Unicode 3.9, as Java decodes).
 */
size_t utf8_decode(struct bytes s, uint32_t *code);
/* Bytes of the well-formed character at p, which is before end; 0: there is none. */
size_t utf8_char(const uint8_t *p, const uint8_t *end);

/* Append v as UTF-8: bytes that are none as \xHH, all others as they are. */
void text_utf8(struct buf *b, struct bytes v);
/*
 * Append v as one line that a terminal shows and does not obey: as text_utf8, and \xHH also for
 * the bytes of controls (C0, DEL, C1), line separators and marks that turn the writing around.
 */
void text_visible(struct buf *b, struct bytes v);
/* Several lines of that: line feeds stay. */
void text_lines(struct buf *b, struct bytes v);
/* JSON text, in which what a terminal obeys becomes \uHHHH; its writer sees to C0. */
void text_harmless_json(struct buf *b, struct bytes json);
/* text_visible into out, shortened to max bytes and "..."; out holds max + 4. */
void text_quote(char *out, size_t max, struct bytes v);

#endif
