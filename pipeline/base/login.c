/* login.c - the Kerberos login of this process; a keytab's tickets stay in memory */
#include <errno.h>
#include <gssapi/gssapi.h>
#include <gssapi/gssapi_ext.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "late.h"
#include "mem.h"
#include "pool.h"

/* libcurl uses only the default credentials, which the environment names. */
#define MEMORY_CACHE "MEMORY:saltmill"
#define LOOK_MS	     100 /* a signal ends a wait within LOOK_MS + LAST_MS */
#define LAST_MS                                                                                    \
	400 /* after a signal, for the clean-up of a command: a ticket cache answers at once */

static struct login login;
/*
 * the object identifiers of Kerberos 5 and of the names of its principals (RFC 1964), and of names
 * such as HTTP@HOST (RFC 2743), and of SPNEGO (RFC 4178)
 */
static char kerberos_id[] = "\x2a\x86\x48\x86\xf7\x12\x01\x02\x02",
	    name_id[] = "\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01",
	    host_id[] = "\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04",
	    spnego_id[] = "\x2b\x06\x01\x05\x05\x02";
static gss_OID_desc kerberos = {sizeof kerberos_id - 1, kerberos_id},
		    principal_name = {sizeof name_id - 1, name_id},
		    host_name = {sizeof host_id - 1, host_id},
		    spnego = {sizeof spnego_id - 1, spnego_id};

static char *in_file(const char *path)
{
	return strchr(path, ':') ? mem_strdup(path) : mem_format("FILE:%s", path);
}

int login_use(const struct login *l, struct error *err)
{
	login = *l;
	if (!l->keytab)
		return RC_OK;
	if (!l->principal)
		return error_set(err, RC_CONFIG,
				 "found a keytab without a principal, expected also --principal "
				 "NAME@REALM; `klist -kt %s` lists the principals of the keytab",
				 l->keytab);
	char *file = in_file(l->keytab);
	setenv("KRB5_CLIENT_KTNAME", file, 1);
	setenv("KRB5CCNAME", MEMORY_CACHE, 1);
	mem_free(file);
	return RC_OK;
}

int login_check(struct error *err)
{
	const char *file = login.keytab;

	if (!file || strchr(file, ':') || access(file, R_OK) == 0)
		return RC_OK;
	return error_set(err, RC_CONFIG, "cannot read the keytab %s: %s", file, strerror(errno));
}

const struct login *login_used(void)
{
	return &login;
}

bool login_allows(const char *user)
{
	const char *want = login_used()->principal;

	return !want ||
	       (strncmp(want, user, strlen(user)) == 0 && strchr("/@", want[strlen(user)]) != NULL);
}

/* --- what libgssapi reports --- */

static void add_status(char *out, size_t size, OM_uint32 status, int kind)
{
	OM_uint32 more = 0, minor;
	gss_buffer_desc text;

	do {
		if (gss_display_status(&minor, status, kind, &kerberos, &more, &text))
			return;
		size_t n = strlen(out);
		snprintf(out + n, size - n, "%s%.*s", n ? ": " : "", (int)text.length,
			 (const char *)text.value);
		gss_release_buffer(&minor, &text);
	} while (more);
}

/* Return a command or a fact that helps after this failure. */
static char *fix(const char *why)
{
	const char *config = getenv("KRB5_CONFIG");

	if (strstr(why, "Clock skew"))
		return mem_strdup(
			"; this machine's clock and the KDC's differ by more than 5 minutes: let "
			"both follow one NTP server (check with `chronyc tracking`)");
	if (strstr(why, "Cannot contact any KDC") || strstr(why, "Cannot find KDC"))
		return mem_format("; check [realms] in %s, and that the KDC runs",
				  config ? config : "/etc/krb5.conf");
	if (login.keytab)
		return mem_format("; `klist -kt %s` lists the principals of the keytab. Try `kinit "
				  "-kt %s %s`",
				  login.keytab, login.keytab, login.principal);
	if (strstr(why, "not found in Kerberos database"))
		return mem_strdup("");
	return mem_format("; run `kinit %s`, or give --principal and --keytab",
			  login.principal ? login.principal : "NAME@REALM");
}

