/*
 * keytext.h - keys as HBase prints them, within this room
 */
#ifndef SALTMILL_SPLITTER_KEYTEXT_H
#define SALTMILL_SPLITTER_KEYTEXT_H

#include "bytes.h"
#include "error.h"

/* The next line without \n or \r\n; moves text behind it. */
struct bytes keytext_line(struct bytes *text);
/*
 * Append the key that line says, read as the shell would; RC_DATA, with the column, for what the
 * shell would take for something else than it looks.
 */
int keytext_parse(struct buf *key, struct bytes line, struct error *err);

#endif
