/*
 * status.c - the master's view of its cluster (ClusterStatus.proto)
 *
 * Each time is from the clock of the server that reports the time.
 */
#include <stdlib.h>

#include "decode.h"
#include "pb.h"
#include "hbase.h"
#include "session.h"

/* Values of the enum Option, which select the requested parts. */
enum { ASK_VERSION = 0, ASK_LIVE = 2, ASK_DEAD = 3, ASK_TRANSITIONS = 7 };
enum { STATUS_VERSION = 1, STATUS_LIVE = 2, STATUS_DEAD = 3, STATUS_TRANSITIONS = 4 };
enum { LIVE_SERVER = 1, LIVE_LOAD = 2 };
enum { LOAD_REGIONS = 5, LOAD_END = 8 };
enum {
	REGION_SPEC = 1,
	REGION_STORES = 2,
	REGION_FILES = 3,
	REGION_MIB = 5,
	REGION_READS = 8,
	REGION_WRITES = 9,
	REGION_TO_COMPACT = 10,
	REGION_COMPACTED = 11
};
enum { SPEC_VALUE = 2 };
enum { SERVER_START_CODE = 3 };
enum { TRANSITION_STATE = 2 };
enum { STATE_INFO = 1, STATE_WORD = 2, STATE_STAMP = 3 };

static int read_version(struct bytes m, struct hbase_status *s, struct error *err)
{
	struct bytes text;
	int rc = decode_bytes(m, &text, err);

	if (rc == RC_OK)
		s->version = (const char *)arena_bytes(&s->arena, text).ptr;
	return rc;
}

static int read_region_load(struct bytes m, struct hbase_status *s, struct error *err)
{
	struct pb_field f, g;
	struct hbase_store_files one = {.server = s->nservers};
	struct bytes spec = {0};
	uint64_t to_compact = 0, compacted = 0;
	int rc;

	while ((rc = pb_next(&m, &f, err)) == RC_OK) {
		switch (f.number) {
		case REGION_SPEC: spec = f.bytes; break;
		case REGION_STORES: one.families = (uint32_t)f.value; break;
		case REGION_FILES: one.files = (uint32_t)f.value; break;
		case REGION_MIB: one.mib = f.value; break;
		case REGION_READS: one.reads = f.value; break;
		case REGION_WRITES: one.writes = f.value; break;
		case REGION_TO_COMPACT: to_compact = f.value; break;
		case REGION_COMPACTED: compacted = f.value; break;
		default: break;
		}
	}
	while (rc == RC_END && (rc = pb_next(&spec, &g, err)) == RC_OK) {
		if (g.number == SPEC_VALUE)
			one.region = g.bytes;
		rc = RC_END;
	}
	if (rc != RC_END)
		return rc;
	one.region = arena_bytes(&s->arena, one.region);
	one.to_compact = to_compact > compacted ? to_compact - compacted : 0;
	s->stores = arena_grow(&s->arena, s->stores, s->nstores, sizeof one);
	s->stores[s->nstores++] = one;
	return RC_OK;
}

static int read_load(struct bytes m, struct hbase_status *s, struct hbase_server *server,
		     struct error *err)
{
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&m, &f, err)) == RC_OK) {
		if (f.number == LOAD_END)
			server->reported_ms = (int64_t)f.value;
		else if (f.number == LOAD_REGIONS)
			rc = read_region_load(f.bytes, s, err);
		if (rc)
			return rc;
	}
	return rc == RC_END ? RC_OK : rc;
}

static int read_server(struct bytes m, struct hbase_server *server, struct error *err)
{
	struct pb_field f;
	int rc = decode_server(m, &server->place, err);

	while (rc == RC_OK && (rc = pb_next(&m, &f, err)) == RC_OK)
		if (f.number == SERVER_START_CODE)
			server->start_code = f.value;
	return rc == RC_END ? RC_OK : rc;
}

