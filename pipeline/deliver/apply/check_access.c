/* check_access.c - implement --check-access: login, clocks, rights, delegation token, upload folder */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "applying.h"
#include "clock.h"
#include "io.h"

#define SKEW_MS	 300000 /* clockskew of krb5.conf */
#define HOUR_S	 3600
#define MINUTE_S 60

static void find(struct applying *a, const char *what, bool good, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void find(struct applying *a, const char *what, bool good, const char *fmt, ...)
{
	struct apply_result *r = a->result;
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	struct apply_access *grown = arena_alloc(&r->arena, (r->naccess + 1) * sizeof *grown);
	if (r->naccess)
		memcpy(grown, r->access, r->naccess * sizeof *grown);
	grown[r->naccess++] = (struct apply_access){what, good, arena_strdup(&r->arena, text)};
	r->access = grown;
	r->refused += !good;
}

static void find_login(struct applying *a)
{
	struct login_ticket t;
	struct error err;

	if (!hbase_is_secured(a->hbase))
		find(a, "login", true, "user %s; the cluster does not require Kerberos",
		     hbase_user(a->hbase));
	else if (hbase_token_used(a->hbase))
		find(a, "login", true, "user %s, by a token of $HADOOP_TOKEN_FILE_LOCATION",
		     hbase_user(a->hbase));
	else if (login_ticket(&t, &err))
		find(a, "login", false, "%s", err.msg);
	else
		find(a, "login", true, "%s; the ticket ends in %" PRId64 " h %" PRId64 " min%s%s%s",
		     t.principal, t.left_s / HOUR_S, t.left_s % HOUR_S / MINUTE_S,
		     strcmp(t.user, hbase_user(a->hbase)) ? "; acts for user " : "",
		     strcmp(t.user, hbase_user(a->hbase)) ? hbase_user(a->hbase) : "",
		     login_used()->keytab ? "; the keytab renews it" : "");
}

static void find_clocks(struct applying *a)
{
	struct hbase_status s;
	struct hbase_failure why;
	struct error err;
	int64_t worst = 0;
	int rc = hbase_status(a->hbase, &s, &why, &err);
	int64_t now = clock_wall_ms();

	for (size_t i = 0; rc == RC_OK && i < s.nservers; i++) {
		int64_t apart = s.servers[i].reported_ms ? s.servers[i].reported_ms - now : 0;

		if (llabs(apart) > llabs(worst))
			worst = apart;
	}
	if (rc)
		find(a, "clocks", true, "not checked: %s", err.msg);
	else if (llabs(worst) >= SKEW_MS)
		find(a, "clocks", false,
		     "found a server whose clock differs by %.0f s, expected less than 5 minutes; "
		     "let both machines follow one NTP server (check with `chronyc tracking`)",
		     (double)worst / 1e3);
	else
		find(a, "clocks", true, "%zu region server%s, at most %.1f s apart", s.nservers,
		     s.nservers == 1 ? "" : "s", (double)llabs(worst) / 1e3);
	hbase_status_release(&s);
}

static void find_right(struct applied *t)
{
	struct applying *a = t->run;
	struct description have;
	struct hbase_failure why;
	struct error err;
	bool may = false;
	const char *name = t->result->name, *colon = strchr(name, ':');
	int rc = hbase_describe(a->hbase, name, &have, &a->result->arena, &t->exists, &why, &err);

	if (rc) {
		find(a, "rights", false, "table %s: %s", name, err.msg);
		return;
	}
	t->result->missing = !t->exists;
	rc = hbase_may_load(a->hbase, name, t->exists, &may, &why, &err);
	if (rc)
		find(a, "rights", true,
		     "table %s: not checked, because HBase does not report them: %s", name,
		     err.msg);
	else if (may)
		find(a, "rights", true, "table %s: may %s", name,
		     t->exists ? "load files" : "create it, with --create");
	else if (t->exists)
		find(a, "rights", false,
		     "table %s: may not load files; run `grant '%s', 'C', '%s'` in the HBase shell",
		     name, hbase_user(a->hbase), name);
	else
		find(a, "rights", false,
		     "table %s: may not create it; run `grant '%s', 'C', '@%.*s'` in the HBase "
		     "shell",
		     name, hbase_user(a->hbase), colon ? (int)(colon - name) : 7,
		     colon ? name : "default");
}

/* Opens the upload folder and checks it. Its warnings are the findings. */
static int look_at_folder(struct applying *a, struct error *err)
{
	const struct storage_options o = {.user = hbase_user(a->hbase),
					  .http = a->opt->http,
					  .patience_s = 3};
	struct applied *t = NULL;

	for (size_t i = 0; i < a->ntables && !t; i++)
		if (a->tables[i].exists && a->tables[i].hand.nfiles)
			t = &a->tables[i];
	if (t)
		return world_look(t, err);
	if (!a->opt->upload || !storage_is_remote(a->opt->upload))
		return RC_END;
	a->upload = mem_strdup(a->opt->upload);
	int rc = kept_storage(a->kept, a->upload, &o, err);
	a->storage = rc == RC_OK ? a->kept->storage : NULL;
	return rc ? rc : look_at_place(a, err);
}

static void find_folder(struct applying *a)
{
	size_t before = a->result->nwarnings;
	struct storage_token token = {0};
	struct error err;
	int rc = look_at_folder(a, &err);

	if (rc == RC_END) {
		find(a, "folder", true,
		     "not checked, because no table exists yet; give --upload URI");
		return;
	}
	if (rc) {
		find(a, "folder", false, "%s", err.msg);
		return;
	}
	for (size_t i = before; i < a->result->nwarnings; i++)
		find(a, "folder", false, "%s", a->result->warnings[i]);
	if (a->result->nwarnings == before)
		find(a, "folder", true, "%s: may write", a->kept->uri);
	if (!hbase_is_secured(a->hbase) || token_is_object(a->kept->uri))
		return;
	rc = storage_token(a->kept->storage, a->kept->uri, &token, &err);
	if (rc)
		find(a, "token", false, "%s", err.msg);
	else
		find(a, "token", true, "HDFS gives a delegation token for %s", token.service);
	buf_release(&token.raw);
}

int check_access(struct applying *a, struct error *err)
{
	int rc = kept_open(a->kept, a->opt, err);

	if (rc == RC_STOPPED)
		return rc;
	if (rc) {
		find(a, "login", false, "%s", err->msg);
		return RC_OK;
	}
	a->hbase = a->kept->hbase;
	a->result->cluster_id = arena_strdup(&a->result->arena, hbase_cluster_id(a->hbase));
	find_login(a);
	find_clocks(a);
	for (size_t i = 0; i < a->ntables; i++)
		find_right(&a->tables[i]);
	find_folder(a);
	return RC_OK;
}
