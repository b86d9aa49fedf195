/* bar.h - writes bars and durations as text (inside pipeline/cli/text only) */
#ifndef SALTMILL_SHOW_BAR_H
#define SALTMILL_SHOW_BAR_H

#include "bytes.h"

/*
 * Appends a bar of length share (0..1) times `most`. Uses block characters if the locale (LC_ALL,
 * LC_CTYPE, LANG) names UTF-8, else '#'.
 */
void put_share_bar(struct buf *out, double share, int most);

/* Appends a duration: "8 s", "12 min", "3.5 h". */
void put_age(struct buf *out, double seconds);

#endif
