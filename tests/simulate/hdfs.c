/*
 * hdfs.c - simulates two NameNodes and a DataNode, with their tree and their answers
 *
 * The simulation loses some answers, before or after it changes the tree. Uploads break off and
 * stay short or open. The active NameNode changes. A file keeps its id after a rename.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "hdfs.h"
#include "storage/hdfs_sum.h"

/* --- the tree --- */

void hdfs_begin(void)
{
	W->hdfs = sim_new(sizeof *W->hdfs);
	W->hdfs->next_id = 16385;
	hdfs_make("/", true);
	hdfs_make("/user/ann", true);
	hdfs_make("/hbase/staging", true);
	hdfs_make("/hbase/data/default", true);
	hdfs_make("/hbase/archive/data/default", true);
}

struct hdfs_node *hdfs_first(void)
{
	return W->hdfs->first;
}

struct hdfs_node *hdfs_find(const char *path)
{
	struct hdfs_node *n = W->hdfs->first;

	while (n && strcmp(n->path, path) != 0)
		n = n->next;
	return n;
}

/* Make a node and the folders above the node. */
struct hdfs_node *hdfs_make(const char *path, bool folder)
{
	struct hdfs_node *n = hdfs_find(path);
	char up[PATHS];

	if (n)
		return n;
	snprintf(up, sizeof up, "%s", path);
	char *slash = strrchr(up, '/');
	if (slash > up) {
		*slash = 0;
		hdfs_make(up, true);
	}
	n = sim_new(sizeof *n);
	*n = (struct hdfs_node){.path = sim_text(path),
				.id = W->hdfs->next_id++,
				.modified = W->now,
				.mode = folder ? 0755 : 0644,
				.folder = folder,
				.next = W->hdfs->first};
	W->hdfs->first = n;
	return n;
}

static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	return strncmp(path, top, n) == 0 && (path[n] == 0 || path[n] == '/');
}

void hdfs_remove(const char *path)
{
	for (struct hdfs_node **p = &W->hdfs->first; *p;)
		if (is_below((*p)->path, path))
			*p = (*p)->next;
		else
			p = &(*p)->next;
}

bool hdfs_has_parent(const char *path)
{
	char up[PATHS];

	snprintf(up, sizeof up, "%s", path);
	char *slash = strrchr(up, '/');
	if (slash == up)
		return true;
	*slash = 0;
	struct hdfs_node *n = hdfs_find(up);
	return n && n->folder;
}

bool hdfs_rename(const char *from, const char *to)
{
	char path[2 * PATHS];

	if (!hdfs_find(from) || hdfs_find(to) || !hdfs_has_parent(to))
		return false;
	for (struct hdfs_node *n = W->hdfs->first; n; n = n->next)
		if (is_below(n->path, from)) {
			snprintf(path, sizeof path, "%s%s", to, n->path + strlen(from));
			n->path = sim_text(path);
		}
	return true;
}

/* A file that a process was writing stays open, because no other process has its lease. */
void hdfs_proc_ended(int proc)
{
	(void)proc;
}

/* --- one request --- */

static void unescape(char *out, size_t room, const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < room; i++) {
		unsigned byte;

		if (text[i] == '%' && sscanf(text + i + 1, "%2x", &byte) == 1) {
			out[n++] = (char)byte;
			i += 2;
		} else {
			out[n++] = text[i];
		}
	}
	out[n] = 0;
}

static void take_argument(struct request *r, const char *p, size_t len)
{
	char pair[PATHS + 40];

	unescape(pair, sizeof pair, p, len);
	char *value = strchr(pair, '=');
	if (!value)
		return;
	*value++ = 0;
	if (strcmp(pair, "op") == 0)
		snprintf(r->op, sizeof r->op, "%.39s", value);
	else if (strcmp(pair, "destination") == 0)
		snprintf(r->to, sizeof r->to, "%.599s", value);
	else if (strcmp(pair, "permission") == 0)
		r->mode = (unsigned)strtoul(value, NULL, 8);
	else if (strcmp(pair, "overwrite") == 0)
		r->overwrite = strcmp(value, "true") == 0;
}

