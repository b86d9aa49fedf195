/* schema_plans.c - what is known before a load: plans, lint, checks, drift */
#include "schema_tables.h"

#define LINT_KEYS(at)                                                                              \
	{at "[].rule", "text", "its name, as pipeline/advise/lint/README.md lists it"},            \
		{at "[].severity", "text", "advice, warning or severe"},                           \
		{at "[].table", "text", "of the job"}, {at "[].line", "count", "of the job file"}, \
		{at "[].column", "count", "of the job file"},                                      \
		{at "[].what", "text", "what was found, with its figure"},                         \
		{at "[].why", "text", "what comes of it"},                                         \
		{at "[].fix", "text", "YAML in place of what is there"},                           \
	{                                                                                          \
		at "[].figure", "real", "what the rule measures"                                   \
	}

static const struct schema_key lint_keys[] = {LINT_KEYS("")};

static const struct schema_key plan_keys[] = {
	{"events", "count", "that were looked at"},
	{"rejected", "count", "bad ones among them"},
	{"tables", "objects", "in the order of the job"},
	{"tables[].name", "text", "with its namespace, if any"},
	{"tables[].rows", "count", "row keys, foreseen"},
	{"tables[].cell_bytes", "count", "of cells as KeyValue, foreseen"},
	{"tables[].disk_bytes", "count", "of files, foreseen"},
	{"tables[].disk_per_byte", "real", "bytes of files for one of cells"},
	{"tables[].target_cell_bytes", "real", "of cells in a region"},
	{"tables[].largest_over_target", "real", "the largest region by the target"},
	{"tables[].smallest_over_target", "real", "the smallest"},
	{"tables[].error_over_target", "real", "of the largest, with 99 % confidence"},
	{"tables[].input_share", "?real", "of the input that was looked at; missing: all"},
	{"tables[].scale_error", "?real", "of what is scaled by that, as a share of it"},
	{"tables[].regions", "objects", "in the order of their keys"},
	{"tables[].regions[].start", "key", "the first row key; empty: no bound"},
	{"tables[].regions[].end", "key", "the row key behind it; empty: no bound"},
	{"tables[].regions[].rows", "count", "row keys"},
	{"tables[].regions[].cell_bytes", "count", "of cells as KeyValue"},
	{"tables[].regions[].disk_bytes", "count", "of files"},
	{"tables[].regions[].cell_bytes_error", "real", "of cell_bytes, with 99 % confidence"},
	{"tables[].rivals", "objects", "the same keys under HBase's own split algorithms"},
	{"tables[].rivals[].algorithm", "text", "its name"},
	{"tables[].rivals[].regions", "count", "as many as here"},
	{"tables[].rivals[].empty", "count", "regions without a row"},
	{"tables[].rivals[].largest_share", "real", "of all bytes, in the largest region"},
	{"tables[].heavy", "objects", "rows and beginnings of rows with much in them"},
	{"tables[].heavy[].row", "flag", "a whole row key, not the beginning of some"},
	{"tables[].heavy[].key", "key", "its bytes"},
	{"tables[].heavy[].name", "text", "the same as fields and values"},
	{"tables[].heavy[].rows", "count", "that begin so, foreseen"},
	{"tables[].heavy[].cell_bytes", "count", "of them, foreseen"},
	{"tables[].heavy[].at_least", "count", "a bound of cell_bytes"},
	{"tables[].heavy[].at_most", "count", "the other bound"},
	{"tables[].heavy[].salts", "count", "buckets that it lies in"},
	{"tables[].places", "objects", "where the bytes lie, 512 keys at most"},
	{"tables[].places[].key", "key", "a row key"},
	{"tables[].places[].cell_bytes", "count", "from it on, up to the next, foreseen"},
	{"tables[].warnings", "texts", "what the job asks for and cannot have"},
	{"lint", "?objects", "what is unwise; not in plan.json, as some of it asks the clock"},
	LINT_KEYS("lint"),
};

static const struct schema_key settings_keys[] = {
	{"job_digest", "digest", "of the job file"},
	{"tuned", "flag", "`level: auto` was looked for"},
	{"columns", "objects", "of the input, in order"},
	{"columns[].name", "key", "as the header or the job has it"},
	{"tables", "objects", "in the order of the job"},
	{"tables[].name", "text", "with its namespace, if any"},
	{"tables[].disk_per_byte", "real", "bytes of files for one of cells; 0: no row was seen"},
	{"tables[].splits_digest", "digest", "of splits.txt"},
	{"tables[].tuned", "?objects", "what `level: auto` found"},
	TUNED_KEYS("tables[].tuned"),
};

