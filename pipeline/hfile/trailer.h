/*
 * trailer.h - the last 4096 bytes of an HFile, in version 2 the last 212 (README.md 8)
 *
 *   "TRABLK\"$" | varint length | FileTrailerProto | zeros | i8 minor version | i24 major version
 */
#ifndef SALTMILL_HFILE_TRAILER_H
#define SALTMILL_HFILE_TRAILER_H

#include "hfile.h"

/* The length of the trailer of version 3, which saltmill writes. No trailer is longer. */
#define HTRAILER_MINOR 3
#define HTRAILER_BYTES HFILE_TRAILER_BYTES
/* The comparator that every HBase since 1.x accepts. */
#define HTRAILER_COMPARATOR "org.apache.hadoop.hbase.KeyValue$KVComparator"

void hfile_trailer_put(const struct hfile_trailer *t, uint8_t out[HTRAILER_BYTES]);
/*
 * Parse the end of a file. `tail` has the last HTRAILER_BYTES of the file, or the whole file if the
 * file is shorter. Returns RC_DATA if the file is an older HFile, a truncated HFile or another
 * file. The message names the case.
 */
int hfile_trailer_parse(struct hfile_trailer *t, struct bytes tail, struct error *err);

#endif
