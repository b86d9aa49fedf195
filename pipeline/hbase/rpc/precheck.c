#include "hbase.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define AHEAD_MS  5000	/* the most that a correct clock can be ahead of this machine's clock */
#define BEHIND_MS 30000 /* default of hbase.master.maxclockskew; servers report every 3 s */
/* HBase 2.4, the first version with masters that answer registry queries */
#define OLDEST	    204
#define NEWEST	    399
#define MINOR_DIGIT 100

static int check_version(const struct listener *l, const char *version, struct error *err)
{
	unsigned major = 0, minor = 0;

	if (sscanf(version, "%u.%u", &major, &minor) != 2)
		return RC_OK;
	unsigned v = major * MINOR_DIGIT + minor;
	if (v < OLDEST)
		return error_set(err, RC_CONFIG,
				 "found HBase %s in the cluster, expected 2.4 or newer. Load into "
				 "this cluster with `hbase completebulkload`",
				 version);
	if (v > NEWEST)
		report_to(l,
			  "The tests of saltmill do not cover HBase %s, the version of the "
			  "cluster. Try a small load with --check first",
			  version);
	return RC_OK;
}

static void check_clock(const struct listener *l, const struct hbase_server *s, int64_t now_ms)
{
	int64_t ahead = s->reported_ms - now_ms;

	if (!s->reported_ms)
		return;
	if (ahead > AHEAD_MS)
		report_to(l,
			  "region server %s:%u: found a clock %.1f s ahead of this machine's, "
			  "expected at most 5 s. Cells with this machine's timestamps expire "
			  "sooner there. Let both machines follow one NTP server (check with "
			  "`chronyc tracking`)",
			  s->place.host, s->place.port, (double)ahead / 1e3);
	else if (-ahead > BEHIND_MS)
		report_to(l,
			  "region server %s:%u: found a clock or a last report %.1f s behind "
			  "this machine's clock, expected at most 30 s. Let both machines follow "
			  "one NTP server (check with `chronyc tracking`), and read the server's "
			  "log",
			  s->place.host, s->place.port, (double)-ahead / 1e3);
}

int precheck_servers(const struct hbase_status *s, struct hbase_failure *why, struct error *err)
{
	if (s->nservers)
		return RC_OK;
	why->trouble = TROUBLE_BUSY;
	return error_set(err, RC_IO,
			 "found no live region server in the cluster, expected at least one. Start "
			 "one, then run this again");
}

int precheck_wait(struct hbase *h, struct hbase_status *out, struct error *err)
{
	struct hbase_failure why;
	struct hbase_attempts attempt = {0};

	for (;;) {
		int rc = hbase_status(h, out, &why, err);

		if (rc == RC_OK)
			rc = precheck_servers(out, &why, err);
		if (rc == RC_OK || !hbase_retry(&why, &attempt, err))
			return rc;
		hbase_status_release(out);
	}
}

int precheck_cluster(const struct listener *l, const struct hbase_status *s, int64_t now_ms,
		     struct error *err)
{
	int rc = check_version(l, s->version, err);

	if (rc)
		return rc;
	if (s->dead)
		report_to(
			l,
			"cluster: found %zu dead region server%s, expected none. Some regions may "
			"be on no server until the master has moved them",
			s->dead, s->dead == 1 ? "" : "s");
	for (size_t i = 0; i < s->nservers; i++)
		check_clock(l, &s->servers[i], now_ms);
	return RC_OK;
}

void precheck_table(const struct listener *l, const struct hbase_status *s, const char *table,
		    int64_t now_ms)
{
	const struct hbase_transition *first = NULL;
	size_t n = 0;

	if (strncmp(table, "default:", 8) == 0)
		table += 8;
	for (size_t i = 0; i < s->ntransitions; i++) {
		const struct hbase_transition *t = &s->transitions[i];

		if (!t->table || strcmp(t->table, table) != 0)
			continue;
		n++;
		if (!first || t->since_ms < first->since_ms)
			first = t;
	}
	if (n)
		report_to(l,
			  "table %s: %zu region%s in transition, one %s for %" PRId64
			  " s. Calls to these regions wait. If the transition does not end, run "
			  "`hbck -j hbase-hbck2.jar assigns` for the region, or read the master's "
			  "log",
			  table, n, n == 1 ? " is" : "s are", first->state,
			  now_ms > first->since_ms ? (now_ms - first->since_ms) / 1000 : 0);
}

int precheck_state(const char *table, enum hbase_table_state state, struct hbase_failure *why,
		   struct error *err)
{
	why->trouble = TROUBLE_NONE;
	switch (state) {
	case TABLE_ENABLED: return RC_OK;
	case TABLE_ENABLING:
		why->trouble = TROUBLE_BUSY;
		return error_set(err, RC_IO, "HBase enables or creates table %s at this moment",
				 table);
	case TABLE_DISABLED:
	case TABLE_DISABLING: break;
	}
	why->trouble = TROUBLE_REFUSED;
	return error_set(err, RC_CONFIG, "table %s is %s; run `enable '%s'` in the HBase shell",
			 table, state == TABLE_DISABLED ? "disabled" : "being disabled", table);
}

int precheck_enabled(struct hbase *h, const char *table, struct hbase_failure *why,
		     struct error *err)
{
	enum hbase_table_state state;
	int rc = hbase_table_state(h, table, &state, why, err);

	return rc ? rc : precheck_state(table, state, why, err);
}
