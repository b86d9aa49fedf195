/*
 * decode.h - read the answers of HBase's servers (package hbase.pb)
 *
 * Results borrow from the message, except in functions with an arena. Functions return RC_DATA if
 * the bytes are not the expected message.
 */
#ifndef SALTMILL_CLUSTER_DECODE_H
#define SALTMILL_CLUSTER_DECODE_H

#include "hbase.h"

/* Read field 1, a text or a number, of GetClusterIdResponse and similar messages. */
int decode_bytes(struct bytes message, struct bytes *out, struct error *err);
int decode_number(struct bytes message, uint64_t *out, struct error *err);
/* Read a ServerName. */
int decode_server(struct bytes message, struct hbase_place *out, struct error *err);
/* Read a GetClusterStatusResponse. `*s` must be empty. */
struct hbase_status;
int decode_status(struct bytes message, struct hbase_status *s, struct error *err);
/* Read a ListReplicationPeersResponse, as hbase_peers describes. */
int decode_peers(struct bytes message, struct arena *a, const char **out, struct error *err);
/* Read the token in a CoprocessorServiceResponse with a GetAuthenticationTokenResponse. */
struct hadoop_token;
int decode_token(struct bytes message, struct arena *a, struct hadoop_token *out,
		 struct error *err);
/* Read a GetActiveMasterResponse. */
int decode_master(struct bytes message, struct hbase_place *out, struct error *err);
/* Read the address of the first replica from a GetMetaRegionLocationsResponse. */
int decode_meta_place(struct bytes message, struct hbase_place *out, struct error *err);
/* Read the MetaRegionServer in ZooKeeper's node. Returns RC_IO if no server has hbase:meta open. */
int decode_meta_node(struct bytes message, struct hbase_place *out, struct error *err);
/*
 * Parse "host:port", from a user or info:server. `port` is the default port. If `port` is 0, the
 * text must have a port.
 */
bool place_read(struct bytes text, uint16_t port, struct hbase_place *out);

struct region_info {
	struct bytes space, table, start, end;
	uint64_t id;
	bool offline, split;
	int32_t replica;
};
int decode_region_info(struct bytes message, struct region_info *out, struct error *err);
/* Return the encoded name of the region, its folder's name (RegionInfo.encodeRegionName). */
struct bytes decode_region_name(const struct region_info *info, struct arena *a);
/* Read a TableSchema: its attributes and families, or its name. */
int decode_schema(struct bytes message, struct description *out, struct arena *a,
		  struct error *err);
int decode_schema_name(struct bytes schema, const char **out, struct arena *a, struct error *err);
/* Read a GetTableDescriptorsResponse with at most one table into the arena. */
int decode_table(struct bytes message, struct description *out, struct arena *a, bool *exists,
		 struct error *err);
/*
 * Read the names of all tables of a GetTableDescriptorsResponse, in the server's order. *out must
 * be empty.
 */
int decode_table_names(struct bytes message, struct hbase_tables *out, struct error *err);
/* Return "ns:table", or "table" in the default namespace, in the arena. */
const char *decode_table_name(struct arena *a, struct bytes space, struct bytes table);
/* Read a GetTableStateResponse. */
int decode_table_state(struct bytes message, enum hbase_table_state *out, struct error *err);

enum procedure_state { PROCEDURE_NOT_FOUND, PROCEDURE_RUNNING, PROCEDURE_FINISHED };
/* Read a GetProcedureResultResponse. Returns RC_IO for a failed procedure (exception_tell). */
int decode_procedure(struct bytes message, enum procedure_state *state, struct hbase_failure *why,
		     struct error *err);

struct scan_answer {
	uint64_t scanner;
	bool has_scanner, last; /* `last` is true if the region has no more rows */
	uint64_t lease_ms;	/* 0 means unknown */
};
int decode_scan(struct bytes message, struct scan_answer *out, struct error *err);
/* Take the next cell from a block of KeyValueCodec. Returns RC_END after the last cell. */
int decode_cell(struct bytes *block, struct cell *out, struct error *err);

/* Collects regions from the cells of hbase:meta. The cells must be in order. */
struct meta_rows {
	struct hbase_regions *out;
	struct bytes row; /* in the arena of `out` */
	struct region_info info;
	bool has_info;
	struct hbase_place place;
};
int meta_take(void *rows, const struct cell *c, struct error *err);
/*
 * Finish after the last cell, and sort the regions by start key. Returns RC_DATA if the regions
 * have a gap or overlap. Returns RC_END if there are no regions.
 */
int meta_finish(struct meta_rows *rows, struct error *err);

#endif
