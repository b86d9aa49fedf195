/* encode.h - the requests to HBase's servers (package hbase.pb), without the RPC frames */
#ifndef SALTMILL_CLUSTER_ENCODE_H
#define SALTMILL_CLUSTER_ENCODE_H

#include "hbase.h"

/* Append a TableName field, from "ns:table" or "table". */
void put_table_name(struct buf *b, unsigned field, const char *table);
/* Append a TableSchema field. */
void put_schema(struct buf *b, unsigned field, const char *table, const struct description *d);
/* Append a CreateTableRequest. */
void put_create(struct buf *b, const char *table, const struct description *d,
		const struct splits *s, const uint64_t nonce[2]);
/* Append a DisableTableRequest or a DeleteTableRequest, which have the same fields. */
void put_table_change(struct buf *b, const char *table, const uint64_t nonce[2]);
/* Append a GetTableDescriptorsRequest for all tables that match `regex`; NULL matches all. */
void put_table_query(struct buf *b, const char *regex);
/* Append a RegionSpecifier field with the region's full name. */
void put_region(struct buf *b, unsigned field, struct bytes name);
/* Append a PrepareBulkLoadRequest, BulkLoadHFileRequest or CleanupBulkLoadRequest. */
void put_prepare(struct buf *b, const char *table, struct bytes region);
void put_bulk_load(struct buf *b, struct bytes region, const struct hbase_bulk *load);
/* The right of a user to load into a table, or to create it in its namespace. NULL: the caller's right. */
void put_right_query(struct buf *b, const char *user, const char *table, bool exists);
/* Append a MultiRequest that puts cells, each into its own row, with the time of the server. */
void put_mutations(struct buf *b, struct bytes region, const struct cell *cells, size_t n);
/* Read a MultiResponse. Returns RC_IO for the first exception, which `*why` describes. */
int mutations_read(struct bytes message, struct hbase_failure *why, struct error *err);
void put_cleanup(struct buf *b, struct bytes region, const char *token);
/*
 * Append a ScanRequest. put_scan_open makes the first request of a scan, and put_scan_next each
 * following request. `limit` is the number of rows that remain to read. If `limit` is 0, the scan
 * reads all rows. The other functions extend the lease and close the scan.
 */
void put_scan_open(struct buf *b, struct bytes region, const struct hbase_scan *scan);
void put_scan_next(struct buf *b, uint64_t scanner, uint32_t rows, uint64_t sequence,
		   uint64_t limit);
void put_scan_renew(struct buf *b, uint64_t scanner, uint64_t sequence);
void put_scan_close(struct buf *b, uint64_t scanner);
/*
 * Append a Filter field. saltmill sends only lists, SINGLE_COLUMN_VALUE, ROW, KEY_ONLY,
 * COLUMN_PAGINATION, FUZZY_ROW and MULTI_ROW_RANGE to servers. Their comparators are BINARY,
 * BINARY_PREFIX and COMPONENT.
 */
void put_filter(struct buf *b, unsigned field, const struct filter *f);
/*
 * Get the range [start, stop) of row keys of hbase:meta with the table's regions. The caller owns
 * both texts.
 */
void meta_range(const char *table, char **start, char **stop);

#endif
