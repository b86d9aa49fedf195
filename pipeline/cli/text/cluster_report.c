/* cluster_report.c - the tables of a live cluster, their regions and their attributes */
#include <inttypes.h>

#include "cli/reports.h"

static const char *const states[] = {
	[TABLE_ENABLED] = "ENABLED",	 [TABLE_DISABLED] = "DISABLED",
	[TABLE_DISABLING] = "DISABLING", [TABLE_ENABLING] = "ENABLING",
	[TABLE_ENABLING + 1] = NULL,
};

/* --- tables --- */

static const struct form_member table_members[] = {
	{"table", FORM_TEXT, IN(hbase_table, name), "with its namespace, if it has one"},
	{"state", FORM_CHOICE, IN(hbase_table, state), "state of the table", .choices = states},
	{"regions", FORM_SIZE, IN(hbase_table, regions), "number of regions"},
};
const struct form tables_form =
	NAMED_FORM(hbase_table, table_members, "tables", "tables --json", .is_list = true);

void tables_report_text(struct buf *out, const struct hbase_tables *t)
{
	size_t width = strlen("TABLE");

	for (size_t i = 0; i < t->count; i++)
		if (strlen(t->item[i].name) > width)
			width = strlen(t->item[i].name);
	buf_printf(out, "%-*s  %-9s  REGIONS\n", (int)width, "TABLE", "STATE");
	for (size_t i = 0; i < t->count; i++)
		buf_printf(out, "%-*s  %-9s  %7zu\n", (int)width, t->item[i].name,
			   states[t->item[i].state], t->item[i].regions);
}

void tables_report_json(struct buf *out, const struct hbase_tables *t)
{
	form_put_list(out, &tables_form, t->item, t->count, FORM_REPORT);
}

/* --- regions --- */

struct region_view {
	struct bytes start, end, encoded;
	const char *server;
	bool unknown; /* the server has not reported the region */
	uint64_t bytes, files, requests;
};
struct regions_view {
	const char *table;
	struct region_view *regions;
	size_t nregions;
};

static const struct form_member region_members[] = {
	{"start", FORM_KEY, IN(region_view, start), "first row key; empty: unbounded"},
	{"end", FORM_KEY, IN(region_view, end), "first row key after the region; empty: unbounded"},
	{"encoded", FORM_BYTES, IN(region_view, encoded), "encoded name of the region"},
	{"server", FORM_TEXT, IN(region_view, server), "HOST:PORT; null: on no server",
	 FORM_OR_NULL},
	{"bytes", FORM_COUNT, IN(region_view, bytes),
	 "size of the store files, in whole MiB; null if the server has not reported the region",
	 FORM_NULL_IF, IF(region_view, unknown)},
	{"files", FORM_COUNT, IN(region_view, files), "store files; null as above", FORM_NULL_IF,
	 IF(region_view, unknown)},
	{"requests", FORM_COUNT, IN(region_view, requests),
	 "reads and writes since the server opened the region; null as above", FORM_NULL_IF,
	 IF(region_view, unknown)},
};
static const struct form region_form = FORM(region_view, region_members);

static const struct form_member regions_members[] = {
	{"table", FORM_TEXT, IN(regions_view, table), "with its namespace, if it has one"},
	{"regions", FORM_LIST, IN(regions_view, regions), "in the order of their keys",
	 ITEMS(regions_view, region_form, nregions)},
};
const struct form regions_form =
	NAMED_FORM(regions_view, regions_members, "regions", "regions --json");

static const char *server_name(struct arena *a, const struct hbase_place *at)
{
	return at->host[0] ? arena_format(a, "%s:%u", at->host, at->port) : NULL;
}

void regions_report_json(struct buf *out, const char *table, const struct hbase_regions *r,
			 const struct hbase_status *s)
{
	struct arena a = {0};
	struct regions_view v = {.table = table, .nregions = r->count};

	v.regions = arena_alloc(&a, (r->count + 1) * sizeof *v.regions);
	for (size_t i = 0; i < r->count; i++) {
		const struct hbase_region *one = &r->item[i];
		const struct hbase_store_files *f = hbase_status_stores(s, one->name);

		v.regions[i] = (struct region_view){.start = one->start,
						    .end = one->end,
						    .encoded = hbase_encoded_name(one->name),
						    .server = server_name(&a, &one->place),
						    .unknown = !f,
						    .bytes = f ? f->mib << 20 : 0,
						    .files = f ? f->files : 0,
						    .requests = f ? f->reads + f->writes : 0};
	}
	form_put(out, &regions_form, &v, FORM_REPORT);
	arena_release(&a);
}

enum { SERVER_NAME, REGION_NAME, START_KEY, END_KEY, SIZE, REQ, COLUMNS };

static const char *printed(struct arena *a, struct bytes b)
{
	struct buf text = {0};

	bytes_print(&text, b);
	const char *kept = arena_strndup(a, text.ptr ? (const char *)text.ptr : "", text.len);
	buf_release(&text);
	return kept;
}

