/*
 * tables.c - calls to the master (Master.proto)
 *
 * A change is a procedure. The master returns the procedure's number at once, and the client polls
 * until the procedure ends.
 */
#include <inttypes.h>
#include <sys/random.h>

#include "clock.h"
#include "decode.h"
#include "encode.h"
#include "pb.h"
#include "pool.h"
#include "session.h"

#define FIRST_LOOK_MS 50
#define LAST_LOOK_MS  1000
#define PROCEDURE_MS  (30 * 60 * 1000)

/* --- the requests, which tests compare with those of HBase's client --- */

void put_table_name(struct buf *b, unsigned field, const char *table)
{
	const char *colon = strchr(table, ':');
	size_t at = pb_open(b, field);

	pb_bytes(b, 1, colon ? bytes_of(table, (size_t)(colon - table)) : bytes_str("default"));
	pb_text(b, 2, colon ? colon + 1 : table);
	pb_close(b, at);
}

static void put_pairs(struct buf *b, unsigned field, const struct attributes *list)
{
	for (size_t i = 0; i < list->count; i++) {
		size_t at = pb_open(b, field);

		pb_text(b, 1, list->item[i].key);
		pb_text(b, 2, list->item[i].value);
		pb_close(b, at);
	}
}

void put_schema(struct buf *b, unsigned field, const char *table, const struct description *d)
{
	size_t schema = pb_open(b, field);

	put_table_name(b, 1, table);
	put_pairs(b, 2, &d->table.items);
	put_pairs(b, 2, &d->table.metadata);
	for (size_t i = 0; i < d->nfamilies; i++) {
		const struct described *f = &d->families[i];
		size_t family = pb_open(b, 3);

		pb_text(b, 1, f->name);
		put_pairs(b, 2, &f->items);
		put_pairs(b, 2, &f->metadata);
		put_pairs(b, 3, &f->configuration);
		pb_close(b, family);
	}
	put_pairs(b, 4, &d->table.configuration);
	pb_close(b, schema);
}

void put_create(struct buf *b, const char *table, const struct description *d,
		const struct splits *s, const uint64_t nonce[2])
{
	put_schema(b, 1, table, d);
	for (size_t i = 0; i < s->count; i++)
		pb_bytes(b, 2, s->keys[i]);
	pb_uint(b, 3, nonce[0]);
	pb_uint(b, 4, nonce[1]);
}

void put_table_change(struct buf *b, const char *table, const uint64_t nonce[2])
{
	put_table_name(b, 1, table);
	pb_uint(b, 2, nonce[0]);
	pb_uint(b, 3, nonce[1]);
}

void put_table_query(struct buf *b, const char *regex)
{
	if (regex)
		pb_text(b, 2, regex);
}

/* --- calls --- */

/* Mark a decoding error as final, because a retry gives the same answer. */
static int judged(int rc, struct hbase_failure *why)
{
	if (rc && why->trouble == TROUBLE_NONE)
		why->trouble = TROUBLE_REFUSED;
	return rc;
}

int hbase_describe(struct hbase *h, const char *table, struct description *out, struct arena *a,
		   bool *exists, struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};
	struct rpc_answer answer;

	put_table_name(&b, 1, table);
	int rc = session_call_master(h, "GetTableDescriptors", &b, &answer, why, err);
	buf_release(&b);
	if (rc)
		return rc;
	rc = judged(decode_table(answer.message, out, a, exists, err), why);
	rpc_answer_release(&answer);
	return rc;
}

int hbase_table_state(struct hbase *h, const char *table, enum hbase_table_state *out,
		      struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};
	struct rpc_answer answer;

	put_table_name(&b, 1, table);
	int rc = session_call_master(h, "GetTableState", &b, &answer, why, err);
	buf_release(&b);
	if (rc)
		return rc;
	rc = judged(decode_table_state(answer.message, out, err), why);
	rpc_answer_release(&answer);
	return rc;
}

static int procedure_look(struct hbase *h, uint64_t id, enum procedure_state *state,
			  struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};
	struct rpc_answer answer;

	pb_uint(&b, 1, id);
	int rc = session_call_master(h, "getProcedureResult", &b, &answer, why, err);
	buf_release(&b);
	if (rc)
		return rc;
	rc = judged(decode_procedure(answer.message, state, why, err), why);
	rpc_answer_release(&answer);
	return rc;
}

static int procedure_wait(struct hbase *h, uint64_t id, struct hbase_failure *why,
			  struct error *err)
{
	int64_t wait = FIRST_LOOK_MS, limit = deadline_for_change(PROCEDURE_MS),
		deadline = clock_ms() + limit;

