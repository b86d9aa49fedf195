/*
 * fileinfo.h - encode and decode the file info block, which has names and values (README.md 7)
 *
 *   "PBUF" | varint length | message { repeated 1: { 1: name, 2: value } }
 */
#ifndef SALTMILL_HFILE_FILEINFO_H
#define SALTMILL_HFILE_FILEINFO_H

#include "bytes.h"
#include "error.h"

/*
 * The caller adds entries in the order of their names, as HBase does. The buffer must have room for
 * name, value and HINFO_ENTRY_BYTES more.
 */
#define HINFO_ENTRY_BYTES 32
void hfile_info_put(struct buf *message, const char *name, struct bytes value);
void hfile_info_put_be32(struct buf *message, const char *name, uint32_t v);
void hfile_info_put_be64(struct buf *message, const char *name, uint64_t v);
/* Add a boolean in HBase's form, which is FF or 00. */
void hfile_info_put_bool(struct buf *message, const char *name, bool v);
/* Append the payload around a message. The buffer must have room for HINFO_ENTRY_BYTES more. */
void hfile_info_wrap(struct buf *payload, struct bytes message);

struct hinfo_entry {
	struct bytes key, value;
};

/* The entries of a file info block. The struct owns a copy of the payload. */
struct hinfo {
	struct buf payload;
	struct hinfo_entry *entry;
	size_t count;
};
int hfile_info_parse(struct hinfo *h, struct bytes payload, struct error *err);
bool hfile_info_find(const struct hinfo *h, const char *name, struct bytes *value);
void hfile_info_release(struct hinfo *h);

#endif