static const struct schema_key check_keys[] = {
	{"rows", "count", "that were looked at"},
	{"whole", "flag", "there are no others"},
	{"good", "count", "would be loaded"},
	{"rejected", "count", "would be rejected"},
	{"filtered", "count", "give no table anything"},
	{"fields", "objects", "of the job"},
	{"fields[].name", "text", "of the field"},
	{"fields[].type", "text", "of the field"},
	{"fields[].used", "flag", "something is made of it"},
	{"fields[].nulls", "count", "rows without a value"},
	{"fields[].distinct", "count", "different values, up to a bound"},
	{"fields[].example", "text|null", "the first value"},
	{"unused_columns", "texts", "of the input, that no field has"},
	{"reasons", "map", "rejected rows by reason"},
	{"rejects", "objects", "the first of them"},
	{"rejects[].file", "text", "where the row is"},
	{"rejects[].line", "?count", "from 1; missing where the source has none"},
	{"rejects[].offset", "count", "byte of the unpacked file, or offset of the topic"},
	{"rejects[].reason", "text", "a word"},
	{"rejects[].field", "text|null", "of the job; null: of the whole row"},
	{"rejects[].detail", "text", "what was found, what was expected"},
	{"shown", "objects", "good rows, from text to cells"},
	{"shown[].file", "text", "where the row is"},
	{"shown[].line", "?count", "from 1; missing where the source has none"},
	{"shown[].offset", "count", "byte of the unpacked file, or offset of the topic"},
	{"shown[].fields", "objects", "that are used"},
	{"shown[].fields[].name", "text", "of the field"},
	{"shown[].fields[].text", "text|null", "as the source has it"},
	{"shown[].fields[].value", "text|null", "as the field's type has it"},
	{"shown[].tables", "objects", "in the order of the job"},
	{"shown[].tables[].table", "text", "its name"},
	{"shown[].tables[].row", "key|null", "the row key; null: it gives the table nothing"},
	{"shown[].tables[].key", "text|null", "the same as fields and values"},
	{"shown[].tables[].cells", "objects", "of the row"},
	{"shown[].tables[].cells[].family", "key", "its column family"},
	{"shown[].tables[].cells[].qualifier", "key", "in the family"},
	{"shown[].tables[].cells[].timestamp", "time", "of the cell"},
	{"shown[].tables[].cells[].type", "text", "Put, Delete..."},
	{"shown[].tables[].cells[].value", "key", "its bytes"},
};

static const struct schema_key drift_keys[] = {
	{"read", "count", "events"},
	{"rejected", "count", "bad ones, left out"},
	{"tables", "objects", "whose regions were given"},
	{"tables[].name", "text", "with its namespace, if any"},
	{"tables[].rows", "count", "row keys of the events"},
	{"tables[].bytes", "count", "of their files, foreseen"},
	{"tables[].max_filesize", "count", "where HBase splits a region"},
	{"tables[].largest_over_mean", "real", "the region that gets most by the mean"},
	{"tables[].regions", "objects", "that are live, in the order of their keys"},
	{"tables[].regions[].start", "key", "the first row key; empty: no bound"},
	{"tables[].regions[].rows", "count", "row keys of the events in it"},
	{"tables[].regions[].bytes", "count", "of their files, foreseen"},
	{"tables[].regions[].share", "real", "of all bytes"},
	{"tables[].regions[].live_bytes", "count|null", "that it has already; null: not told"},
	{"tables[].regions[].live_requests", "count|null",
	 "that it answers, of the cluster; null: not told"},
	{"tables[].regions[].bytes_after", "count", "both together"},
	{"tables[].regions[].bursts", "flag", "then HBase will split it"},
	{"tables[].regions[].hot", "flag", "it gets much more than the mean"},
	{"tables[].regions[].split_at", "keys", "where to split it before"},
	{"tables[].regions[].merge_with_next", "flag", "both together have little"},
	{"tables[].commands", "text", "for the hbase shell"},
};

const struct form_schema schemas_of_plans[] = {
	SCHEMA("plan", "plan --json, and plan.json of its folder", plan_keys),
	SCHEMA("settings", "settings.json of a plan", settings_keys),
	SCHEMA("lint", "lint --json", lint_keys),
	SCHEMA("check", "check --json", check_keys),
	SCHEMA("drift", "drift --json", drift_keys),
	{0},
};
