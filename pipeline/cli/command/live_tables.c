/* live_tables.c - see live_tables.h */
#include "live_tables.h"

#include <string.h>

#define GAP_ATTEMPTS 5 /* about two seconds, longer than a usual split */

bool live_tables_asked(const struct arguments *a)
{
	if (!a->hbase)
		arguments_refuse(a, "found no --hbase, expected `--hbase HOST[:PORT],...`");
	return a->hbase != NULL;
}

int live_tables_open(struct hbase **out, const struct arguments *a, struct error *err)
{
	struct hbase_failure why;

	return hbase_open(out, a->hbase, a->user, &why, err);
}

int live_tables_read(struct hbase *h, const char *regex, struct hbase_tables *out,
		     struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	while ((rc = hbase_tables(h, regex, out, &why, err)) != RC_OK) {
		hbase_tables_release(out);
		if (!hbase_retry(&why, &attempt, err))
			break;
	}
	/* the master sends only the text of Java's PatternSyntaxException, not its class */
	if (rc == RC_IO && regex && strstr(err->msg, " near index ")) {
		err->code = RC_CONFIG;
		return error_prefix(err, "found `%.200s`, expected a regular expression: ", regex);
	}
	return rc;
}

int live_tables_read_one(struct hbase *h, const char *table, struct description *out,
			 struct arena *a, bool *exists, bool *denied, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	do {
		rc = hbase_describe(h, table, out, a, exists, &why, err);
		*denied = rc && strcmp(why.name, "AccessDeniedException") == 0;
		if (*denied)
			*exists = true;
		if (*denied || (rc == RC_OK && *exists))
			rc = precheck_enabled(h, table, &why, err);
	} while (rc && hbase_retry(&why, &attempt, err));
	return rc;
}

int live_tables_missing(const char *table, struct error *err)
{
	return error_set(err, RC_CONFIG,
			 "--hbase: found no table %s in the cluster; `saltmill tables` lists the "
			 "tables",
			 table);
}

int live_tables_describe(struct hbase *h, const char *table, struct description *out,
			 enum hbase_table_state *state, struct arena *a, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	bool exists = false;
	int rc;

	do {
		rc = hbase_describe(h, table, out, a, &exists, &why, err);
		if (rc == RC_OK && exists)
			rc = hbase_table_state(h, table, state, &why, err);
	} while (rc && hbase_retry(&why, &attempt, err));
	bool dropped = rc && why.trouble == TROUBLE_MISSING;
	return dropped || (rc == RC_OK && !exists) ? live_tables_missing(table, err) : rc;
}

int live_tables_places(struct hbase *h, const char *table, struct hbase_regions *r,
		       struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc;

	*r = (struct hbase_regions){0};
	do {
		hbase_regions_release(r);
		rc = hbase_regions(h, table, r, &why, err);
		if (rc && r->gap && attempt.n >= GAP_ATTEMPTS)
			rc = RC_OK;
	} while (rc && hbase_retry(&why, &attempt, err));
	return rc && why.trouble == TROUBLE_MISSING ? live_tables_missing(table, err) : rc;
}

int live_tables_regions(struct hbase *h, const char *table, struct hbase_regions *r,
			struct hbase_status *s, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	int rc = live_tables_places(h, table, r, err);

	*s = (struct hbase_status){0};
	if (rc)
		return rc;
	do {
		hbase_status_release(s);
		rc = hbase_status(h, s, &why, err);
	} while (rc && hbase_retry(&why, &attempt, err));
	return rc;
}

/* --- dropping --- */

/*
 * Make one attempt. The nonces stay the same, so that a repeated call changes nothing. A table
 * that somebody else has dropped meanwhile is a success.
 */
static int attempt_drop(struct hbase *h, const char *table, const uint64_t nonces[4],
			struct hbase_failure *why, struct error *err)
{
	enum hbase_table_state state;
	int rc = hbase_table_state(h, table, &state, why, err);

	if (rc == RC_OK && state != TABLE_ENABLED && state != TABLE_DISABLED) {
		*why = (struct hbase_failure){.trouble = TROUBLE_BUSY};
		return error_set(
			err, RC_IO,
			"HBase enables or disables the table at this moment; run the command "
			"again");
	}
	if (rc == RC_OK && state == TABLE_ENABLED)
		rc = hbase_disable(h, table, nonces, why, err);
	if (rc && strcmp(why->name, "TableNotEnabledException") == 0)
		why->trouble = TROUBLE_BUSY; /* somebody else disables it, so look again */
	if (rc == RC_OK)
		rc = hbase_delete(h, table, nonces + 2, why, err);
	return rc && why->trouble == TROUBLE_MISSING ? RC_OK : rc;
}

int live_tables_drop(struct hbase *h, const char *table, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};
	uint64_t nonces[4];
	int rc = hbase_draw_nonces(nonces, err);

	if (rc == RC_OK)
		rc = hbase_draw_nonces(nonces + 2, err);
	if (rc)
		return rc;
	do
		rc = attempt_drop(h, table, nonces, &why, err);
	while (rc && hbase_retry(&why, &attempt, err));
	return rc ? error_prefix(err, "table %s: ", table) : RC_OK;
}
