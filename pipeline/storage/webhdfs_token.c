/*
 * webhdfs_token.c - log in to a secured HDFS: one delegation token for all requests
 *
 * A process without a ticket takes the token from its credentials file (login_tokens). Otherwise,
 * the ticket of login_ticket gets the token by SPNEGO. Later requests contain the token instead of
 * the user's name. Region servers get the same token with a bulk load, to read the files as the
 * user. The token is a secret, and no message contains it.
 */
#include <math.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>

#include "clock.h"
#include "io.h"
#include "webhdfs.h"

#define KIND	 HDFS_TOKEN
#define LOGICAL	 "ha-hdfs:" /* the service of several NameNodes with one name */
#define RPC_PORT ":8020"    /* the usual port of an hdfs:// URI */
#define FRESH_S	 3600	    /* far below the 24 h after which saltmill must renew a token */
#define FIRST_S	 3	    /* age at the first renewal, which reports how long a token lives */
#define AGAIN_S	 30	    /* until the next attempt, if there is no ticket or no answer */

/* A token that the NameNode gave to this process. */
struct webhdfs_token {
	struct webhdfs_token *older; /* uploads in progress may use it */
	char *text;
	double drawn_s;
	bool given;		/* of the credentials file, so this process does not cancel it */
	bool web;		/* its service is the address of the REST interface */
	_Atomic double renew_s; /* time of clock_seconds for the next renewal */
};

/* --- get a token --- */

/*
 * Return the query of a request for a token. Another user than the ticket's needs impersonation. The
 * server derives the renewer's name from the principal, as it does for the login.
 */
static char *token_query(const struct webhdfs *w, const struct login_ticket *t, bool other)
{
	struct buf renewer = {0};

	webhdfs_escape(&renewer, t->principal);
	buf_put(&renewer, 0);
	char *query = mem_format("op=GETDELEGATIONTOKEN&kind=" KIND "&renewer=%s%s%s",
				 (const char *)renewer.ptr, other ? "&doas=" : "",
				 other ? w->named_user : "");
	buf_release(&renewer);
	return query;
}

static int refused(const struct webhdfs *w, const struct webhdfs_answer *a,
		   const struct login_ticket *t, struct error *err)
{
	const char *body = a->body.len ? (const char *)a->body.ptr : "";
	bool skew = a->body.len && memmem(body, a->body.len, "Clock skew", 10);
	static const char nameless[] = "No rules applied"; /* KerberosName.java */

	if (a->no_ticket)
		return error_set(err, RC_CONFIG, "%s requires Kerberos: %s", a->server, a->why);
	if (a->status == 401 || skew)
		return error_set(
			err, RC_CONFIG, "%s refuses the Kerberos ticket of %s%s", a->server,
			t->principal,
			skew ? ": the clocks of this machine and of the NameNode differ by "
			       "more than 5 minutes; let both follow one NTP server"
			     : "; the principal HTTP/HOST must be in its keytab, and its "
			       "log has the reason");
	if (a->body.len && memmem(body, a->body.len, nameless, sizeof nameless - 1))
		return error_set(err, RC_CONFIG, "%s has no name for %s: %s%s", a->server,
				 t->principal, nameless, login_rule_advice(nameless));
	webhdfs_refused(w, "get a delegation token for", "/", a, err);
	return err->code = RC_CONFIG;
}

/* Use a token from now on. `given` is its form in the credentials file, or NULL. */
static void keep_token(struct webhdfs *w, const char *text, const struct hadoop_token *given,
		       const char *user)
{
	struct webhdfs_token *token = mem_calloc(1, sizeof *token);

	*token = (struct webhdfs_token){.older = w->token,
					.text = mem_strdup(text),
					.drawn_s = clock_seconds(),
					.renew_s = given ? INFINITY : clock_seconds() + FIRST_S,
					.given = given != NULL,
					.web = given && strcmp(given->kind, HDFS_TOKEN) != 0};
	w->token = token;
	w->secured = true;
	if (user && !w->simple_user) { /* another thread may just read this name */
		w->simple_user = w->place->user;
		w->place->user = mem_strdup(user);
	}
}

/* Copy the name that the NameNode gives the owner of a token, if the token has Hadoop's form. */
static void name_owner(const char *text, char owner[LOGIN_USER])
{
	struct storage_token t;
	struct buf raw = {0};

	if (token_read(text, &raw, &t) == RC_OK)
		token_user(&(struct hadoop_token){.identifier = t.identifier, .kind = KIND}, owner,
			   LOGIN_USER);
	buf_release(&raw);
}

