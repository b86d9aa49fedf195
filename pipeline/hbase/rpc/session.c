/*
 * session.c - find the cluster, and call through idle connections
 *
 * Masters report the address of the active master and of hbase:meta. Since HBase 2.5, region
 * servers report the same (ClientMetaService, Registry.proto).
 */
#include "session.h"

#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "decode.h"
#include "pool.h"
#include "io.h"
#include "zookeeper.h"

#define FIRST_TRIES 2
#define FIRST_MS    1000

struct idle {
	struct idle *next;
	struct rpc *c;
	struct hbase_place at;
	const char *service;
};

/* --- connections --- */

static bool same_place(const struct hbase_place *a, const struct hbase_place *b)
{
	return a->port == b->port && strcmp(a->host, b->host) == 0;
}

static struct rpc *take_idle(struct hbase *h, const struct hbase_place *at, const char *service)
{
	struct rpc *c = NULL;

	pthread_mutex_lock(&h->lock);
	for (struct idle **p = &h->idle; *p && !c;) {
		struct idle *i = *p;

		if (!same_place(&i->at, at) || strcmp(i->service, service) != 0) {
			p = &i->next;
			continue;
		}
		*p = i->next;
		c = i->c;
		mem_free(i);
		if (rpc_is_stale(c)) {
			rpc_close(c);
			c = NULL;
		}
	}
	pthread_mutex_unlock(&h->lock);
	return c;
}

static void give_back(struct hbase *h, struct rpc *c, const struct hbase_place *at,
		      const char *service)
{
	struct idle *i = mem_calloc(1, sizeof *i);

	*i = (struct idle){.c = c, .at = *at, .service = service};
	pthread_mutex_lock(&h->lock);
	i->next = h->idle;
	h->idle = i;
	pthread_mutex_unlock(&h->lock);
}

/*
 * Find the next token of HBase after `last`, or the first one if `last` is NULL. A token cannot act
 * for another user than its own. Returns NULL if there is none.
 */
static const struct hadoop_token *next_token(const struct hbase *h, const struct hadoop_token *last,
					     char user[LOGIN_USER])
{
	const struct hadoop_tokens *all = login_tokens(NULL);
	size_t first = 0;

	for (size_t i = 0; i < all->count; i++)
		first = &all->item[i] == last ? i + 1 : first;
	for (size_t i = first; i < all->count; i++) {
		const struct hadoop_token *t = &all->item[i];
		bool mine = strcmp(t->kind, HBASE_TOKEN) == 0 && token_user(t, user, LOGIN_USER) &&
			    login_allows(user);

		if (mine &&
		    (!h->named_user || !*h->named_user || strcmp(h->named_user, user) == 0) &&
		    (!h->cluster_id || strcmp(t->service, h->cluster_id) == 0))
			return t;
	}
	return NULL;
}

/*
 * Log in from now on with the next token after `last`, or with Kerberos if there is none. The user
 * is the token's, or the ticket's owner, who may act for `named_user`. The variable HADOOP_USER_NAME
 * has no effect, as in Hadoop.
 */
static int use_kerberos(struct hbase *h, const char *named_user, const struct hadoop_token *last,
			struct error *err)
{
	struct login_ticket t;
	const struct hadoop_token *token = next_token(h, last, t.user);
	int rc = token ? RC_OK : login_ticket(&t, err);

	pthread_mutex_lock(&h->lock);
	if (rc == RC_OK && !h->kerberos) {
		bool other = named_user && *named_user && strcmp(named_user, t.user) != 0;

		mem_free(h->simple_user); /* of an earlier attempt (try_kerberos) */
		mem_free(h->acts_for);
		h->simple_user = h->user; /* another thread may just send this name */
		h->user = mem_strdup(other ? named_user : t.user);
		h->acts_for = other ? mem_strdup(named_user) : NULL;
		h->token = token;
		h->token_file = login_tokens(NULL);
		h->kerberos = true;
	}
	pthread_mutex_unlock(&h->lock);
	return rc;
}

/*
 * Return the token for a new connection, or NULL for a ticket. A newer file of tokens replaces the
 * tokens of the first login, which may have expired.
 */
