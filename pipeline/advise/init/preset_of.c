/*
 * preset_of.c - recognize the programs whose files have a preset
 *
 * The job has the preset and all keys that init found. So the preset changes only what it adds, and
 * the proof runs the job with both.
 */
#include <string.h>

#include "sniff_parts.h"

static bool has_column(const struct columns *c, const char *name)
{
	return names_find(&c->names, name) != NULL;
}

static bool has_columns(const struct columns *c, const char *const *names)
{
	while (*names && has_column(c, *names))
		names++;
	return !*names;
}

static bool begins(struct bytes t, const char *with)
{
	return t.len >= strlen(with) && memcmp(t.ptr, with, strlen(with)) == 0;
}

/* Return true if a line begins with this text. */
static bool has_line(const struct lines *l, const char *with, size_t most)
{
	for (size_t i = 0; i < l->n && i < most; i++)
		if (begins(line_text(l, i), with))
			return true;
	return false;
}

/* Find the program that wrote values between bars with a ruler under the names. */
static const char *of_bars(const struct sniffed_shape *s, const struct lines *l)
{
	struct bytes ruler = bytes_of("", 0), row = line_text(l, s->first);

	for (size_t i = 0; i < l->n && !ruler.len; i++)
		if (line_is_ruler(line_text(l, i)))
			ruler = line_text(l, i);
	bool plus = memchr(ruler.ptr, '+', ruler.len), bar = memchr(ruler.ptr, '|', ruler.len);

	if (memchr(ruler.ptr, '=', ruler.len))
		return NULL;
	if (row.len && row.ptr[0] == '|')
		return plus ? NULL : "sap_alv";
	return plus && !bar ? "psql" : bar && !plus ? "sqlplus" : NULL;
}

static const char *of_text(const struct columns *c, const struct sniffed_shape *s,
			   const struct lines *l)
{
	static const char *const flow[] = {"version", "account-id", "interface-id", "srcaddr",
					   NULL};

	if (s->special && s->form.quotes == QUOTES_NONE && s->form.delimiter == '\t')
		return s->form.escapes == ESCAPES_MYSQL	     ? "mysql"
		       : s->form.escapes == ESCAPES_POSTGRES ? "postgres_copy"
							     : NULL;
	if (s->special || s->one)
		return NULL;
	if (s->known)
		return s->known;
	if (s->delimiter == HIVE_DELIMITER && !s->header)
		return "hive";
	if (s->fields && s->delimiter == ' ')
		return has_line(l, "#Software: Microsoft", 8) ? "iis" : NULL;
	if (s->delimiter == ' ')
		return has_columns(c, flow) ? "vpc_flow" : NULL;
	return s->delimiter == '|' && s->rulers && s->header ? of_bars(s, l) : NULL;
}

static const char *of_json(const struct columns *c)
{
	static const char *const trail[] = {"eventVersion", "eventSource", "eventName", NULL};
	static const char *const change[] = {"op", "ts_ms", "source.connector", NULL};
	static const char *const access[] = {"remote_addr", "status", "body_bytes_sent", NULL};

	if (c->form.hex_escapes)
		return "nginx_json";
	if (c->form.records)
		return strcmp(c->form.records, "Records[]") == 0 && has_columns(c, trail)
			       ? "cloudtrail"
			       : NULL;
	if (c->form.layout == JSON_BULK)
		return "elasticsearch_bulk";
	if (c->form.layout == JSON_DOCUMENTS)
		return c->form.extended ? "mongo" : NULL;
	return has_columns(c, change) ? "debezium" : has_columns(c, access) ? "nginx_json" : NULL;
}

void preset_find(struct columns *c, const struct sniffed_shape *s, const struct lines *l)
{
	static const char *const dashes[] = {"iis", "vpc_flow",	 "alb",	      "nlb",
					     "elb", "s3_access", "nginx_json"};

	if (c->schema)
		return;
	c->preset = c->json ? of_json(c) : of_text(c, s, l);
	c->slash_null = c->preset && strcmp(c->preset, "hive") == 0;
	for (size_t i = 0; i < sizeof dashes / sizeof *dashes && c->preset; i++)
		c->dash_null = c->dash_null || strcmp(c->preset, dashes[i]) == 0;
}

bool preset_fits(const struct columns *c)
{
	const struct signs *signs = &sign_pairs[c->signs];
	bool sap = c->preset && strcmp(c->preset, "sap_alv") == 0;

	if (!c->preset)
		return false;
	if (sap && (!signs->decimal || !signs->thousands || strcmp(signs->thousands, ".") != 0))
		return false;
	/* the presets of these programs make an empty text a value, which no number is */
	bool empty = strcmp(c->preset, "mysql") == 0 || strcmp(c->preset, "hive") == 0 ||
		     strcmp(c->preset, "postgres_copy") == 0;
	for (size_t i = 0; i < c->n; i++)
		if (empty && c->column[i].type != FIELD_TEXT && c->column[i].nulls)
			return false;
	return true;
}
