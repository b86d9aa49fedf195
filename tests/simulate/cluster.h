/* cluster.h - the simulated table (cluster.c) and the calls to its servers (cluster_calls.c) */
#ifndef SALTMILL_SIM_CLUSTER_H
#define SALTMILL_SIM_CLUSTER_H

#include "bytes.h"
#include "sim.h"

enum { REGIONS = 60, FILES = 8, LATE = 40, LOADED = 3000, SERVERS = 3, CREATE_MS = 3000 };
#define STAGING "/hbase/staging"
#define DATA	"/hbase/data/default/t"
#define ARCHIVE "/hbase/archive/data/default/t"
#define LATE_NS (120 * SIM_S)

struct region {
	char start[40], end[40], encoded[40], name[120];
	int server;    /* -1: none */
	bool parent;   /* it was split */
	int64_t opens; /* the server serves no request before this time */
};

/* A call that a server has received, and will carry out or drop. */
struct late_call {
	bool there;
	int64_t at;
	char region[40], token[200];
	int n;
	char path[FILES][400];
};

struct cluster {
	bool exists;
	int64_t created_at, down_until[SERVERS];
	uint64_t nonce[2];
	uint8_t *schema;
	size_t schema_len, nregions, nloaded;
	struct region region[REGIONS];
	struct late_call late[LATE];
	uint64_t made;
	struct {
		uint8_t *data;
		size_t size;
		const char *path;
	} loaded[LOADED];
};

void cluster_make_region(const char *start, const char *end);
struct region *cluster_region(struct bytes name);
/* Do a bulk load. Return false if the call did nothing. */
bool cluster_do(const struct late_call *l);
/*
 * Interrupt a bulk load. Then the first file is in the table or in the staging folder. The others
 * are in the staging folder or untouched.
 */
void cluster_do_half(const struct late_call *l, bool first_in);

#endif
