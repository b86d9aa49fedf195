/*
 * fileinfo.h - the file info block: names and values (README.md 7)
 *
 *   "PBUF" | varint length | message { repeated 1: { 1: name, 2: value } }
 */
#ifndef SALTMILL_HFILE_FILEINFO_H
#define SALTMILL_HFILE_FILEINFO_H

#include "bytes.h"
#include "error.h"

/* Entries are added in the order of their names, as HBase writes them. */
void hinfo_put(struct buf *message, const char *name, struct bytes value);
void hinfo_put_be32(struct buf *message, const char *name, uint32_t v);
void hinfo_put_be64(struct buf *message, const char *name, uint64_t v);
/* HBase's booleans: FF and 00. */
void hinfo_put_bool(struct buf *message, const char *name, bool v);
/* Append the payload around a message. */
void hinfo_wrap(struct buf *payload, struct bytes message);

struct hinfo_entry {
	struct bytes key, value;
};

/* Owns a copy of the payload. */
struct hinfo {
	struct buf payload;
	struct hinfo_entry *entry;
	size_t count;
};
int hinfo_parse(struct hinfo *h, struct bytes payload, struct error *err);
bool hinfo_get(const struct hinfo *h, const char *name, struct bytes *value);
void hinfo_release(struct hinfo *h);

#endif
