/* look_at_peers.c - report replication and the normalizer of a live table before the load */
#include "applying.h"

/* Returns a family of the load that the live table replicates, or NULL. */
static const char *replicated_family(const struct applied *t)
{
	for (size_t i = 0; i < t->want.nfamilies; i++) {
		const char *name = t->want.families[i].name;
		const struct described *d =
			description_family(t->exists ? &t->live : &t->want, name);
		const char *scope = d ? attributes_get(&d->items, "REPLICATION_SCOPE") : NULL;

		if (scope && strcmp(scope, "0") != 0)
			return name;
	}
	return NULL;
}

static void look_at_normalizer(struct applied *t)
{
	const char *said = attributes_get(&t->live.table.items, "NORMALIZATION_ENABLED");

	if (said && strcasecmp(said, "true") == 0)
		applying_warn(
			t->run,
			"table %s: NORMALIZATION_ENABLED is true, so HBase may merge or split "
			"the regions of the load; run `normalizer_switch false` in the HBase "
			"shell during the load",
			t->result->name);
}

void look_at_replication(struct applied *t)
{
	struct applying *a = t->run;
	const char *family = replicated_family(t), *peers = "";
	struct hbase_failure why;
	struct error err;

	look_at_normalizer(t);
	if (!family || a->opt->no_replicate)
		return;
	int rc = hbase_peers(a->hbase, &a->result->arena, &peers, &why, &err);
	if (rc == RC_OK && !*peers)
		return;
	applying_warn(a,
		      "table %s: family %s has REPLICATION_SCOPE 1, and the cluster %s%s%s; it "
		      "sends the files of a bulk load there only if its servers have "
		      "hbase.replication.bulkload.enabled; otherwise use --no-replicate here and "
		      "--also to load the files there",
		      t->result->name, family, rc ? "may replicate it (" : "replicates to ",
		      rc ? err.msg : peers, rc ? ")" : "");
}