static const struct hadoop_token *token_now(const struct hbase *h)
{
	char user[LOGIN_USER];

	if (!h->kerberos || !h->token || login_tokens(NULL) == h->token_file)
		return h->kerberos ? h->token : NULL;
	const struct hadoop_token *newer = next_token(h, NULL, user);
	return newer && strcmp(user, h->user) == 0 ? newer : h->token;
}

/* Return the milliseconds until `until`, from 1 to `most`. */
static int64_t left_until(int64_t until, int64_t most)
{
	int64_t left = until - clock_ms();

	left = left > 1 ? left : 1;
	return left < most ? left : most;
}

static int call_once(struct hbase *h, const struct hbase_place *at, const char *service,
		     const char *method, const struct buf *message, int64_t until,
		     struct rpc_answer *out, struct hbase_failure *why, struct error *err)
{
	bool kerberos = h->kerberos;
	struct rpc_user user = {kerberos ? h->acts_for : h->user, kerberos, NULL};
	struct rpc *c = take_idle(h, at, service);
	int rc = RC_OK;

	*out = (struct rpc_answer){0};
	user.token = c ? NULL : token_now(h);
	if (!c)
		rc = rpc_connect(&c, at, service, &user, left_until(until, CONNECT_MS), why, err);
	if (rc)
		return rc;
	rc = rpc_call(c, method, message ? buf_bytes(message) : (struct bytes){0},
		      left_until(until, INT64_MAX), out, why, err);
	if (rpc_is_broken(c))
		rpc_close(c);
	else
		give_back(h, c, at, service);
	return rc;
}

/*
 * A server that demands Kerberos closes the connection at once, and the client may miss its reason.
 * Repeat the first call to a server, which changes nothing. After another loss, keep the first
 * error.
 */
static int ask_again(struct hbase *h, const struct hbase_place *at, const char *service,
		     const char *method, const struct buf *message, int64_t until,
		     struct rpc_answer *out, struct hbase_failure *why, struct error *err)
{
	for (unsigned i = 0; i < FIRST_TRIES; i++) {
		struct hbase_failure again;
		struct error unsaid;
		int rc = call_once(h, at, service, method, message,
				   clock_ms() + left_until(until, FIRST_MS), out, &again, &unsaid);

		if (rc && !again.wants_kerberos)
			continue;
		*why = again;
		*err = unsaid;
		return rc;
	}
	return err->code;
}

/* Go back to the login without a ticket. */
static void leave_kerberos(struct hbase *h)
{
	pthread_mutex_lock(&h->lock);
	char *user = h->user;
	h->user = h->simple_user;
	h->simple_user = user;
	h->kerberos = false;
	pthread_mutex_unlock(&h->lock);
}

/*
 * Repeat a lost first call with a ticket, if there is one, because a server that demands Kerberos
 * may lose its reason each time. If this call gets no answer either, keep the first error.
 */
static int try_kerberos(struct hbase *h, const struct hbase_place *at, const char *service,
			const char *method, const struct buf *message, int64_t until,
			struct rpc_answer *out, struct hbase_failure *why, struct error *err)
{
	struct hbase_failure again;
	struct error unsaid;

	int rc = use_kerberos(h, h->named_user, NULL, &unsaid);
	if (rc == RC_STOPPED)
		*err = unsaid;
	if (rc)
		return err->code;
	rc = call_once(h, at, service, method, message, until, out, &again, &unsaid);
	if (rc && again.trouble == TROUBLE_LOST) {
		leave_kerberos(h);
		return err->code;
	}
	*why = again;
	if (rc)
		*err = unsaid;
	return rc;
}

/* Return true if the first call to a cluster got no answer. */
static bool is_first_loss(const struct hbase *h, int rc, const struct hbase_failure *why)
{
	return rc && !h->kerberos && !h->cluster_id && why->trouble == TROUBLE_LOST;
}

/*
 * A server that demands Kerberos gets a second call with a ticket. A server that was silent until
 * the end does not: it would have closed the connection.
 */
