/* section_json.c - the keys of a source of JSON files */
#include "sections.h"

#define MIB	     (UINT64_C(1) << 20)
#define SLOT(member) .offset = offsetof(struct csv_source, member)

static const struct choice layouts[] = {{"lines", JSON_LINES},
					{"documents", JSON_DOCUMENTS},
					{"bulk", JSON_BULK}};

#define FORM(member) .offset = offsetof(struct csv_source, json.member)

static const struct key json_keys[] = {
	{.name = "files",
	 WORDS(TEXTS, NULL, "files with JSON objects; paths, patterns, folders, \"-\"",
	       "files: [events.jsonl]"),
	 .read = read_files},
	PARTITIONS_KEY,
	{.name = "preset",
	 WORDS(TEXT, NULL,
	       "the keys for a known program; `saltmill help preset` lists the presets, and other "
	       "keys of the job replace theirs",
	       "preset: cloudtrail"),
	 .read = read_preset_name},
	{.name = "null",
	 WORDS(TEXTS, NULL, "strings that mean null, in all fields", "null: [\"-\", \"\"]"),
	 .read = read_csv_nulls},
	{.name = "layout",
	 WORDS(CHOICE, "lines",
	       "`lines`: one object per line; `documents`: objects, or lists of objects, on any "
	       "lines; `bulk`: the pairs of lines of an Elasticsearch bulk request, with the "
	       "columns _op, _index and _id of the action",
	       "layout: documents"),
	 .read = read_choice,
	 FORM(layout),
	 CHOICES(layouts)},
	{.name = "records",
	 WORDS(TEXT, NULL,
	       "the list in each document whose items are the records, or, with {} in place of [], "
	       "the object whose members are, with the column _key for their names; `{}` is the "
	       "document; implies `layout: documents`",
	       "records: Records[]"),
	 .read = read_text,
	 FORM(records)},
	{.name = "explode",
	 WORDS(TEXT, NULL,
	       "a list in each record; each item is an event, with paths such as items[].sku; a "
	       "record without items is one event",
	       "explode: items[]"),
	 .read = read_text,
	 FORM(explode)},
	{.name = "unwrap",
	 WORDS(TEXT, NULL,
	       "a member that contains the record, as `payload` in messages of Kafka Connect; "
	       "saltmill reads a record without this member as it is",
	       "unwrap: payload"),
	 .read = read_text,
	 FORM(unwrap)},
	{.name = "extended",
	 WORDS(BOOL, "false",
	       "read {\"$oid\": \"5f\"}, {\"$date\": ...}, {\"$numberLong\": \"1\"} and the other "
	       "types of MongoDB as their text",
	       "extended: true"),
	 .read = read_bool,
	 FORM(extended)},
	{.name = "hex_escapes",
	 WORDS(BOOL, "false", "accept \\xHH in strings, which nginx writes", "hex_escapes: true"),
	 .read = read_bool,
	 FORM(hex_escapes)},
	{.name = "encoding",
	 WORDS(TEXT, "utf-8", "the character set of the files; `iconv --list` prints the names",
	       "encoding: utf-16"),
	 .read = read_text_encoding},
	{.name = "thousands",
	 WORDS(SIGN, NULL, "the character between groups of three digits, in strings",
	       "thousands: \".\""),
	 .read = read_number_sign,
	 SLOT(thousands)},
	{.name = "decimal",
	 WORDS(SIGN, "\".\"", "the character before a fraction, in strings", "decimal: \",\""),
	 .read = read_number_sign,
	 SLOT(decimal)},
	{.name = "max_row",
	 WORDS(SIZE, "16M", "the size limit of a line; a longer line ends the run", "max_row: 64M"),
	 .read = read_size,
	 SLOT(max_row_bytes),
	 .min = 1,
	 .max = 2048 * MIB},
};
const struct schema json_schema = SCHEMA("json", json_keys);

static int check_json_form(struct reader *r, const struct node *n, struct json_form *form)
{
	const struct node *layout = node_get(n, "layout");

	if (form->records && layout && form->layout != JSON_DOCUMENTS)
		return expected(r, layout, "layout", "documents, because the job has `records`");
	size_t len = form->records ? strlen(form->records) : 0;
	bool members = len > 1 && strcmp(form->records + len - 2, "{}") == 0;
	if (members && form->explode)
		return fault(r, n->pos, "explode: found `records: %s` too, expected one of them",
			     form->records);
	if (form->records)
		form->layout = members ? JSON_MEMBERS : JSON_DOCUMENTS;
	if (form->layout == JSON_BULK && (form->explode || form->unwrap))
		return fault(r, layout ? layout->pos : n->pos,
			     "layout: found `bulk` and `%s`, expected one of them",
			     form->explode ? "explode" : "unwrap");
	return RC_OK;
}

/*
 * Read a source of JSON objects. JSON has a null. A field's spellings of null also
 * apply to its strings.
 */
int read_json(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct job *job = slot;

	(void)key;
	job->source = SOURCE_JSON;
	job->kafka.format = KAFKA_JSON;
	job->csv = (struct csv_source){.delimiter = ',',
				       .quote = '"',
				       .quoted_nulls = true,
				       .empty_is_value = true,
				       .max_row_bytes = 16 * MIB};
	int rc = read_preset(r, n, "json", &json_schema);
	if (rc == RC_OK)
		rc = read_mapping(r, n, &json_schema, &job->csv);
	if (rc == RC_OK)
		rc = check_json_form(r, n, &job->csv.json);
	return rc ? rc : check_number_signs(r, n, &job->csv);
}
