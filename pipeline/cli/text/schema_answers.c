/* schema_answers.c - keys, questions and their answers */
#include "schema_tables.h"

static const struct schema_key decode_keys[] = {
	{"row", "key", "the row key"},
	{"salt", "?count", "its bucket, where it has a salt in front"},
	{"key", "map", "fields and their values"},
};

static const struct schema_key ranges_keys[] = {
	{"exact", "flag", "the ranges have no other rows than those that were asked for"},
	{"ranges", "objects", "in the order of their keys"},
	{"ranges[].start", "key", "the first row key; empty: no bound"},
	{"ranges[].stop", "key", "the row key behind it; empty: no bound"},
	{"ranges[].row", "?key", "the one row that the range can hold, for a get"},
	{"filter", "text|null", "what is left to check of a row"},
	{"advice", "text|null", "how the question would cost less"},
	{"filter_exact", "?flag", "HBase's filters check all of it"},
	{"shell_filter", "?text", "for the hbase shell"},
	{"java_filter", "?text", "for HBase's client"},
	{"bytes", "?count", "that are read, by the load's or plan's figures"},
	{"table_bytes", "?count", "of the whole table"},
};

static const struct schema_key row_keys[] = {
	{"row", "key", "the row key"},
	{"cells", "objects", "in HBase's order"},
	{"cells[].family", "key", "its column family"},
	{"cells[].qualifier", "key", "in the family"},
	{"cells[].timestamp", "time", "of the cell"},
	{"cells[].type", "text", "Put; with --raw Delete, DeleteColumn... too"},
	{"cells[].value", "key", "its bytes"},
};

static const struct schema_key decoded_keys[] = {
	{"row", "key", "the row key"},
	{"key", "map", "its fields and their values"},
	{"cells", "map", "columns and their values; with --versions a list of versions each"},
};

const struct form_schema schemas_of_answers[] = {
	SCHEMA("key-decode", "a line of key decode --json", decode_keys),
	SCHEMA("key-ranges", "key ranges --json", ranges_keys),
	SCHEMA("rows", "a line of get and scan --json", row_keys),
	SCHEMA("decoded-rows", "the same with --decode", decoded_keys),
	{0},
};