static int call_until(struct hbase *h, const struct hbase_place *at, const char *service,
		      const char *method, const struct buf *message, int64_t until,
		      struct rpc_answer *out, struct hbase_failure *why, struct error *err)
{
	int rc = call_once(h, at, service, method, message, until, out, why, err);

	if (is_first_loss(h, rc, why) && clock_ms() < until)
		rc = ask_again(h, at, service, method, message, until, out, why, err);
	if (is_first_loss(h, rc, why) && clock_ms() < until)
		rc = try_kerberos(h, at, service, method, message, until, out, why, err);
	if (rc == RC_OK || !why->wants_kerberos || h->kerberos)
		return rc;
	struct error no_ticket;
	rc = use_kerberos(h, h->named_user, NULL, &no_ticket);
	if (rc) {
		*err = no_ticket;
		why->trouble = TROUBLE_REFUSED;
		if (rc != RC_STOPPED)
			error_prefix(err, "%s:%u: the cluster requires Kerberos: ", at->host,
				     at->port);
		return rc;
	}
	return call_once(h, at, service, method, message, until, out, why, err);
}

int session_call(struct hbase *h, const struct hbase_place *at, const char *service,
		 const char *method, const struct buf *message, int64_t patience_ms,
		 struct rpc_answer *out, struct hbase_failure *why, struct error *err)
{
	deadline_begin();
	int64_t until = clock_ms() + deadline_for(patience_ms);
	int rc = call_until(h, at, service, method, message, until, out, why, err);

	deadline_end(rc, strcmp(service, SERVICE_META) != 0);
	return rc;
}

/* --- the registry --- */

/* A query of the registry, which is a method of the servers or a node of ZooKeeper. */
struct registry_call {
	const char *method, *node;
};
static const struct registry_call cluster_id = {"GetClusterId", "hbaseid"},
				  active_master = {"GetActiveMaster", "master"},
				  meta_place = {"GetMetaRegionLocations", "meta-region-server"};

static int ask_zookeeper(const struct hbase *h, const struct hbase_place *at,
			 const struct registry_call *q, int64_t patience_ms, struct rpc_answer *out,
			 struct hbase_failure *why, struct error *err)
{
	char *path = mem_format("%s/%s", h->parent, q->node);

	*out = (struct rpc_answer){0};
	int rc = zookeeper_read(at, path, patience_ms < CONNECT_MS ? patience_ms : CONNECT_MS,
				&out->frame, &out->message, why, err);
	mem_free(path);
	return rc;
}

/*
 * Query the servers until one answers. Begin with the server that answered last. Each server has an
 * equal share of the time.
 */
static int ask_registry(struct hbase *h, const struct registry_call *q, struct rpc_answer *out,
			struct hbase_failure *why, struct error *err)
{
	pthread_mutex_lock(&h->lock);
	size_t first = h->answered;
	pthread_mutex_unlock(&h->lock);
	deadline_begin();
	int rc = RC_IO;
	for (size_t i = 0; i < h->nservers && rc && rc != RC_STOPPED; i++) {
		size_t at = (first + i) % h->nservers;
		int64_t share = deadline_for(CALL_MS) / (int64_t)(h->nservers - i);

		rc = h->parent ? ask_zookeeper(h, &h->servers[at], q, share, out, why, err)
			       : session_call(h, &h->servers[at], SERVICE_META, q->method, NULL,
					      share, out, why, err);
		if (rc == RC_OK) {
			pthread_mutex_lock(&h->lock);
			h->answered = at;
			pthread_mutex_unlock(&h->lock);
		}
	}
	deadline_end(rc, false);
	return rc;
}

/* Mark a decoding error as final, because a retry gives the same answer. */
static int unreadable(int rc, const struct registry_call *q, struct hbase_failure *why,
		      struct error *err)
{
	if (rc == RC_OK)
		return RC_OK;
	if (why->trouble == TROUBLE_NONE)
		why->trouble = rc == RC_IO ? TROUBLE_BUSY : TROUBLE_REFUSED;
	return error_prefix(err, "%s: ", q->method);
}

int session_find_meta(struct hbase *h, struct hbase_place *out, struct hbase_failure *why,
		      struct error *err)
{
	struct rpc_answer answer;
	int rc = ask_registry(h, &meta_place, &answer, why, err);

