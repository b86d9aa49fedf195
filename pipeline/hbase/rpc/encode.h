/*
 * encode.h - the requests to HBase's servers (package hbase.pb), apart from the calls
 */
#ifndef SALTMILL_CLUSTER_ENCODE_H
#define SALTMILL_CLUSTER_ENCODE_H

#include "hbase.h"

/* TableName as a field: of "ns:table" or "table". */
void put_table_name(struct buf *b, unsigned field, const char *table);
/* TableSchema as a field. */
void put_schema(struct buf *b, unsigned field, const char *table, const struct description *d);
/* CreateTableRequest. */
void put_create(struct buf *b, const char *table, const struct description *d,
		const struct splits *s, const uint64_t nonce[2]);
/* RegionSpecifier as a field: by the whole name. */
void put_region(struct buf *b, unsigned field, struct bytes name);
/* PrepareBulkLoadRequest, BulkLoadHFileRequest, CleanupBulkLoadRequest. */
void put_prepare(struct buf *b, const char *table, struct bytes region);
void put_bulk_load(struct buf *b, struct bytes region, const char *token,
		   const struct hbase_family_file *files, size_t nfiles);
void put_cleanup(struct buf *b, struct bytes region, const char *token);
/*
 * ScanRequest: the first of a scan, one that follows (limit: rows that are still wanted, 0: all),
 * one that only says that another will, the last.
 */
void put_scan_open(struct buf *b, struct bytes region, const struct hbase_scan *scan);
void put_scan_next(struct buf *b, uint64_t scanner, uint32_t rows, uint64_t sequence,
		   uint64_t limit);
void put_scan_renew(struct buf *b, uint64_t scanner, uint64_t sequence);
void put_scan_close(struct buf *b, uint64_t scanner);
/*
 * Filter as a field.  Of the kinds that saltmill lets servers do: lists, SINGLE_COLUMN_VALUE, ROW,
 * KEY_ONLY, COLUMN_PAGINATION, FUZZY_ROW and MULTI_ROW_RANGE, with the comparators BINARY,
 * BINARY_PREFIX and COMPONENT.
 */
void put_filter(struct buf *b, unsigned field, const struct filter *f);
/* The rows of hbase:meta with the table's regions: from start, before stop; the caller's. */
void meta_range(const char *table, char **start, char **stop);

#endif