/* Get a token with a ticket. */
static int draw(struct webhdfs *w, struct error *err)
{
	struct webhdfs_answer a = {0};
	struct login_ticket t;
	struct buf text = {0};
	int rc = login_ticket(&t, err);

	if (rc)
		return rc == RC_STOPPED ? rc : error_prefix(err, "HDFS requires Kerberos: ");
	bool other = w->named_user && strcmp(w->named_user, t.user) != 0;
	char *query = token_query(w, &t, other);
	rc = webhdfs_ask_by_ticket(w, "GET", query, &a, err);
	if (rc == RC_OK && a.status != 200)
		rc = refused(w, &a, &t, err);
	if (rc == RC_OK && answer_token(buf_bytes(&a.body), &text, err))
		rc = error_prefix(err, "%s: ", a.server);
	if (rc == RC_OK) {
		name_owner((const char *)text.ptr, t.user);
		keep_token(w, (const char *)text.ptr, NULL, other ? NULL : t.user);
	}
	buf_release(&text);
	webhdfs_answer_release(&a);
	mem_free(query);
	return rc;
}

/* --- take a token of the credentials file --- */

/* Return true if `host` is the name or an address of one of the NameNodes. */
static bool is_namenode(const struct webhdfs *w, const char *host, size_t n)
{
	bool found = false;

	for (size_t i = 0; i < w->nbases && !found; i++) {
		const char *at = strstr(w->bases[i], "://") + 3;
		char *name = mem_format("%.*s", (int)strcspn(at, ":/"), at), text[64];
		struct addrinfo *list = NULL, hints = {.ai_socktype = SOCK_STREAM};

		found = strlen(name) == n && strncmp(name, host, n) == 0;
		if (!found && getaddrinfo(name, NULL, &hints, &list) == 0)
			for (const struct addrinfo *a = list; a && !found; a = a->ai_next)
				found = getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof text,
						    NULL, 0, NI_NUMERICHOST) == 0 &&
					strlen(text) == n && strncmp(text, host, n) == 0;
		if (list)
			freeaddrinfo(list);
		mem_free(name);
	}
	return found;
}

/* Return the name in the service "ha-hdfs:NAME" or "ha-webhdfs:NAME" of a token, or NULL. */
static const char *name_of_service(const struct hadoop_token *t)
{
	const char *colon = strchr(t->service, ':');

	return strncmp(t->service, "ha-", 3) == 0 && colon ? colon + 1 : NULL;
}

static bool is_mine(const struct webhdfs *w, const char *user)
{
	return login_allows(user) && (!w->named_user || strcmp(w->named_user, user) == 0);
}

/*
 * Find the token for these NameNodes. Other NameNodes must not see it. The service ha-hdfs:NAME
 * names no host. If the URI lists hosts instead of the name, such a token counts only if it is the
 * only one. If `all_users`, tokens of other users count, too.
 */
static const struct hadoop_token *find_given(const struct webhdfs *w,
					     const struct hadoop_tokens *all, bool all_users,
					     char user[LOGIN_USER])
{
	const struct hadoop_token *other = NULL;
	size_t nothers = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct hadoop_token *t = &all->item[i];
		const char *name = name_of_service(t);

		if (!token_is_of_hdfs(t) || !token_user(t, user, LOGIN_USER) ||
		    !(all_users || is_mine(w, user)))
			continue;
		if (name ? strcmp(name, w->authority) == 0
			 : is_namenode(w, t->service, strcspn(t->service, ":")))
			return t;
		other = name ? t : other;
		nothers += name != NULL;
	}
	return nothers == 1 && !w->logical && token_user(other, user, LOGIN_USER) ? other : NULL;
}

/* Append Token.encodeToUrlString: base64 for URLs, without padding, and a NUL. */
static void put_url_text(struct buf *b, const struct hadoop_token *t)
{
	struct buf raw = {0};

	token_put(&raw, t->identifier);
	token_put(&raw, t->password);
	token_put(&raw, bytes_str(t->kind));
	token_put(&raw, bytes_str(t->service));
	text_base64(b, buf_bytes(&raw));
	while (b->len && b->ptr[b->len - 1] == '=')
		b->len--;
	for (size_t i = 0; i < b->len; i++)
		b->ptr[i] = b->ptr[i] == '+' ? '-' : b->ptr[i] == '/' ? '_' : b->ptr[i];
	buf_put(b, 0);
	buf_release(&raw);
}

