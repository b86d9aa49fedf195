/* keytext.h - keys in the form that HBase prints */
#ifndef SALTMILL_SPLITTER_KEYTEXT_H
#define SALTMILL_SPLITTER_KEYTEXT_H

#include "bytes.h"
#include "error.h"

/* Take the next line, without \n or \r\n, and move *text to the following line. */
struct bytes keytext_line(struct bytes *text);
/*
 * Append the key of a line, parsed as in the shell. Returns RC_DATA, with the column, if the shell
 * would read the line as another key.
 */
int keytext_parse(struct buf *key, struct bytes line, struct error *err);

#endif
