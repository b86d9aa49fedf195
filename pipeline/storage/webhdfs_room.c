/* webhdfs_room.c - check free space, quotas, rights and safe mode of HDFS before an upload */
#include <string.h>

#include "clock.h"
#include "webhdfs.h"

/*
 * Return why the NameNode is not ready, or NULL if the NameNode is ready. After a restart, the
 * NameNode answers at once. But the NameNode is in safe mode, and reports no free space before its
 * DataNodes register.
 */
static const char *not_ready(const struct webhdfs_capacity *c)
{
	if (c->safe_mode)
		return "the NameNode is in safe mode and accepts no changes; `hdfs dfsadmin "
		       "-safemode get` shows when it ends";
	if (!c->bytes && (c->datanodes == 0 || c->total == 0))
		return "no DataNode has registered with the NameNode yet; check that the "
		       "DataNodes are running";
	return NULL;
}

/*
 * Query the capacity. Return false if the capacity is unknown, for example because the operator
 * closed the page.
 */
static bool ask_capacity(struct webhdfs *w, struct webhdfs_capacity *out)
{
	struct webhdfs_answer a = {0};
	struct error unread;

	webhdfs_page(w, "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState", &a);
	bool told = a.status == 200 && answer_capacity(buf_bytes(&a.body), out, &unread) == RC_OK;
	webhdfs_answer_release(&a);
	return told;
}

int webhdfs_free(struct storage *s, const char *path, uint64_t *bytes, struct error *err)
{
	struct webhdfs *w = s->self;
	struct webhdfs_defaults defaults;
	struct webhdfs_capacity c = {0};
	double until = webhdfs_until(w);
	/* this request finds the active NameNode */
	int rc = webhdfs_defaults(w, &defaults, err);

	*bytes = UINT64_MAX;
	for (unsigned n = 0; rc == RC_OK; n++) {
		if (!ask_capacity(w, &c))
			return RC_OK;
		const char *why = not_ready(&c);
		if (!why) {
			*bytes = c.bytes / defaults.replication;
			return RC_OK;
		}
		rc = backoff_wait(n, until, err);
		if (rc == RC_END) {
			char *name = storage_name(s, path);

			rc = error_set(err, RC_IO, "%s: %s", name, why);
			mem_free(name);
		}
	}
	return rc;
}

/* Query the unused part of one folder's quota. If a server does not report a quota, assume none. */
static int ask_quota(struct webhdfs *w, const char *path, const struct webhdfs_defaults *d,
		     struct storage_quota *out, struct error *err)
{
	struct webhdfs_answer a = {0};
	struct webhdfs_quota q;
	struct error unread;
	int rc = webhdfs_ask(w, "GET", path, "op=GETQUOTAUSAGE", &a, err);
	bool told = rc == RC_OK && a.status == 200 &&
		    answer_quota(buf_bytes(&a.body), &q, &unread) == RC_OK;

	webhdfs_answer_release(&a);
	if (!told)
		return rc;
	if (q.names < out->names)
		*out = (struct storage_quota){.names = q.names, .bytes = out->bytes};
	/* a file needs whole blocks until the close */
	uint64_t files = q.bytes < d->block_bytes * d->replication ? 0 : q.bytes / d->replication;
	if (files < out->bytes)
		out->bytes = files;
	return RC_OK;
}

int webhdfs_quota(struct storage *s, const char *path, struct storage_quota *out, struct error *err)
{
	struct webhdfs *w = s->self;
	struct webhdfs_defaults defaults;
	char *at = mem_strdup(path);
	int rc = webhdfs_defaults(w, &defaults, err);

	while (rc == RC_OK) {
		rc = ask_quota(w, *at ? at : "/", &defaults, out, err);
		char *slash = strrchr(at, '/');
		if (!slash || slash[1] == 0)
			break;
		slash[slash == at] = 0;
	}
	mem_free(at);
	return rc;
}

int webhdfs_may(struct storage *s, const char *path, const char *what, struct error *err)
{
	struct webhdfs *w = s->self;
	struct webhdfs_answer a = {0};
	char *query = mem_format("op=CHECKACCESS&fsaction=%s", what);
	int rc = webhdfs_ask(w, "GET", path, query, &a, err);

	if (rc == RC_OK && strcmp(a.refusal.exception, "AccessControlException") == 0)
		rc = webhdfs_refused(w, "use", path, &a, err);
	mem_free(query);
	webhdfs_answer_release(&a);
	return rc;
}