/*
 * Take the token of the credentials file, each token once. Returns false if there is no new one: then
 * the NameNode has refused it.
 */
static bool take_given(struct webhdfs *w)
{
	char user[LOGIN_USER];
	struct buf text = {0};
	const struct hadoop_token *given = find_given(w, login_tokens(NULL), false, user);

	if (!given)
		return false;
	put_url_text(&text, given);
	bool seen = false;
	for (const struct webhdfs_token *t = w->token; t && !seen; t = t->older)
		seen = t->given && strcmp(t->text, (const char *)text.ptr) == 0;
	if (!seen)
		keep_token(w, (const char *)text.ptr, given, user);
	buf_release(&text);
	return !seen;
}

int webhdfs_login(struct webhdfs *w, double drawn_before_s, struct error *err)
{
	int rc = RC_OK;

	pthread_mutex_lock(&w->login_lock);
	if ((!w->token || w->token->drawn_s < drawn_before_s) && !take_given(w)) {
		bool given = w->token && w->token->given;

		rc = draw(w, err);
		if (rc == RC_CONFIG && given) {
			char *folder = storage_name(w->place, w->place->path);

			login_token_refused(folder, err);
			mem_free(folder);
		}
	}
	pthread_mutex_unlock(&w->login_lock);
	return rc;
}

struct webhdfs_token *webhdfs_token_now(struct webhdfs *w)
{
	pthread_mutex_lock(&w->login_lock);
	struct webhdfs_token *t = w->token;
	pthread_mutex_unlock(&w->login_lock);
	return t;
}

/*
 * Ask for a longer life (FSNamesystem.renewDelegationToken). HDFS refuses this after the maximum
 * lifetime.
 */
static void renew(struct webhdfs *w, struct webhdfs_token *t)
{
	struct webhdfs_answer a = {0};
	struct login_ticket ticket;
	struct error unsaid;
	int64_t until_ms;

	t->renew_s = clock_seconds() + AGAIN_S;
	if (login_ticket(&ticket, &unsaid))
		return;
	char *query = mem_format("op=RENEWDELEGATIONTOKEN&token=%s", t->text);
	webhdfs_try_by_ticket(w, "PUT", query, &a);
	if (a.status == 403) {
		t->renew_s = INFINITY;
	} else if (a.status == 200 &&
		   answer_long(buf_bytes(&a.body), &until_ms, &unsaid) == RC_OK) {
		double left = (double)(until_ms - clock_wall_ms()) / 1000;

		t->renew_s = clock_seconds() + (left > 2 ? left / 2 : 1);
	}
	webhdfs_answer_release(&a);
	mem_free(query);
}

double webhdfs_keep_alive(struct webhdfs *w, struct webhdfs_token *t)
{
	double began = t ? clock_seconds() : 0;

	if (!t || began < t->renew_s)
		return 0;
	pthread_mutex_lock(&w->login_lock);
	if (clock_seconds() >= t->renew_s)
		renew(w, t);
	pthread_mutex_unlock(&w->login_lock);
	return clock_seconds() - began;
}

char *webhdfs_identity(struct webhdfs *w)
{
	pthread_mutex_lock(&w->login_lock);
	char *out = w->token ? mem_format("delegation=%s", w->token->text)
			     : mem_format("user.name=%s", w->user);
	pthread_mutex_unlock(&w->login_lock);
	return out;
}

void webhdfs_logout(struct webhdfs *w)
{
	struct error ignored;

	while (w->token) {
		struct webhdfs_token *t = w->token;
		char *query = mem_format("op=CANCELDELEGATIONTOKEN&token=%s", t->text);
		struct webhdfs_answer a = {0};

		w->token = t->older;
		if (!t->given && !w->keep_token && !w->given_up && !webhdfs_stopped(w))
			webhdfs_ask_by_ticket(w, "PUT", query, &a, &ignored);
		webhdfs_answer_release(&a);
		mem_free(query);
		mem_free(t->text);
		mem_free(t);
	}
	mem_free(w->simple_user);
}

