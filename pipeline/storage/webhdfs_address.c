/*
 * webhdfs_address.c - find the HTTP addresses of the NameNodes of a URI
 *
 * The authority of a URI is a list of hosts, or the name of a service of several NameNodes. Hadoop's
 * settings contain the addresses of such a name (hadoop_conf.h).
 */
#include <stdlib.h>

#include "hadoop_conf.h"
#include "webhdfs.h"

#define HTTP_PORT  "9870" /* dfs.namenode.http-address */
#define HTTPS_PORT "9871"

/* Return the text after the last ':' outside of [...], or NULL if there is no ':'. */
static const char *port_of(const char *host, size_t n)
{
	for (size_t i = n; i > 0 && host[i - 1] != ']'; i--)
		if (host[i - 1] == ':')
			return host + i;
	return NULL;
}

static bool is_port(const char *p, const char *end)
{
	unsigned long v = 0;
	const char *q = p;

	for (; q < end && *q >= '0' && *q <= '9' && q - p < 6; q++)
		v = v * 10 + (unsigned long)(*q - '0');
	return q == end && q > p && v > 0 && v < 65536;
}

static bool is_host(const char *p, size_t n)
{
	if (n == 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!(p[i] == '.' || p[i] == '-' || p[i] == '_' || p[i] == ':' || p[i] == '[' ||
		      p[i] == ']' || (p[i] >= '0' && p[i] <= '9') ||
		      ((p[i] | 32) >= 'a' && (p[i] | 32) <= 'z')))
			return false;
	return true;
}

/* Add one "HOST[:PORT]" of a list. `keep_port` is false if the port belongs to another protocol. */
static int add_base(struct webhdfs *w, const char *host, size_t n, bool https, bool keep_port,
		    struct error *err)
{
	const char *port = port_of(host, n);
	size_t name = port ? (size_t)(port - 1 - host) : n;

	if (!is_host(host, name) || (port && !is_port(port, host + n)))
		return error_set(err, RC_CONFIG, "found NameNode \"%.*s\", expected HOST[:PORT]",
				 (int)(n < 200 ? n : 200), host);
	w->bases = mem_grow(w->bases, w->nbases, sizeof *w->bases);
	if (port && keep_port)
		w->bases[w->nbases++] =
			mem_format("%s://%.*s", https ? "https" : "http", (int)n, host);
	else
		w->bases[w->nbases++] = mem_format("%s://%.*s:%s", https ? "https" : "http",
						   (int)name, host, https ? HTTPS_PORT : HTTP_PORT);
	return RC_OK;
}

static int add_bases(struct webhdfs *w, const char *list, size_t n, bool https, bool keep_port,
		     struct error *err)
{
	int rc = RC_OK;

	for (const char *p = list, *end = list + n; rc == RC_OK && p <= end;) {
		size_t len = 0;

		while (p + len < end && p[len] != ',')
			len++;
		rc = add_base(w, p, len, https, keep_port, err);
		p += len + 1;
	}
	return rc;
}

/* Return true if the authority may be a name of several NameNodes: one name without a port. */
static bool may_be_service(const char *host, size_t n)
{
	return n && is_host(host, n) && !memchr(host, ',', n) && !memchr(host, ':', n);
}

/*
 * Use the NameNodes of Hadoop's settings if `authority` is the name of a service. An empty authority
 * is that of fs.defaultFS. The result is the list of addresses, or NULL. It borrows from `c`.
 */
static const char *use_settings(struct webhdfs *w, struct hadoop_conf *c, const char *scheme,
				bool *https)
{
	bool rpc = strcmp(scheme, "hdfs") == 0;

	if (!*w->authority && rpc) {
		const char *fs = hadoop_conf_get(c, "fs.defaultFS");

		if (!fs || strncmp(fs, "hdfs://", 7) != 0)
			return NULL;
		mem_free(w->authority);
		w->authority = mem_format("%.*s", (int)strcspn(fs + 7, "/"), fs + 7);
	}
	bool tls = rpc ? hadoop_https_only(c) : *https;
	const char *list = hadoop_namenodes(c, w->authority, tls);
	w->logical = list != NULL;
	*https = list ? tls : *https;
	return list;
}

int webhdfs_find_namenodes(struct webhdfs *w, const char *scheme, const char *authority,
			   const char *http, struct error *err)
{
	bool rpc = strcmp(scheme, "hdfs") == 0, https = strcmp(scheme, "swebhdfs") == 0;
	struct hadoop_conf c = {0};
	size_t n = strlen(authority);
	const char *list = http;
	int rc = RC_OK;

	w->authority = mem_strdup(authority);
	if ((rpc && !n) || may_be_service(authority, n)) {
		rc = hadoop_conf_read(&c, err);
		const char *found = rc == RC_OK ? use_settings(w, &c, scheme, &https) : NULL;
		list = rpc && http ? http : found;
	}
	if (rc == RC_OK && !*w->authority)
		rc = error_set(err, RC_CONFIG,
			       "found a URI without a host, expected %s://HOST%s/PATH%s", scheme,
			       rpc ? "" : "[:PORT]",
			       rpc ? ", or fs.defaultFS in core-site.xml of $HADOOP_CONF_DIR" : "");
	if (rc == RC_OK)
		rc = list && (rpc || w->logical)
			     ? add_bases(w, list, strlen(list), https, true, err)
			     : add_bases(w, w->authority, strlen(w->authority), https, !rpc, err);
	arena_release(&c.arena);
	return rc;
}