static void put_line(struct buf *out, const char *const *cells, const size_t *widths)
{
	for (size_t c = 0; c < COLUMNS; c++)
		buf_printf(out, " %*s |", (int)widths[c], cells[c]);
	buf_put(out, '\n');
}

static void put_dashes(struct buf *out, const size_t *widths)
{
	for (size_t c = 0; c < COLUMNS; c++) {
		buf_put(out, ' ');
		for (size_t i = 0; i < widths[c]; i++)
			buf_put(out, '-');
		buf_append_str(out, " |");
	}
	buf_put(out, '\n');
}

void regions_report_text(struct buf *out, const struct hbase_regions *r,
			 const struct hbase_status *s)
{
	static const char *const head[COLUMNS] = {"SERVER_NAME", "REGION_NAME", "START_KEY",
						  "END_KEY",	 "SIZE",	"REQ"};
	struct arena a = {0};
	const char *(*rows)[COLUMNS] = arena_alloc(&a, (r->count + 1) * sizeof *rows);
	size_t widths[COLUMNS];

	for (size_t c = 0; c < COLUMNS; c++)
		widths[c] = strlen(head[c]);
	for (size_t i = 0; i < r->count; i++) {
		const struct hbase_region *one = &r->item[i];
		const struct hbase_store_files *f = hbase_status_stores(s, one->name);
		const char *server = server_name(&a, &one->place);

		rows[i][SERVER_NAME] = server ? server : "-";
		rows[i][REGION_NAME] = printed(&a, one->name);
		rows[i][START_KEY] = printed(&a, one->start);
		rows[i][END_KEY] = printed(&a, one->end);
		rows[i][SIZE] = f ? arena_format(&a, "%" PRIu64, f->mib) : "-";
		rows[i][REQ] = f ? arena_format(&a, "%" PRIu64, f->reads + f->writes) : "-";
		for (size_t c = 0; c < COLUMNS; c++)
			if (strlen(rows[i][c]) > widths[c])
				widths[c] = strlen(rows[i][c]);
	}
	put_line(out, head, widths);
	put_dashes(out, widths);
	for (size_t i = 0; i < r->count; i++)
		put_line(out, rows[i], widths);
	buf_printf(out, " %zu row%s\n", r->count, r->count == 1 ? "" : "s");
	arena_release(&a);
}

/* --- attributes --- */

struct description_view {
	const char *table;
	enum hbase_table_state state;
	struct description d;
};

static const struct form_member pair_members[] = {
	{"key", FORM_TEXT, IN(attribute, key), "the attribute"},
	{"value", FORM_TEXT, IN(attribute, value), "its value, as HBase stores it"},
};
static const struct form pair_form = FORM(attribute, pair_members);

static const struct form_member family_members[] = {
	{"name", FORM_TEXT, IN(described, name), "column family"},
	{"attributes", FORM_MAP, IN(described, items.item), "attributes and METADATA",
	 ITEMS(described, pair_form, items.count)},
	{"configuration", FORM_MAP, IN(described, configuration.item), "CONFIGURATION",
	 ITEMS(described, pair_form, configuration.count)},
};
static const struct form family_form = FORM(described, family_members);

static const struct form_member description_members[] = {
	{"table", FORM_TEXT, IN(description_view, table), "with its namespace, if it has one"},
	{"state", FORM_CHOICE, IN(description_view, state), "state of the table",
	 .choices = states},
	{"attributes", FORM_MAP, IN(description_view, d.table.items.item),
	 "attributes and METADATA", ITEMS(description_view, pair_form, d.table.items.count)},
	{"families", FORM_LIST, IN(description_view, d.families), "column families",
	 ITEMS(description_view, family_form, d.nfamilies)},
};
const struct form description_form =
	NAMED_FORM(description_view, description_members, "describe", "describe --json");

void description_report_text(struct buf *out, const char *table, enum hbase_table_state state,
			     const struct description *d)
{
	buf_printf(out, "Table %s is %s\n", table, states[state]);
	description_print(out, table, d);
}

void description_report_json(struct buf *out, const char *table, enum hbase_table_state state,
			     const struct description *d)
{
	const struct description_view v = {table, state, *d};

	form_put(out, &description_form, &v, FORM_REPORT);
}

/* --- dropped tables --- */

static const struct form_member dropped_members[] = {
	{"dropped", FORM_TEXTS, IN(dropped_tables, dropped), "dropped tables",
	 COUNT_AT(dropped_tables, ndropped)},
	{"failed", FORM_TEXTS, IN(dropped_tables, failed), "tables that drop could not drop",
	 COUNT_AT(dropped_tables, nfailed)},
};
const struct form dropped_form = NAMED_FORM(dropped_tables, dropped_members, "drop", "drop --json");

void dropped_report_text(struct buf *out, const struct dropped_tables *t)
{
	for (size_t i = 0; i < t->ndropped; i++)
		buf_printf(out, "%s: dropped\n", t->dropped[i]);
}

void dropped_report_json(struct buf *out, const struct dropped_tables *t)
{
	form_put(out, &dropped_form, t, FORM_REPORT);
}