struct request hdfs_parse(const char *url)
{
	static const char prefix[] = "/webhdfs/v1";
	struct request r = {0};
	const char *host = strstr(url, "://") + 3, *path = host + strcspn(host, "/");
	size_t n = strcspn(path, "?");

	snprintf(r.host, sizeof r.host, "%.*s", (int)strcspn(host, ":/"), host);
	r.data = strcmp(r.host, "dn") == 0;
	r.page = strncmp(path, prefix, sizeof prefix - 1) != 0;
	if (!r.page)
		unescape(r.path, sizeof r.path, path + sizeof prefix - 1, n - (sizeof prefix - 1));
	size_t len = strlen(r.path);
	if (len > 1 && r.path[len - 1] == '/')
		r.path[len - 1] = 0;
	for (const char *p = path + n; *p;) {
		size_t part = strcspn(p + 1, "&");

		take_argument(&r, p + 1, part);
		p += 1 + part;
	}
	return r;
}

static void put_status(struct buf *b, const struct hdfs_node *n, const char *name)
{
	buf_printf(
		b,
		"{\"pathSuffix\": \"%s\", \"type\": \"%s\", \"length\": %zu, \"owner\": \"ann\", "
		"\"group\": \"g\", \"permission\": \"%o\", \"fileId\": %llu, "
		"\"modificationTime\": %lld, \"blockSize\": %d, \"replication\": 1}",
		name, n->folder ? "DIRECTORY" : "FILE", n->size, n->mode, (unsigned long long)n->id,
		(long long)(n->modified / SIM_MS), n->folder ? 0 : BLOCK_BYTES);
}

long hdfs_refuse(struct buf *b, long status, const char *name, const char *text)
{
	b->len = 0;
	buf_printf(b, "{\"RemoteException\": {\"exception\": \"%s\", \"message\": \"%s\"}}", name,
		   text);
	return status;
}

static long missing(struct buf *b)
{
	return hdfs_refuse(b, 404, "FileNotFoundException", "File does not exist");
}

static void list(struct buf *b, const char *path)
{
	size_t n = strcmp(path, "/") ? strlen(path) : 0;
	const char *comma = "";

	buf_append_str(b, "{\"FileStatuses\": {\"FileStatus\": [");
	for (struct hdfs_node *c = W->hdfs->first; c; c = c->next) {
		if (strncmp(c->path, path, n) != 0 || c->path[n] != '/' || !c->path[n + 1] ||
		    strchr(c->path + n + 1, '/'))
			continue;
		buf_append_str(b, comma);
		put_status(b, c, c->path + n + 1);
		comma = ",";
	}
	buf_append_str(b, "]}}");
}

static void put_checksum(struct buf *b, const struct hdfs_node *n)
{
	struct hdfs_sum sum;
	uint8_t out[HDFS_SUM_BYTES];

	hdfs_sum_start(&sum, BLOCK_BYTES);
	hdfs_sum_add(&sum, n->data, n->size);
	hdfs_sum_end(&sum, out);
	hdfs_sum_release(&sum);
	buf_printf(b, "{\"FileChecksum\": {\"algorithm\": \"MD5-of-0MD5-of-512CRC32C\", "
		      "\"bytes\": \"");
	for (size_t i = 0; i < HDFS_SUM_BYTES; i++)
		buf_printf(b, "%02x", out[i]);
	buf_append_str(b, "00000000\", \"length\": 28}}");
}

static long locate(struct buf *b, const struct request *r, const char *url)
{
	const char *query = strchr(url, '?');

	(void)r;
	buf_printf(b, "{\"Location\": \"http://dn:9864/webhdfs/v1");
	for (const char *p = r->path; *p; p++)
		buf_put(b, (uint8_t)*p);
	buf_printf(b, "%s\"}", query);
	return 200;
}

