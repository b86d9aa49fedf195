/* bar.h - writes bars and durations as text (inside pipeline/cli/text only) */
#ifndef SALTMILL_SHOW_BAR_H
#define SALTMILL_SHOW_BAR_H

#include "bytes.h"

/*
 * Appends a bar of length `share` (0..1) times `most`. The bar consists of block characters if the
 * locale (LC_ALL, LC_CTYPE, LANG) is UTF-8, and of '#' in other locales.
 */
void put_share_bar(struct buf *out, double share, int most);

/* Appends one character, which is denser for a larger share (0..1). A share of 0 is a space. */
void put_shade(struct buf *out, double share);

/* Appends a duration such as "8 s", "12 min" or "3.5 h". */
void put_age(struct buf *out, double seconds);

#endif
