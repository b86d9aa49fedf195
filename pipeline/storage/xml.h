/*
 * xml.h - the text of elements of an XML document, as S3 and Hadoop write it
 *
 * The documents of both have flat records, so the functions build no tree.
 */
#ifndef SALTMILL_XML_H
#define SALTMILL_XML_H

#include <stdbool.h>

#include "bytes.h"

/*
 * Copy the text of the first element after `*at`, such as "<Key>", and a NUL. Advances *at, or returns
 * false.
 */
bool xml_element(const char **at, const char *open, struct buf *out);

#endif
