/* hadoop_conf.c - read core-site.xml and hdfs-site.xml, as org.apache.hadoop.conf.Configuration does */
#include "hadoop_conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "xml.h"

#define USUAL_FOLDER "/etc/hadoop/conf"
#define FILE_MOST    ((size_t)4 << 20)
#define DEEPEST	     20 /* replacements of variables in a value, as in Hadoop */
#define BLANKS	     " \t\r\n"

/* --- files --- */

/* Append the text without comments, and a NUL. The text ends at a comment without an end. */
static void without_comments(struct buf *out, struct bytes xml)
{
	char *text = mem_format("%.*s", (int)xml.len, (const char *)xml.ptr);

	for (const char *p = text; p && *p;) {
		const char *comment = strstr(p, "<!--");

		buf_append(out, p, comment ? (size_t)(comment - p) : strlen(p));
		p = comment ? strstr(comment + 4, "-->") : NULL;
		p = p ? p + 3 : NULL;
	}
	buf_put(out, 0);
	mem_free(text);
}

static const char *trimmed(struct arena *a, const struct buf *text)
{
	const char *p = (const char *)text->ptr;
	size_t n;

	p += strspn(p, BLANKS);
	for (n = strlen(p); n && strchr(BLANKS, p[n - 1]);)
		n--;
	return arena_strndup(a, p, n);
}

/* Add a <property>. One without a name or a value counts as missing, as in Hadoop. */
static void add_property(struct hadoop_conf *c, const char *text)
{
	struct buf name = {0}, value = {0};
	const char *at = text, *from = text;

	if (xml_element(&at, "<name>", &name) && xml_element(&from, "<value>", &value)) {
		c->item = arena_grow(&c->arena, c->item, c->count, sizeof *c->item);
		c->item[c->count++] = (struct hadoop_setting){trimmed(&c->arena, &name),
							      trimmed(&c->arena, &value)};
	}
	buf_release(&name);
	buf_release(&value);
}

int hadoop_conf_add(struct hadoop_conf *c, struct bytes xml, struct error *err)
{
	struct buf text = {0};
	char *p, *end;
	int rc = RC_OK;

	without_comments(&text, xml);
	p = (char *)text.ptr;
	if (!strstr(p, "<configuration"))
		rc = error_set(err, RC_CONFIG,
			       "found no <configuration>, expected a configuration of Hadoop");
	for (; rc == RC_OK && (p = strstr(p, "<property>")) && (end = strstr(p, "</property>"));
	     p = end + 1) {
		*end = 0;
		add_property(c, p);
	}
	buf_release(&text);
	return rc;
}

static int add_file(struct hadoop_conf *c, const char *folder, const char *name, struct error *err)
{
	char *path = mem_format("%s/%s", folder, name);
	struct buf xml = {0};
	int rc = RC_OK;

	if (access(path, F_OK) == 0) {
		rc = io_read_file_upto(path, FILE_MOST, &xml, err);
		if (rc == RC_OK && hadoop_conf_add(c, buf_bytes(&xml), err))
			rc = error_prefix(err, "%s: ", path);
	}
	buf_release(&xml);
	mem_free(path);
	return rc ? RC_CONFIG : RC_OK;
}

int hadoop_conf_read(struct hadoop_conf *out, struct error *err)
{
	const char *said = getenv("HADOOP_CONF_DIR"), *folder = said && *said ? said : USUAL_FOLDER;

	*out = (struct hadoop_conf){0};
	int rc = add_file(out, folder, "core-site.xml", err);
	return rc ? rc : add_file(out, folder, "hdfs-site.xml", err);
}

/* --- values --- */

static const char *find(const struct hadoop_conf *c, const char *name)
{
	for (size_t i = c->count; i > 0; i--)
		if (strcmp(c->item[i - 1].name, name) == 0)
			return c->item[i - 1].value;
	return NULL;
}

const char *hadoop_conf_get(struct hadoop_conf *c, const char *name)
{
	const char *value = find(c, name);

	for (unsigned i = 0; value && i < DEEPEST; i++) {
		const char *open = strstr(value, "${"), *close = open ? strchr(open, '}') : NULL;

		if (!close)
			break;
		char *inner = arena_strndup(&c->arena, open + 2, (size_t)(close - open - 2));
		const char *other =
			strncmp(inner, "env.", 4) == 0 ? getenv(inner + 4) : find(c, inner);
		if (!other)
			break;
		value = arena_format(&c->arena, "%.*s%s%s", (int)(open - value), value, other,
				     close + 1);
	}
	return value;
}

/* Return true if `name` is an item of a list with commas. */
static bool lists(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p && *p; p += strcspn(p, ",")) {
		p += strspn(p, "," BLANKS);
		if (strncmp(p, name, n) == 0 && strchr("," BLANKS, p[n]))
			return true;
	}
	return false;
}

/* Return the value of NAME.KEY, where KEY is "SERVICE" or "SERVICE.NAMENODE". */
static const char *of(struct hadoop_conf *c, const char *name, const char *key)
{
	return hadoop_conf_get(c, arena_format(&c->arena, "%s.%s", name, key));
}

/* Return HOST:PORT of a NameNode, or NULL. The host of the RPC address replaces 0.0.0.0. */
static const char *address(struct hadoop_conf *c, const char *key, bool https)
{
	const char *rpc = of(c, "dfs.namenode.rpc-address", key), *usual = https ? "9871" : "9870",
		   *web = of(c, https ? "dfs.namenode.https-address" : "dfs.namenode.http-address",
			     key);

	if (web && strncmp(web, "0.0.0.0:", 8) != 0)
		return web;
	if (!rpc)
		return NULL;
	return arena_format(&c->arena, "%.*s:%s", (int)strcspn(rpc, ":"), rpc,
			    web ? web + 8 : usual);
}

const char *hadoop_namenodes(struct hadoop_conf *c, const char *service, bool https)
{
	const char *services = hadoop_conf_get(c, "dfs.nameservices"), *out = "";

	if (!services || !*service || !lists(services, service))
		return NULL;
	const char *nodes = of(c, "dfs.ha.namenodes", service);
	if (!nodes) /* a service of one NameNode */
		return address(c, service, https);
	for (const char *p = nodes + strspn(nodes, "," BLANKS); *p; p += strspn(p, "," BLANKS)) {
		size_t n = strcspn(p, "," BLANKS);
		char *key = arena_format(&c->arena, "%s.%.*s", service, (int)n, p);
		const char *one = address(c, key, https);

		if (!one)
			return NULL;
		out = arena_format(&c->arena, "%s%s%s", out, *out ? "," : "", one);
		p += n;
	}
	return *out ? out : NULL;
}

bool hadoop_https_only(struct hadoop_conf *c)
{
	const char *policy = hadoop_conf_get(c, "dfs.http.policy");

	return policy && strcmp(policy, "HTTPS_ONLY") == 0;
}