	if (rc)
		return rc;
	rc = h->parent ? decode_meta_node(answer.message, out, err)
		       : decode_meta_place(answer.message, out, err);
	rpc_answer_release(&answer);
	return unreadable(rc, &meta_place, why, err);
}

static int find_master(struct hbase *h, struct hbase_place *out, struct hbase_failure *why,
		       struct error *err)
{
	struct rpc_answer answer;

	pthread_mutex_lock(&h->lock);
	*out = h->master;
	pthread_mutex_unlock(&h->lock);
	if (out->host[0])
		return RC_OK;
	int rc = ask_registry(h, &active_master, &answer, why, err);
	if (rc)
		return rc;
	rc = decode_master(answer.message, out, err);
	rpc_answer_release(&answer);
	if (rc)
		return unreadable(error_set(err, RC_IO, "no master is active at the moment"),
				  &active_master, why, err);
	pthread_mutex_lock(&h->lock);
	h->master = *out;
	pthread_mutex_unlock(&h->lock);
	return RC_OK;
}

int session_call_region(struct hbase *h, const struct hbase_region *r, const char *service,
			const char *method, struct buf *b, int64_t patience_ms,
			struct rpc_answer *out, struct hbase_failure *why, struct error *err)
{
	*why = (struct hbase_failure){.trouble = TROUBLE_GONE};
	int rc =
		r->place.host[0]
			? session_call(h, &r->place, service, method, b, patience_ms, out, why, err)
			: error_set(err, RC_IO, "the region is on no server at the moment");
	buf_release(b);
	return rc;
}

int session_call_master(struct hbase *h, const char *method, const struct buf *message,
			struct rpc_answer *out, struct hbase_failure *why, struct error *err)
{
	struct hbase_place master;
	int rc = find_master(h, &master, why, err);

	if (rc)
		return rc;
	rc = session_call(h, &master, SERVICE_MASTER, method, message, CALL_MS, out, why, err);
	if (rc && (why->trouble == TROUBLE_GONE || why->trouble == TROUBLE_LOST)) {
		pthread_mutex_lock(&h->lock);
		h->master.host[0] = 0;
		pthread_mutex_unlock(&h->lock);
	}
	return rc;
}

/* --- opening --- */

/* Parse HOST[:PORT],... or zk:HOST[:PORT],...[/PARENT]. */
static int read_servers(struct hbase *h, const char *text, struct error *err)
{
	bool zookeeper = strncmp(text, "zk:", 3) == 0;
	const char *p = text + (zookeeper ? 3 : 0), *parent = zookeeper ? strchr(p, '/') : NULL;

	if (strstr(text, "://"))
		return error_set(err, RC_CONFIG,
				 "found the URL `%.200s`, expected HOST[:PORT]; write `%.*s`", text,
				 (int)strcspn(strstr(text, "://") + 3, "/"),
				 strstr(text, "://") + 3);
	if (zookeeper)
		h->parent = mem_strdup(parent && parent[1] ? parent : ZOOKEEPER_PARENT);
	for (;; p++) {
		size_t n = strcspn(p, zookeeper ? ",/" : ",");
		struct hbase_place at;

		if (!zookeeper && memchr(p, '/', n))
			return error_set(err, RC_CONFIG,
					 "found a path in the server `%.*s`, expected HOST or "
					 "HOST:PORT; write `%.*s`, or `zk:%.*s` for ZooKeeper",
					 (int)(n < 200 ? n : 200), p, (int)strcspn(p, "/"), p,
					 (int)(n < 200 ? n : 200), p);
		if (!place_read(bytes_of(p, n), zookeeper ? ZOOKEEPER_PORT : MASTER_PORT, &at))
			return error_set(err, RC_CONFIG,
					 "found server `%.*s`, expected HOST or HOST:PORT",
					 (int)(n < 200 ? n : 200), p);
		h->servers = mem_grow(h->servers, h->nservers, sizeof *h->servers);
		h->servers[h->nservers++] = at;
		p += n;
		if (*p != ',')
			return RC_OK;
	}
}

