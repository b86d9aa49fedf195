/* cluster_calls.c - connections to the simulated cluster, in place of hbase/rpc/rpc.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "hbase/rpc/frames.h"
#include "hbase/rpc/pb.h"
#include "hbase/rpc/rpc.h"
#include "io.h"
#include "mem.h"

static const char *const hosts[SERVERS] = {"hb1", "rs1", "rs2"};

/* --- connections --- */

struct rpc {
	int server;
	bool broken;
};

/* The simulated world has no tickets. The Kerberos library would keep memory of a history. */
int __wrap_login_ticket(struct login_ticket *out, struct error *err)
{
	(void)out;
	return error_set(err, RC_CONFIG, "found no ticket in the simulation");
}

static bool is_down(int server)
{
	return W->cluster->down_until[server] > W->now && !W->calm;
}

int rpc_connect(struct rpc **out, const struct hbase_place *at, const char *service,
		const struct rpc_user *user, int64_t patience_ms, struct hbase_failure *why,
		struct error *err)
{
	int server = 0;

	(void)service, (void)user, (void)patience_ms;
	*out = NULL;
	*why = (struct hbase_failure){0};
	sim_step("connect");
	while (server < SERVERS && strcmp(hosts[server], at->host) != 0)
		server++;
	if (server == SERVERS || is_down(server)) {
		why->trouble = TROUBLE_GONE;
		return error_set(err, RC_IO, "%s:%u: connect: Connection refused", at->host,
				 at->port);
	}
	*out = mem_calloc(1, sizeof **out);
	(*out)->server = server;
	return RC_OK;
}

void rpc_close(struct rpc *c)
{
	mem_free(c);
}

bool rpc_is_stale(const struct rpc *c)
{
	return c->broken || is_down(c->server);
}

bool rpc_is_broken(const struct rpc *c)
{
	return c->broken;
}

void rpc_answer_release(struct rpc_answer *a)
{
	buf_release(&a->frame);
	*a = (struct rpc_answer){0};
}

/* --- requests --- */

struct call {
	struct bytes message;
	struct buf answer, cells;
	const char *exception; /* NULL: none */
	bool lost;
	int server;
};

static struct bytes field(struct bytes message, unsigned number, uint64_t *value)
{
	struct pb_field f;
	struct bytes found = {0};
	struct error e;

	while (pb_next(&message, &f, &e) == RC_OK)
		if (f.number == number) {
			found = f.bytes;
			if (value)
				*value = f.value;
		}
	return found;
}

static void put_place(struct buf *b, unsigned number, int server)
{
	size_t at = pb_open(b, number);

	pb_text(b, 1, hosts[server]);
	pb_uint(b, 2, server ? 16020 : 16000);
	pb_uint(b, 3, 1);
	pb_close(b, at);
}

static void put_table(struct buf *b, unsigned number, const char *space, const char *name)
{
	size_t at = pb_open(b, number);

	pb_text(b, 1, space);
	pb_text(b, 2, name);
	pb_close(b, at);
}

static void answer_meta_place(struct call *c)
{
	size_t location = pb_open(&c->answer, 1), info = pb_open(&c->answer, 1);

	pb_uint(&c->answer, 1, 1);
	put_table(&c->answer, 2, "hbase", "meta");
	pb_uint(&c->answer, 7, 0);
	pb_close(&c->answer, info);
	put_place(&c->answer, 2, 1);
	pb_uint(&c->answer, 3, 0);
	pb_close(&c->answer, location);
}

static void answer_status(struct call *c)
{
	size_t status = pb_open(&c->answer, 1), version = pb_open(&c->answer, 1);

	pb_text(&c->answer, 1, "2.6.4");
	pb_close(&c->answer, version);
	for (int i = 1; i < SERVERS; i++) {
		size_t live = pb_open(&c->answer, 2);

		put_place(&c->answer, 1, i);
		pb_close(&c->answer, live);
	}
	pb_close(&c->answer, status);
}

static void create_table(struct call *c)
{
	struct cluster *t = W->cluster;
	struct bytes schema = field(c->message, 1, NULL), rest = c->message;
	uint64_t nonce[2] = {0};
	struct pb_field f;
	struct error e;
	char start[40] = "", key[40];

	field(c->message, 3, &nonce[0]);
	field(c->message, 4, &nonce[1]);
	if (t->exists && memcmp(nonce, t->nonce, sizeof nonce) != 0) {
		c->exception = "TableExistsException";
		return;
	}
	pb_uint(&c->answer, 1, 77);
	if (t->exists)
		return;
	t->exists = true;
	t->created_at = W->now + (int64_t)sim_below(CREATE_MS) * SIM_MS;
	memcpy(t->nonce, nonce, sizeof nonce);
	t->schema = sim_new(schema.len);
	t->schema_len = schema.len;
	memcpy(t->schema, schema.ptr, schema.len);
	while (pb_next(&rest, &f, &e) == RC_OK) {
		if (f.number != 2)
			continue;
		snprintf(key, sizeof key, "%.*s", (int)f.bytes.len, (const char *)f.bytes.ptr);
		cluster_make_region(start, key);
		snprintf(start, sizeof start, "%s", key);
	}
	cluster_make_region(start, "");
}