static int read_live(struct bytes m, struct hbase_status *s, struct error *err)
{
	struct pb_field f;
	struct hbase_server one = {0};
	int rc, found = RC_OK;

	while ((rc = pb_next(&m, &f, err)) == RC_OK && found == RC_OK) {
		if (f.number == LIVE_SERVER)
			found = read_server(f.bytes, &one, err);
		else if (f.number == LIVE_LOAD)
			found = read_load(f.bytes, s, &one, err);
	}
	if (found || rc != RC_END)
		return found ? found : rc;
	s->servers = arena_grow(&s->arena, s->servers, s->nservers, sizeof one);
	s->servers[s->nservers++] = one;
	return RC_OK;
}

static int read_transition(struct bytes m, struct hbase_status *s, struct error *err)
{
	static const char *const words[] = {
		"OFFLINE",	 "PENDING_OPEN",  "OPENING",	  "OPEN",
		"PENDING_CLOSE", "CLOSING",	  "CLOSED",	  "SPLITTING",
		"SPLIT",	 "FAILED_OPEN",	  "FAILED_CLOSE", "MERGING",
		"MERGED",	 "SPLITTING_NEW", "MERGING_NEW",  "ABNORMALLY_CLOSED"};
	struct pb_field f;
	struct bytes state = {0};
	struct hbase_transition one = {.state = "unknown"};
	int rc;

	while ((rc = pb_next(&m, &f, err)) == RC_OK)
		if (f.number == TRANSITION_STATE)
			state = f.bytes;
	while (rc == RC_END && (rc = pb_next(&state, &f, err)) == RC_OK) {
		rc = RC_END;
		if (f.number == STATE_STAMP) {
			one.since_ms = (int64_t)f.value;
		} else if (f.number == STATE_WORD) {
			if (f.value < sizeof words / sizeof *words)
				one.state = words[f.value];
		} else if (f.number == STATE_INFO) {
			struct region_info info;
			int bad = decode_region_info(f.bytes, &info, err);

			if (bad)
				return bad;
			one.table = decode_table_name(&s->arena, info.space, info.table);
			one.region = arena_bytes(&s->arena, info.start);
		}
	}
	if (rc != RC_END)
		return rc;
	s->transitions = arena_grow(&s->arena, s->transitions, s->ntransitions, sizeof one);
	s->transitions[s->ntransitions++] = one;
	return RC_OK;
}

static int by_region(const void *a, const void *b)
{
	return bytes_cmp(((const struct hbase_store_files *)a)->region,
			 ((const struct hbase_store_files *)b)->region);
}

int decode_status(struct bytes message, struct hbase_status *s, struct error *err)
{
	struct pb_field f;
	struct bytes status;
	int rc = decode_bytes(message, &status, err);

	while (rc == RC_OK && (rc = pb_next(&status, &f, err)) == RC_OK) {
		switch (f.number) {
		case STATUS_VERSION: rc = read_version(f.bytes, s, err); break;
		case STATUS_LIVE: rc = read_live(f.bytes, s, err); break;
		case STATUS_DEAD: s->dead++; break;
		case STATUS_TRANSITIONS: rc = read_transition(f.bytes, s, err); break;
		default: break;
		}
	}
	if (rc != RC_END)
		return rc;
	if (s->nstores)
		qsort(s->stores, s->nstores, sizeof *s->stores, by_region);
	return RC_OK;
}

int hbase_status(struct hbase *h, struct hbase_status *out, struct hbase_failure *why,
		 struct error *err)
{
	static const unsigned asked[] = {ASK_VERSION, ASK_LIVE, ASK_DEAD, ASK_TRANSITIONS};
	struct buf b = {0};
	struct rpc_answer answer;

	*out = (struct hbase_status){.version = ""};
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
		pb_uint(&b, 1, asked[i]);
	int rc = session_call_master(h, "GetClusterStatus", &b, &answer, why, err);
	buf_release(&b);
	if (rc)
		return rc;
	rc = decode_status(answer.message, out, err);
	if (rc)
		why->trouble = TROUBLE_REFUSED;
	rpc_answer_release(&answer);
	return rc;
}

void hbase_status_release(struct hbase_status *s)
{
	arena_release(&s->arena);
	*s = (struct hbase_status){0};
}

const struct hbase_store_files *hbase_status_stores(const struct hbase_status *s,
						    struct bytes region)
{
	const struct hbase_store_files key = {.region = region};

	return s->nstores ? bsearch(&key, s->stores, s->nstores, sizeof key, by_region) : NULL;
}