	for (;;) {
		enum procedure_state state;
		int rc = procedure_look(h, id, &state, why, err);

		if (rc || state == PROCEDURE_FINISHED)
			return rc;
		/* the master forgets a procedure a quarter of an hour after its end */
		if (state == PROCEDURE_NOT_FOUND)
			return RC_OK;
		why->trouble = TROUBLE_REFUSED;
		if (stop_check(err))
			return RC_STOPPED;
		if (clock_ms() > deadline)
			return error_set(err, RC_IO,
					 "the master's procedure %" PRIu64
					 " has not finished after %lld s; check the master's log",
					 id, (long long)limit / 1000);
		clock_sleep_ms(wait);
		wait = wait * 3 / 2 < LAST_LOOK_MS ? wait * 3 / 2 : LAST_LOOK_MS;
	}
}

/* Send a change, wait for its procedure, and release `b`. */
static int change(struct hbase *h, const char *method, struct buf *b, struct hbase_failure *why,
		  struct error *err)
{
	struct rpc_answer answer;
	uint64_t id = 0;
	int rc = session_call_master(h, method, b, &answer, why, err);

	buf_release(b);
	if (rc)
		return rc;
	rc = judged(decode_number(answer.message, &id, err), why);
	rpc_answer_release(&answer);
	return rc ? rc : procedure_wait(h, id, why, err);
}

int hbase_draw_nonces(uint64_t nonce[2], struct error *err)
{
	if (getrandom(nonce, 16, 0) != 16)
		return error_errno(err, "getrandom");
	nonce[0] |= 1; /* 0 means no nonce */
	nonce[1] |= 1;
	return RC_OK;
}

int hbase_create_namespace(struct hbase *h, const char *name, struct hbase_failure *why,
			   struct error *err)
{
	struct buf b = {0};
	size_t at = pb_open(&b, 1);

	pb_text(&b, 1, name);
	pb_close(&b, at);
	return change(h, "CreateNamespace", &b, why, err);
}

int hbase_create(struct hbase *h, const char *table, const struct description *d,
		 const struct splits *s, const uint64_t nonce[2], struct hbase_failure *why,
		 struct error *err)
{
	struct buf b = {0};

	put_create(&b, table, d, s, nonce);
	return change(h, "CreateTable", &b, why, err);
}

int hbase_alter(struct hbase *h, const char *table, const struct description *d,
		const uint64_t nonce[2], struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};

	put_table_name(&b, 1, table);
	put_schema(&b, 2, table, d);
	pb_uint(&b, 3, nonce[0]);
	pb_uint(&b, 4, nonce[1]);
	return change(h, "ModifyTable", &b, why, err);
}

int hbase_disable(struct hbase *h, const char *table, const uint64_t nonce[2],
		  struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};

	put_table_change(&b, table, nonce);
	return change(h, "DisableTable", &b, why, err);
}

int hbase_delete(struct hbase *h, const char *table, const uint64_t nonce[2],
		 struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};

	put_table_change(&b, table, nonce);
	return change(h, "DeleteTable", &b, why, err);
}

/* --- rights --- */

/* AccessControl.proto: Permission.Type and Permission.Action */
enum { OF_NAMESPACE = 2, OF_TABLE = 3, ACTION_CREATE = 3 };

void put_right_query(struct buf *b, const char *user, const char *table, bool exists)
{
	const char *colon = strchr(table, ':');
	size_t n = colon ? (size_t)(colon - table) : 0, permission, part;

	if (user)
		pb_text(b, 1, user);
	permission = pb_open(b, 2);
	pb_uint(b, 1, exists ? OF_TABLE : OF_NAMESPACE);
	part = pb_open(b, exists ? 4 : 3);
	if (exists)
		put_table_name(b, 1, table);
	else
		pb_bytes(b, 1, n ? bytes_of(table, n) : bytes_str("default"));
	pb_uint(b, exists ? 4 : 2, ACTION_CREATE);
	pb_close(b, part);
	pb_close(b, permission);
}

int hbase_may_load(struct hbase *h, const char *table, bool exists, bool *may,
		   struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};
	struct rpc_answer answer;
	uint64_t yes = 0;

	*may = false;
	/* with Kerberos, only the server knows the name, by its hadoop.security.auth_to_local */
	put_right_query(&b, h->kerberos ? NULL : h->user, table, exists);
	int rc = session_call_master(h, "HasUserPermissions", &b, &answer, why, err);
	buf_release(&b);
	if (rc)
		return rc;
	rc = judged(decode_number(answer.message, &yes, err), why);
	*may = rc == RC_OK && yes;
	rpc_answer_release(&answer);
	return rc;
}
