/*
 * sniff.h - a file nobody described becomes a job that loads it
 *
 * Implemented in pipeline/advise/init.  Nothing but the file's bytes decides: the same file gives the
 * same job.  What the bytes do not tell is not guessed but said in a comment.
 */
#ifndef SALTMILL_SNIFF_H
#define SALTMILL_SNIFF_H

#include "bytes.h"
#include "error.h"

/*
 * Append the job for a file of delimited text, plain lines or a JSON object a line, packed or not,
 * or for one of Avro or Arrow, whose schema gives the types, as YAML with comments; name: how the
 * job is to name it.  Of a file of more than 64 MiB (decoded) the rest is not looked at, which a
 * comment says.  RC_DATA: it is none of these, or empty.
 */
int sniff_file(const char *file, const char *name, struct buf *yaml, struct error *err);

#endif