int webhdfs_renew(struct storage *s, const struct hadoop_tokens *tokens, bool cancel,
		  const struct hadoop_token **which, int64_t *until_ms, struct error *err)
{
	struct webhdfs *w = s->self;
	struct webhdfs_answer a = {0};
	struct login_ticket ticket;
	struct buf text = {0};
	char user[LOGIN_USER];

	*which = find_given(w, tokens, true, user);
	if (!*which)
		return error_set(err, RC_CONFIG, "found no token for %s", w->place->prefix);
	int rc = login_ticket(&ticket, err);
	if (rc)
		return rc;
	put_url_text(&text, *which);
	char *query = mem_format("op=%sDELEGATIONTOKEN&token=%s", cancel ? "CANCEL" : "RENEW",
				 (const char *)text.ptr);
	rc = webhdfs_ask_by_ticket(w, "PUT", query, &a, err);
	if (rc == RC_OK && a.status != 200)
		rc = webhdfs_refused(w, cancel ? "cancel the token for" : "renew the token for",
				     "/", &a, err);
	if (rc == RC_OK && !cancel && answer_long(buf_bytes(&a.body), until_ms, err))
		rc = error_prefix(err, "%s: ", a.server);
	webhdfs_answer_release(&a);
	buf_release(&text);
	mem_free(query);
	return rc;
}

/* --- give a token to region servers --- */

int token_read(const char *text, struct buf *raw, struct storage_token *out)
{
	struct bytes kind, service;
	char *standard = mem_format("%s%.*s", text, (int)((4 - strlen(text) % 4) % 4), "===");

	for (char *p = standard; *p; p++)
		*p = *p == '-' ? '+' : *p == '_' ? '/' : *p;
	bool read = text_unbase64(raw, standard);
	mem_free(standard);
	struct bytes rest = buf_bytes(raw);
	if (!read || !token_take(&rest, &out->identifier) || !token_take(&rest, &out->password) ||
	    !token_take(&rest, &kind) || !token_take(&rest, &service) || rest.len ||
	    !out->identifier.len || !out->password.len || !service.len)
		return RC_DATA;
	snprintf(out->service, sizeof out->service, "%.*s", (int)service.len,
		 (const char *)service.ptr);
	snprintf(out->kind, sizeof out->kind, "%s", KIND);
	return RC_OK;
}

/*
 * Return true if `authority` of an hdfs:// URI is the name of several NameNodes, not of a host. Such
 * a name has no port and no address.
 */
static bool is_nameservice(const struct webhdfs *w, const char *authority)
{
	struct addrinfo *list = NULL;

	if (w->logical && strcmp(authority, w->authority) == 0)
		return true;
	if (!*authority || strpbrk(authority, ":,"))
		return false;
	bool none = getaddrinfo(authority, NULL, NULL, &list) != 0;
	if (!none)
		freeaddrinfo(list);
	return none;
}

/* Set the service to "IP:PORT" of Hadoop RPC, by which a server finds the token of a NameNode. */
static void set_address(const char *authority, char *out, size_t size)
{
	struct addrinfo *list = NULL, hints = {.ai_socktype = SOCK_STREAM};
	size_t n = strcspn(authority, ":");
	char *host = mem_format("%.*s", (int)n, authority), text[64];

	if (getaddrinfo(host, NULL, &hints, &list) == 0 &&
	    getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof text, NULL, 0,
			NI_NUMERICHOST) == 0)
		snprintf(out, size, "%s%s", text, authority[n] ? authority + n : RPC_PORT);
	if (list)
		freeaddrinfo(list);
	mem_free(host);
}

/* Name the NameNodes of `uri` as the servers name them that use the token. */
static void set_service(const struct webhdfs *w, const char *uri, struct storage_token *out)
{
	const char *host = strstr(uri, "://");
	char *authority =
		mem_format("%.*s", host ? (int)strcspn(host + 3, "/") : 0, host ? host + 3 : "");

	if (is_nameservice(w, authority))
		snprintf(out->service, sizeof out->service, LOGICAL "%s", authority);
	else if (w->token->web)
		set_address(authority, out->service, sizeof out->service);
	mem_free(authority);
}

int webhdfs_token(struct storage *s, const char *uri, struct storage_token *out, struct error *err)
{
	struct webhdfs *w = s->self;
	pthread_mutex_lock(&w->login_lock);
	bool given = w->token && w->token->given;
	if (given) /* only another program can get a newer one */
		take_given(w);
	pthread_mutex_unlock(&w->login_lock);
	int rc = webhdfs_login(w, given ? 0 : clock_seconds() - FRESH_S, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&w->login_lock);
	rc = token_read(w->token->text, &out->raw, out);
	if (rc == RC_OK)
		set_service(w, uri, out);
	pthread_mutex_unlock(&w->login_lock);
	if (rc)
		return error_set(err, RC_IO,
				 "found a delegation token of another form, expected "
				 "Hadoop's four parts");
	return RC_OK;
}
