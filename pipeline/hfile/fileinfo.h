/*
 * fileinfo.h - the file info block: names and values (README.md 7)
 *
 *   "PBUF" | varint length | message { repeated 1: { 1: name, 2: value } }
 */
#ifndef SALTMILL_HFILE_FILEINFO_H
#define SALTMILL_HFILE_FILEINFO_H

#include "bytes.h"
#include "error.h"

/*
 * Entries are added in the order of their names, as HBase writes them, to a buffer that has room
 * for HINFO_ENTRY_BYTES more than name and value take.
 */
#define HINFO_ENTRY_BYTES 32
void hfile_info_put(struct buf *message, const char *name, struct bytes value);
void hfile_info_put_be32(struct buf *message, const char *name, uint32_t v);
void hfile_info_put_be64(struct buf *message, const char *name, uint64_t v);
/* HBase's booleans: FF and 00. */
void hfile_info_put_bool(struct buf *message, const char *name, bool v);
/* Append the payload around a message; there is room for HINFO_ENTRY_BYTES more. */
void hfile_info_wrap(struct buf *payload, struct bytes message);

struct hinfo_entry {
	struct bytes key, value;
};

/* Owns a copy of the payload. */
struct hinfo {
	struct buf payload;
	struct hinfo_entry *entry;
	size_t count;
};
int hfile_info_parse(struct hinfo *h, struct bytes payload, struct error *err);
bool hfile_info_find(const struct hinfo *h, const char *name, struct bytes *value);
void hfile_info_release(struct hinfo *h);

#endif