/* An ended ticket has no error of Kerberos. */
void login_reason(char *why, size_t size, uint32_t major, uint32_t minor)
{
	if (minor)
		add_status(why, size, minor, GSS_C_MECH_CODE);
	if (strcmp(why, "Success") == 0)
		why[0] = 0;
	if (!why[0])
		add_status(why, size, major, GSS_C_GSS_CODE);
}

const char *login_rule_advice(const char *said)
{
	return strstr(said, "No rules applied")
		       ? "; add a rule for this realm to hadoop.security.auth_to_local of the "
			 "servers (core-site.xml)"
		       : "";
}

static int no_ticket(OM_uint32 major, OM_uint32 minor, struct error *err)
{
	char why[400] = "";

	login_reason(why, sizeof why, major, minor);
	/* login_check has read the keytab, so the reason is not a missing file */
	if (login.keytab && strstr(why, "No credentials cache found"))
		snprintf(why, sizeof why, "the keytab has no key of this principal");
	char *help = fix(why);
	const char *problem;
	login_tokens(&problem);
	error_set(err, RC_CONFIG, "found no valid Kerberos ticket%s%s: %s%s%s%s",
		  login.principal ? " of " : "", login.principal ? login.principal : "", why, help,
		  problem ? "; " : "", problem ? problem : "");
	mem_free(help);
	return RC_CONFIG;
}

/* --- tickets --- */

static int acquire(gss_cred_id_t *out, OM_uint32 *left, struct error *err)
{
	char *file = login.keytab ? in_file(login.keytab) : NULL;
	gss_key_value_element_desc item[] = {{"client_keytab", file}, {"ccache", MEMORY_CACHE}};
	gss_key_value_set_desc store = {2, item};
	gss_OID_set_desc mechanisms = {1, &kerberos};
	gss_name_t name = GSS_C_NO_NAME;
	OM_uint32 minor = 0, unused, major = GSS_S_COMPLETE;

	if (login.keytab) {
		gss_buffer_desc text = {strlen(login.principal),
					(void *)(uintptr_t)login.principal};

		major = gss_import_name(&minor, &text, &principal_name, &name);
	}
	if (!GSS_ERROR(major))
		major = gss_acquire_cred_from(&minor, name, GSS_C_INDEFINITE, &mechanisms,
					      GSS_C_INITIATE, login.keytab ? &store : NULL, out,
					      NULL, left);
	gss_release_name(&unused, &name);
	mem_free(file);
	return GSS_ERROR(major) ? no_ticket(major, minor, err) : RC_OK;
}

/* Copy the principal, and its first component, which Hadoop uses as the user's name. */
static int name_owner(gss_cred_id_t cred, struct login_ticket *out, struct error *err)
{
	gss_name_t name = GSS_C_NO_NAME;
	gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor = 0, left = 0, unused,
		  major = gss_inquire_cred(&minor, cred, &name, &left, NULL, NULL);

	if (!GSS_ERROR(major))
		major = gss_display_name(&minor, name, &text, NULL);
	snprintf(out->principal, sizeof out->principal, "%.*s", (int)text.length,
		 text.value ? (const char *)text.value : "");
	snprintf(out->user, sizeof out->user, "%.*s", (int)strcspn(out->principal, "/@"),
		 out->principal);
	out->left_s = left;
	gss_release_buffer(&unused, &text);
	gss_release_name(&unused, &name);
	return GSS_ERROR(major) ? no_ticket(major, minor, err) : RC_OK;
}

/* Refuse the ticket cache of another user than --principal. */
static int check_owner(const struct login_ticket *t, struct error *err)
{
	const char *want = login.principal;
	size_t n = want ? strlen(want) : 0;

	if (!want || strcmp(t->principal, want) == 0 ||
	    (!strchr(want, '@') && strncmp(t->principal, want, n) == 0 && t->principal[n] == '@'))
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "the ticket cache has a ticket of %s, expected one of %s; run `kinit %s`, "
			 "or give --keytab",
			 t->principal, want, want);
}

