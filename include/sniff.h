/*
 * sniff.h - inspect a file and write a commented job for it
 *
 *   sniff_file
 *
 * Implemented in pipeline/advise/init. Only the file's bytes decide: the same file gives the same
 * job. Where the bytes do not suffice, a comment in the job says so instead of guessing.
 */
#ifndef SALTMILL_SNIFF_H
#define SALTMILL_SNIFF_H

#include "bytes.h"
#include "error.h"

/*
 * Append a job for a file as YAML with comments; name: the file's name in the job. The file is
 * delimited text, plain lines or a JSON object in each line, compressed or not; or Avro or Arrow,
 * whose schema gives the types. At most 64 MiB (decoded) are read; a comment says so. RC_DATA: none
 * of these formats, or empty.
 */
int sniff_file(const char *file, const char *name, struct buf *yaml, struct error *err);

#endif