static void put_cell(struct buf *b, const char *row, const char *qualifier, const void *value,
		     size_t len)
{
	size_t key = 2 + strlen(row) + 1 + 4 + strlen(qualifier) + 8 + 1;

	buf_be32(b, (uint32_t)(8 + key + len));
	buf_be32(b, (uint32_t)key);
	buf_be32(b, (uint32_t)len);
	buf_put(b, (uint8_t)(strlen(row) >> 8));
	buf_put(b, (uint8_t)strlen(row));
	buf_append_str(b, row);
	buf_put(b, 4);
	buf_append_str(b, "info");
	buf_append_str(b, qualifier);
	buf_be32(b, 0);
	buf_be32(b, 1);
	buf_put(b, 4);
	buf_append(b, value, len);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct region *const *)a)->name,
		      (*(const struct region *const *)b)->name);
}

static void scan_meta(struct call *c)
{
	struct cluster *t = W->cluster;
	const struct region *list[REGIONS];
	char place[40];

	for (size_t i = 0; i < t->nregions; i++)
		list[i] = &t->region[i];
	qsort(list, t->nregions, sizeof(const struct region *), by_name);
	bool hole = t->nregions > 1 && sim_fault(W->odds.call_busy);
	for (size_t i = hole; i < t->nregions; i++) {
		const struct region *r = list[i];
		struct buf info = {0};

		buf_append_str(&info, "PBUF");
		pb_uint(&info, 1, 1);
		put_table(&info, 2, "default", "t");
		pb_text(&info, 3, r->start);
		pb_text(&info, 4, r->end);
		pb_uint(&info, 5, r->parent);
		pb_uint(&info, 6, r->parent);
		pb_uint(&info, 7, 0);
		put_cell(&c->cells, r->name, "regioninfo", info.ptr, info.len);
		buf_release(&info);
		snprintf(place, sizeof place, "%s:16020", hosts[r->server]);
		if (!r->parent && r->opens <= W->now)
			put_cell(&c->cells, r->name, "server", place, strlen(place));
	}
	pb_uint(&c->answer, 3, 0);
}

/* Return the region of a call, if this server has opened the region. */
static struct region *region_of(struct call *c, unsigned number)
{
	struct bytes name = field(field(c->message, number, NULL), 2, NULL);
	struct region *r = cluster_region(name);

	if (r && !r->parent && r->server == c->server && r->opens <= W->now)
		return r;
	c->exception = "NotServingRegionException";
	return NULL;
}

static void prepare(struct call *c)
{
	char path[200], token[240];

	if (!region_of(c, 2))
		return;
	snprintf(path, sizeof path, STAGING "/ann__t__%llu",
		 (unsigned long long)++W->cluster->made);
	hdfs_make(path, true);
	snprintf(token, sizeof token, "hdfs://nn%s", path);
	pb_text(&c->answer, 1, token);
}

static void text_of(struct bytes b, char *out, size_t room)
{
	const char *slash = b.len > 7 ? memchr(b.ptr + 7, '/', b.len - 7) : NULL;
	size_t skip = slash ? (size_t)(slash - (const char *)b.ptr) : 0;

	snprintf(out, room, "%.*s", (int)(b.len - skip), (const char *)b.ptr + skip);
}

static void keep_late(const struct late_call *l)
{
	for (int i = 0; i < LATE; i++)
		if (!W->cluster->late[i].there) {
			W->cluster->late[i] = *l;
			W->cluster->late[i].there = true;
			W->cluster->late[i].at = W->now + (int64_t)sim_below(LATE_NS);
			return;
		}
}

static void bulk_load(struct call *c)
{
	struct late_call l = {0};
	struct pb_field f;
	struct error e;
	struct bytes rest = c->message;
	struct region *r = region_of(c, 1);

	if (!r)
		return;
	snprintf(l.region, sizeof l.region, "%s", r->encoded);
	text_of(field(c->message, 5, NULL), l.token, sizeof l.token);
	while (pb_next(&rest, &f, &e) == RC_OK)
		if (f.number == 2 && l.n < FILES)
			text_of(field(f.bytes, 2, NULL), l.path[l.n++], sizeof l.path[0]);
	uint64_t loaded = 1;
	if (sim_fault(W->odds.call_late)) {
		keep_late(&l);
		c->lost = true;
	} else if (sim_fault(W->odds.call_half)) {
		uint64_t how = sim_below(6);

		cluster_do_half(&l, how & 1);
		c->lost = how < 2;
		loaded = 0;
		if (how > 3)
			c->exception = "SpaceLimitingException";
	} else if (sim_fault(W->odds.call_false)) {
		loaded = 0;
		if (sim_below(2))
			cluster_do(&l);
	} else if (sim_fault(W->odds.call_refused)) {
		if (sim_below(2))
			cluster_do(&l);
		c->exception = "SpaceLimitingException";
	} else if (!sim_fault(W->odds.call_lies)) {
		loaded = cluster_do(&l);
	}
	sim_note("bulk load", loaded, (uint64_t)l.n);
	pb_uint(&c->answer, 1, loaded);
}