/* --- wait for the KDC --- */

/*
 * A query of the KDC, in a thread of its own. libkrb5 waits for a silent KDC for half a minute, and a
 * signal does not end its wait. So a signal ends only our wait, and the thread keeps the query.
 */
struct kdc_query {
	int (*find)(struct kdc_query *q);
	char *service; /* of find_service */
	struct login_context begun;
	struct login_ticket ticket;
	struct error err;
	int rc;
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t ended;
	bool done, left; /* `left` is true if nobody waits */
};

static atomic_bool left_a_query;
static int64_t kdc_ms = INT64_MAX / 2;

void login_limit(int64_t ms)
{
	kdc_ms = ms;
}

bool login_left_a_query(void)
{
	return atomic_load(&left_a_query);
}

static void query_free(struct kdc_query *q)
{
	pthread_cond_destroy(&q->ended);
	pthread_mutex_destroy(&q->lock);
	mem_free(q->service);
	login_context_release(&q->begun);
	mem_free(q);
}

static void *run_query(void *arg)
{
	struct kdc_query *q = arg;

	q->rc = q->find(q);
	pthread_mutex_lock(&q->lock);
	q->done = true;
	bool left = q->left;
	pthread_cond_signal(&q->ended);
	pthread_mutex_unlock(&q->lock);
	if (left)
		query_free(q);
	return NULL;
}

/* Wait for the end of a query, for a signal, or for the limit. Return true if the query has ended. */
static bool wait_for(struct kdc_query *q, struct error *err)
{
	int64_t until = clock_ms() + kdc_ms;
	bool stopped = false;

	pthread_mutex_lock(&q->lock);
	while (!q->done && clock_ms() < until) {
		clock_wait(&q->ended, &q->lock, LOOK_MS);
		if (!stopped && stop_check(err)) {
			stopped = true;
			until = clock_ms() + LAST_MS;
		}
	}
	q->left = !q->done;
	if (q->left && !stopped)
		error_set(err, RC_IO,
			  "the KDC has not answered within %lld s; check [realms] in krb5.conf",
			  (long long)kdc_ms / 1000);
	if (q->left)
		atomic_store(&left_a_query, true);
	bool done = q->done;
	pthread_mutex_unlock(&q->lock);
	return done;
}

/* Run *model in a thread. Its result is in *model and *err. */
static int query_run(struct kdc_query *model, struct error *err)
{
	pthread_t thread;
	int rc = late_need(LATE_GSSAPI, err);

	if (rc) {
		mem_free(model->service);
		return rc;
	}
	struct kdc_query *q = mem_calloc(1, sizeof *q);
	*q = *model;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->ended, NULL);
	if (pthread_create(&thread, NULL, run_query, q)) {
		run_query(q);
	} else if (wait_for(q, err)) {
		pthread_join(thread, NULL);
	} else {
		pthread_detach(thread);
		return err->code;
	}
	model->ticket = q->ticket;
	model->begun = q->begun;
	q->begun = (struct login_context){0};
	rc = q->rc;
	if (rc)
		*err = q->err;
	query_free(q);
	return rc;
}

static int find_ticket(struct kdc_query *q)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	gss_cred_id_t cred = GSS_C_NO_CREDENTIAL;
	OM_uint32 left = 0, unused;

	pthread_mutex_lock(&lock);
	int rc = acquire(&cred, &left, &q->err);
	pthread_mutex_unlock(&lock);
	if (rc)
		return rc;
	rc = name_owner(cred, &q->ticket, &q->err);
	gss_release_cred(&unused, &cred);
	return rc;
}

