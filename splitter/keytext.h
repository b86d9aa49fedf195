/* keytext.h - keys in the form that HBase prints */
#ifndef SALTMILL_SPLITTER_KEYTEXT_H
#define SALTMILL_SPLITTER_KEYTEXT_H

#include "bytes.h"
#include "error.h"

/* Take the next line, without \n or \r\n; text moves past it. */
struct bytes keytext_line(struct bytes *text);
/*
 * Append the key of a line, parsed as the shell does. RC_DATA, with the column: the shell would
 * read another key than the text shows.
 */
int keytext_parse(struct buf *key, struct bytes line, struct error *err);

#endif
