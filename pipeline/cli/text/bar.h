/* bar.h - bars of text, and times in words, within this room */
#ifndef SALTMILL_SHOW_BAR_H
#define SALTMILL_SHOW_BAR_H

#include "bytes.h"

/*
 * Append a bar that is share (0..1) of `most` long: of blocks where the locale says that the
 * terminal knows UTF-8 (LC_ALL, LC_CTYPE, LANG), else of '#'.
 */
void put_share_bar(struct buf *out, double share, int most);

/* Append "8 s", "12 min", "3.5 h". */
void put_age(struct buf *out, double seconds);

#endif