/* Read the cluster id, which the caller owns. */
static int ask_cluster_id(struct hbase *h, char **out, struct hbase_failure *why, struct error *err)
{
	struct rpc_answer answer;
	struct bytes id;
	int rc = ask_registry(h, &cluster_id, &answer, why, err);

	if (rc)
		return rc;
	rc = unreadable(decode_bytes(answer.message, &id, err), &cluster_id, why, err);
	if (rc == RC_OK)
		*out = mem_format("%.*s", (int)id.len, (const char *)id.ptr);
	rpc_answer_release(&answer);
	return rc;
}

/*
 * Repeat the first call with the other tokens, because the service of a token is a cluster's id,
 * which the client does not know yet. Then try a ticket. If there is none, keep the first error.
 */
static int try_others(struct hbase *h, struct hbase_failure *why, struct error *err)
{
	int rc = err->code;

	while (rc && h->token && why->trouble == TROUBLE_REFUSED) {
		const struct hadoop_token *last = h->token;
		struct error unsaid;

		leave_kerberos(h);
		if (use_kerberos(h, h->named_user, last, &unsaid))
			return rc;
		struct error first = *err;
		rc = ask_cluster_id(h, &h->cluster_id, why, err);
		if (rc && rc != RC_STOPPED && h->token)
			*err = first;
	}
	return rc;
}

int hbase_open(struct hbase **out, const char *servers, const char *user, struct hbase_failure *why,
	       struct error *err)
{
	struct hbase *h = mem_calloc(1, sizeof *h);

	*why = (struct hbase_failure){.trouble = TROUBLE_REFUSED};
	deadline_begin();
	pthread_mutex_init(&h->lock, NULL);
	h->user = who_acts(user);
	h->named_user = user ? mem_strdup(user) : NULL;
	int rc = read_servers(h, servers, err);
	if (rc == RC_OK && login_used()->principal)
		rc = use_kerberos(h, user, NULL, err);
	if (rc == RC_OK && ask_cluster_id(h, &h->cluster_id, why, err))
		rc = try_others(h, why, err);
	deadline_end(rc, true);
	if (rc) {
		hbase_close(h);
		h = NULL;
	}
	*out = h;
	return rc;
}

void hbase_close(struct hbase *h)
{
	if (!h)
		return;
	while (h->idle) {
		struct idle *next = h->idle->next;

		rpc_close(h->idle->c);
		mem_free(h->idle);
		h->idle = next;
	}
	pthread_mutex_destroy(&h->lock);
	mem_free(h->servers);
	mem_free(h->parent);
	mem_free(h->cluster_id);
	mem_free(h->user);
	mem_free(h->simple_user);
	mem_free(h->named_user);
	mem_free(h->acts_for);
	mem_free(h);
}

/*
 * Close connections to the old addresses of servers, because a host name may now belong to another
 * cluster. Also close connections that servers have closed. Without this, such connections stay
 * open as long as *h lives.
 */
static void close_old(struct hbase *h)
{
	pthread_mutex_lock(&h->lock);
	h->master.host[0] = 0;
	for (struct idle **p = &h->idle; *p;) {
		struct idle *i = *p;

		if (strcmp(i->service, SERVICE_META) != 0 && !rpc_is_stale(i->c)) {
			p = &i->next;
			continue;
		}
		*p = i->next;
		rpc_close(i->c);
		mem_free(i);
	}
	pthread_mutex_unlock(&h->lock);
}

bool hbase_is_same(struct hbase *h)
{
	struct hbase_failure why;
	struct error unsaid;
	char *id = NULL;

	close_old(h);
	bool same =
		ask_cluster_id(h, &id, &why, &unsaid) == RC_OK && strcmp(id, h->cluster_id) == 0;

	mem_free(id);
	return same;
}

const char *hbase_cluster_id(const struct hbase *h)
{
	return h->cluster_id;
}

const char *hbase_user(const struct hbase *h)
{
	return h->user;
}

bool hbase_is_secured(const struct hbase *h)
{
	return h->kerberos;
}

const struct hadoop_token *hbase_token_used(const struct hbase *h)
{
	return h->kerberos ? h->token : NULL;
}
