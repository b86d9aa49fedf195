/*
 * snapshots.c - take and delete snapshots of tables (Snapshot.proto; SnapshotManager of the master)
 *
 * The calls have no nonce, so the master coordinates the snapshot as all versions of HBase do. A
 * snapshot appears whole, under its name, or not at all.
 */
#include <string.h>

#include "clock.h"
#include "decode.h"
#include "pb.h"
#include "pool.h"
#include "session.h"

#define FIRST_LOOK_MS 50
#define LAST_LOOK_MS  1000
#define SNAPSHOT_MS   (30 * 60 * 1000)

/* SnapshotDescription. Its type is FLUSH by default: servers write what they have in memory first. */
enum { SNAPSHOT_NAME = 1, SNAPSHOT_TABLE = 2 };

/*
 * All requests have the description in field 1. HBase compares snapshots by their names. `number` is
 * field 1 of the answer, and NULL ignores it.
 */
static int call(struct hbase *h, const char *method, const char *name, const char *table,
		uint64_t *number, struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};
	struct rpc_answer answer;
	size_t at = pb_open(&b, 1);

	pb_text(&b, SNAPSHOT_NAME, name);
	if (table)
		pb_text(&b, SNAPSHOT_TABLE, table);
	pb_close(&b, at);
	int rc = session_call_master(h, method, &b, &answer, why, err);
	buf_release(&b);
	if (rc)
		return rc;
	if (number)
		rc = decode_number(answer.message, number, err);
	rpc_answer_release(&answer);
	return rc;
}

/* Wait for the end of a snapshot. */
static int wait_for(struct hbase *h, const char *name, const char *table, struct hbase_failure *why,
		    struct error *err)
{
	int64_t wait = FIRST_LOOK_MS, limit = deadline_for_change(SNAPSHOT_MS),
		deadline = clock_ms() + limit;
	uint64_t done = 0;

	for (;;) {
		int rc = call(h, "IsSnapshotDone", name, table, &done, why, err);

		if (rc || done)
			return rc;
		why->trouble = TROUBLE_REFUSED;
		if (stop_check(err))
			return RC_STOPPED;
		if (clock_ms() > deadline)
			return error_set(err, RC_IO,
					 "snapshot %s has not finished after %lld s; check the "
					 "master's log",
					 name, (long long)limit / 1000);
		clock_sleep_ms(wait);
		wait = wait * 3 / 2 < LAST_LOOK_MS ? wait * 3 / 2 : LAST_LOOK_MS;
	}
}

/* Return true if a region moved or split, or if another snapshot of the table is running. */
static bool may_pass(const struct hbase_failure *why)
{
	static const char *const names[] = {"SnapshotCreationException", "HBaseSnapshotException",
					    "CorruptedSnapshotException",
					    "UnknownSnapshotException"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(why->name, names[i]) == 0)
			return true;
	return false;
}

int hbase_snapshot(struct hbase *h, const char *name, const char *table, struct hbase_failure *why,
		   struct error *err)
{
	int rc = call(h, "Snapshot", name, table, NULL, why, err);

	/* an earlier call with this name, whose answer was lost, has taken it */
	if (rc && strcmp(why->name, "SnapshotExistsException") == 0)
		return RC_OK;
	if (rc == RC_OK)
		rc = wait_for(h, name, table, why, err);
	if (rc && rc != RC_STOPPED && may_pass(why))
		why->trouble = TROUBLE_BUSY;
	return rc;
}

int hbase_delete_snapshot(struct hbase *h, const char *name, struct hbase_failure *why,
			  struct error *err)
{
	int rc = call(h, "DeleteSnapshot", name, NULL, NULL, why, err);

	return rc && strcmp(why->name, "SnapshotDoesNotExistException") == 0 ? RC_OK : rc;
}
