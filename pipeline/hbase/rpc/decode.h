/*
 * decode.h - the answers of HBase's servers (package hbase.pb), taken apart
 *
 * Everything is borrowed from the message unless an arena is given.  RC_DATA: not such a message.
 */
#ifndef SALTMILL_CLUSTER_DECODE_H
#define SALTMILL_CLUSTER_DECODE_H

#include "hbase.h"

/* GetClusterIdResponse and others whose only field that counts is a text or number, field 1. */
int decode_bytes(struct bytes message, struct bytes *out, struct error *err);
int decode_number(struct bytes message, uint64_t *out, struct error *err);
/* ServerName. */
int decode_server(struct bytes message, struct hbase_place *out, struct error *err);
/* GetClusterStatusResponse; *s is empty before. */
struct hbase_status;
int decode_status(struct bytes message, struct hbase_status *s, struct error *err);
/* GetActiveMasterResponse. */
int decode_master(struct bytes message, struct hbase_place *out, struct error *err);
/* GetMetaRegionLocationsResponse: of the first replica. */
int decode_meta_place(struct bytes message, struct hbase_place *out, struct error *err);
/* MetaRegionServer of ZooKeeper's node; RC_IO: no server has hbase:meta open. */
int decode_meta_node(struct bytes message, struct hbase_place *out, struct error *err);
/* "host:port", as people and info:server write it; port: when none is said, 0: it must be. */
bool place_read(struct bytes text, uint16_t port, struct hbase_place *out);

struct region_info {
	struct bytes space, table, start, end;
	uint64_t id;
	bool offline, split;
	int32_t replica;
};
int decode_region_info(struct bytes message, struct region_info *out, struct error *err);
/* GetTableDescriptorsResponse with one table or none, in the arena. */
int decode_table(struct bytes message, struct description *out, struct arena *a, bool *exists,
		 struct error *err);
/* GetTableStateResponse. */
int decode_table_state(struct bytes message, enum hbase_table_state *out, struct error *err);

enum procedure_state { PROCEDURE_NOT_FOUND, PROCEDURE_RUNNING, PROCEDURE_FINISHED };
/* GetProcedureResultResponse; one that failed is RC_IO, by exception_tell. */
int decode_procedure(struct bytes message, enum procedure_state *state, struct hbase_failure *why,
		     struct error *err);

struct scan_answer {
	uint64_t scanner;
	bool has_scanner, last; /* last: nothing more in this region */
	uint64_t lease_ms;	/* 0: not told */
};
int decode_scan(struct bytes message, struct scan_answer *out, struct error *err);
/* The next cell of a block of KeyValueCodec; RC_END: there is none. */
int decode_cell(struct bytes *block, struct cell *out, struct error *err);

/* hbase:meta's cells, in order, become regions. */
struct meta_rows {
	struct hbase_regions *out;
	size_t cap;
	struct bytes row; /* in the arena of out */
	struct region_info info;
	bool has_info;
	struct hbase_place place;
};
int meta_take(void *rows, const struct cell *c, struct error *err);
/*
 * Behind the last cell: all regions by start key.  RC_DATA: they leave a hole or overlap.  RC_END:
 * there are none.
 */
int meta_finish(struct meta_rows *rows, struct error *err);

#endif