static long rename_it(struct buf *b, const struct request *r)
{
	if (!hdfs_find(r->path))
		return hdfs_refuse(b, 404, "FileNotFoundException", "rename source is not found");
	if (hdfs_find(r->to))
		return hdfs_refuse(b, 403, "FileAlreadyExistsException",
				   "rename destination exists");
	if (!hdfs_rename(r->path, r->to))
		return hdfs_refuse(b, 404, "FileNotFoundException",
				   "rename destination has no parent");
	return 200;
}

/* Serve a request as a NameNode does. */
static long serve_name(struct buf *b, const struct request *r, const char *url)
{
	struct hdfs_node *n = hdfs_find(r->path);

	if (strcmp(r->op, "MKDIRS") == 0) {
		if (n && !n->folder)
			return hdfs_refuse(b, 403, "FileAlreadyExistsException", "not a directory");
		hdfs_make(r->path, true);
	} else if (strcmp(r->op, "DELETE") == 0) {
		hdfs_remove(r->path);
		buf_printf(b, "{\"boolean\": %s}", n ? "true" : "false");
		return 200;
	} else if (strcmp(r->op, "GETSERVERDEFAULTS") == 0) {
		buf_printf(b, "{\"FsServerDefaults\": {\"blockSize\": %d, \"replication\": 1}}",
			   BLOCK_BYTES);
		return 200;
	} else if (strcmp(r->op, "RENAME") == 0) {
		return rename_it(b, r);
	} else if (strcmp(r->op, "CREATE") == 0) {
		return locate(b, r, url);
	} else if (!n) {
		return missing(b);
	} else if (strcmp(r->op, "GETFILESTATUS") == 0) {
		buf_append_str(b, "{\"FileStatus\": ");
		put_status(b, n, "");
		buf_put(b, '}');
		return 200;
	} else if (strcmp(r->op, "LISTSTATUS") == 0) {
		list(b, r->path);
		return 200;
	} else if (strcmp(r->op, "SETPERMISSION") == 0) {
		n->mode = r->mode;
		return 200;
	} else if (strcmp(r->op, "SETTIMES") == 0) {
		n->modified = W->now;
		return 200;
	} else if (strcmp(r->op, "GETQUOTAUSAGE") == 0) {
		buf_append_str(b, "{\"QuotaUsage\": {\"fileAndDirectoryCount\": 1, \"quota\": -1, "
				  "\"spaceConsumed\": 0, \"spaceQuota\": -1}}");
		return 200;
	} else if (strcmp(r->op, "OPEN") == 0 || strcmp(r->op, "GETFILECHECKSUM") == 0) {
		return locate(b, r, url);
	} else {
		return 200; /* CHECKACCESS, SETTIMES */
	}
	buf_append_str(b, "{\"boolean\": true}");
	return 200;
}

static long serve_data(struct buf *b, const struct request *r)
{
	struct hdfs_node *n = hdfs_find(r->path);

	if (!n || n->folder)
		return missing(b);
	if (strcmp(r->op, "OPEN") == 0) {
		buf_append(b, n->data, n->size);
		return 200;
	}
	if (n->open)
		return hdfs_refuse(b, 403, "IOException",
				   "Fail to get checksum, since file is under construction");
	put_checksum(b, n);
	return 200;
}

long hdfs_serve(struct buf *b, const struct request *r, const char *url)
{
	if (r->page) {
		buf_append_str(b, "{\"beans\": [{\"CapacityRemaining\": 1000000000000, "
				  "\"CapacityTotal\": 2000000000000, \"NumLiveDataNodes\": 1, "
				  "\"FSState\": \"Operational\"}]}");
		return 200;
	}
	if (r->data)
		return serve_data(b, r);
	if (r->host[2] - '1' != W->hdfs->active)
		return hdfs_refuse(b, 403, "StandbyException", "not supported in state standby");
	return serve_name(b, r, url);
}
