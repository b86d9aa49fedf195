/*
 * trailer.h - the last 4096 bytes of an HFile (README.md 8)
 *
 *   "TRABLK\"$" | varint length | FileTrailerProto | zeros | version word 03 00 00 03
 */
#ifndef SALTMILL_HFILE_TRAILER_H
#define SALTMILL_HFILE_TRAILER_H

#include "hfile.h"

#define HTRAILER_MINOR 3
#define HTRAILER_BYTES HFILE_TRAILER_BYTES
/* Accepted by every HBase since 1.x. */
#define HTRAILER_COMPARATOR "org.apache.hadoop.hbase.KeyValue$KVComparator"

void hfile_trailer_put(const struct hfile_trailer *t, uint8_t out[HTRAILER_BYTES]);
/*
 * Parse the end of a file: tail has its last bytes (HTRAILER_BYTES, or the whole file if shorter).
 * RC_DATA says what the file is instead: an older HFile, a truncated one, or none.
 */
int hfile_trailer_parse(struct hfile_trailer *t, struct bytes tail, struct error *err);

#endif