int login_ticket(struct login_ticket *out, struct error *err)
{
	struct kdc_query q = {.find = find_ticket};
	int rc = login_check(err);

	if (rc == RC_OK)
		rc = query_run(&q, err);
	*out = q.ticket;
	if (rc)
		return rc;
	if (out->left_s == 0)
		return error_set(err, RC_CONFIG,
				 "the Kerberos ticket of %s has ended; run `kinit %s`, or give "
				 "--principal and --keytab",
				 out->principal, out->principal);
	return check_owner(out, err);
}

/* --- the login to a service --- */

/* RFC 4559 and Hadoop ask for less than SASL's layers of protection. */
static OM_uint32 flags_of(enum login_service how)
{
	return how == LOGIN_WEB ? GSS_C_MUTUAL_FLAG | GSS_C_REPLAY_FLAG
				: GSS_C_MUTUAL_FLAG | GSS_C_REPLAY_FLAG | GSS_C_SEQUENCE_FLAG |
					  GSS_C_INTEG_FLAG | GSS_C_CONF_FLAG;
}

/*
 * Explain a failure. A KDC that has no key "krbtgt/SERVERS@USERS" cannot give tickets of the servers'
 * realm to this user.
 */
static int service_failed(OM_uint32 major, OM_uint32 minor, struct error *err)
{
	char why[400] = "";

	login_reason(why, sizeof why, major, minor);
	const char *gate = strstr(why, "krbtgt/"), *unknown = strstr(why, " not found in Kerberos");
	if (!gate || !unknown || unknown < gate)
		return error_set(err, RC_CONFIG, "%s", why);
	const char *realm = gate + strlen("krbtgt/");
	return error_set(
		err, RC_CONFIG,
		"found no trust path to the servers' realm %.*s: %s; add this principal "
		"to the KDCs of both realms, name a path in [capaths] of krb5.conf, or log "
		"in with a principal of the servers' realm",
		(int)strcspn(realm, "@ "), realm, why);
}

int login_continue(struct login_context *c, struct bytes answer, struct error *err)
{
	gss_buffer_desc in = {answer.len, (void *)(uintptr_t)answer.ptr}, out = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor = 0, unused, got = 0, want = flags_of(c->how),
		  major = gss_init_sec_context(&minor, GSS_C_NO_CREDENTIAL, &c->context, c->server,
					       c->how == LOGIN_WEB ? &spnego : &kerberos, want, 0,
					       GSS_C_NO_CHANNEL_BINDINGS, &in, NULL, &out, &got,
					       NULL);

	c->done = major == GSS_S_COMPLETE;
	c->token.len = 0;
	if (!GSS_ERROR(major))
		buf_append(&c->token, out.value, out.length);
	gss_release_buffer(&unused, &out);
	if (GSS_ERROR(major))
		return service_failed(major, minor, err);
	if (c->done && (got & want) != want)
		return error_set(err, RC_CONFIG, "the server did not prove its identity");
	return RC_OK;
}

void login_context_release(struct login_context *c)
{
	OM_uint32 unused;

	if (c->server != GSS_C_NO_NAME)
		gss_release_name(&unused, &c->server);
	if (c->context != GSS_C_NO_CONTEXT)
		gss_delete_sec_context(&unused, &c->context, GSS_C_NO_BUFFER);
	buf_release(&c->token);
	*c = (struct login_context){0};
}

static int find_service(struct kdc_query *q)
{
	gss_buffer_desc text = {strlen(q->service), q->service};
	OM_uint32 minor = 0,
		  major = gss_import_name(&minor, &text,
					  q->begun.how == LOGIN_PRINCIPAL ? &principal_name
									  : &host_name,
					  &q->begun.server);

	return GSS_ERROR(major) ? service_failed(major, minor, &q->err)
				: login_continue(&q->begun, (struct bytes){0}, &q->err);
}

int login_begin(struct login_context *out, const char *service, enum login_service how,
		struct error *err)
{
	struct kdc_query q = {.find = find_service,
			      .service = mem_strdup(service),
			      .begun = {.how = how}};
	int rc = query_run(&q, err);

	*out = q.begun;
	return rc;
}