static void clean_up(struct call *c)
{
	char token[200];
	struct bytes text = field(c->message, 1, NULL);

	if (!region_of(c, 2))
		return;
	text_of(text, token, sizeof token);
	for (struct hdfs_node *n = hdfs_first(); n; n = n->next)
		if (!n->folder && strncmp(n->path, token, strlen(token)) == 0)
			sim_violate("the staging folder is removed with the file %s", n->path);
	hdfs_remove(token);
}

static void serve(struct call *c, const char *method)
{
	struct cluster *t = W->cluster;

	if (strcmp(method, "GetClusterId") == 0) {
		pb_text(&c->answer, 1, "a-cluster");
	} else if (strcmp(method, "GetActiveMaster") == 0) {
		put_place(&c->answer, 1, 0);
	} else if (strcmp(method, "GetMetaRegionLocations") == 0) {
		answer_meta_place(c);
	} else if (strcmp(method, "GetClusterStatus") == 0) {
		answer_status(c);
	} else if (strcmp(method, "GetTableDescriptors") == 0) {
		if (t->exists && t->created_at <= W->now)
			pb_bytes(&c->answer, 1, bytes_of(t->schema, t->schema_len));
	} else if (strcmp(method, "GetTableState") == 0) {
		size_t at = pb_open(&c->answer, 1);

		pb_uint(&c->answer, 1, 0);
		pb_close(&c->answer, at);
	} else if (strcmp(method, "CreateTable") == 0) {
		create_table(c);
	} else if (strcmp(method, "getProcedureResult") == 0) {
		pb_uint(&c->answer, 1, t->created_at <= W->now ? 2 : 1);
	} else if (strcmp(method, "Scan") == 0) {
		scan_meta(c);
	} else if (strcmp(method, "PrepareBulkLoad") == 0) {
		prepare(c);
	} else if (strcmp(method, "BulkLoadHFile") == 0) {
		bulk_load(c);
	} else if (strcmp(method, "CleanupBulkLoad") == 0) {
		clean_up(c);
	} else {
		sim_violate("the cluster does not know the method %s", method);
	}
}

static int lose(struct rpc *c, struct hbase_failure *why, struct error *err)
{
	c->broken = true;
	why->trouble = TROUBLE_LOST;
	return error_set(err, RC_IO, "%s: closed the connection", hosts[c->server]);
}

static int refuse(const char *name, struct hbase_failure *why, struct error *err)
{
	char class[120];

	sim_note(name, 0, 0);
	snprintf(class, sizeof class, "org.apache.hadoop.hbase.%s", name);
	return exception_tell(bytes_str(class), bytes_str("simulated"), why, err);
}

int rpc_call(struct rpc *c, const char *method, struct bytes message, int64_t patience_ms,
	     struct rpc_answer *out, struct hbase_failure *why, struct error *err)
{
	static const char *const busy[] = {"CallQueueTooBigException", "RegionTooBusyException",
					   "PleaseHoldException", "RpcThrottlingException"};
	struct call call = {.message = message, .server = c->server};

	*out = (struct rpc_answer){0};
	*why = (struct hbase_failure){0};
	sim_step(method);
	sim_sleep((int64_t)sim_below(5 * SIM_MS));
	cluster_due();
	if (is_down(c->server) || sim_fault(W->odds.call_lost)) {
		if (sim_below(4) == 0)
			sim_sleep(patience_ms * SIM_MS);
		return lose(c, why, err);
	}
	if (sim_fault(W->odds.call_busy))
		return refuse(busy[sim_below(4)], why, err);
	if (sim_fault(W->odds.call_moved))
		cluster_stir();
	serve(&call, method);
	sim_did(DID_CALL);
	if (call.lost || sim_fault(W->odds.call_done_lost)) {
		buf_release(&call.answer);
		buf_release(&call.cells);
		return lose(c, why, err);
	}
	if (call.exception)
		return refuse(call.exception, why, err);
	size_t len = call.answer.len;
	buf_append(&call.answer, call.cells.ptr, call.cells.len);
	out->frame = call.answer;
	out->message = bytes_of(call.answer.ptr, len);
	out->cells = bytes_of(call.answer.ptr + len, call.cells.len);
	buf_release(&call.cells);
	return RC_OK;
}
