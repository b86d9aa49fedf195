/*
 * sections.h - readers of the parts of the job file; each file of this folder reads one part
 *
 * All readers have the form of struct key.read (schema.h). A comment names the slot of each reader.
 */
#ifndef SALTMILL_JOB_SECTIONS_H
#define SALTMILL_JOB_SECTIONS_H

#include "schema.h"

/* The tables of keys that other files use. */
extern const struct schema job_schema, source_schema, json_schema, kafka_schema, dialect_schema,
	field_schema, piece_schema, keep_schema, expect_schema, table_schema, family_schema,
	cell_schema, delete_schema, regions_schema, spread_schema, attributes_schema,
	security_schema;
extern const struct schema *const part_schemas[]; /* ends with NULL */

/* section_security.c. Slot: struct job. */
int read_security(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_source.c. Slot: struct csv_source. */
int read_files(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_path_partitions(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* The row of `partitions` in the keys of each source of files. */
#define PARTITIONS_KEY                                                                                        \
	{                                                                                                     \
		.name = "partitions",                                                                         \
		WORDS(TEXTS, NULL,                                                                            \
		      "names of folders NAME=VALUE in the paths, as Hive and Spark write them; their values " \
		      "are columns",                                                                          \
		      "partitions: [dt, region]"),                                                            \
		.read = read_path_partitions                                                                  \
	}
int read_text_encoding(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Read the thousands or decimal sign of numbers. Slot: const char *. */
int read_number_sign(struct reader *r, const struct node *n, const struct key *key, void *slot);
int check_number_signs(struct reader *r, const struct node *n, const struct csv_source *c);
/* section_tags.c. Slot: struct bytes, which becomes the whole tags. */
int read_visibility(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_acl(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* section_json.c. Slot: struct job. */
int read_json(struct reader *r, const struct node *n, const struct key *key, void *slot);
/*
 * section_presets.c. Read the keys of the preset that the mapping `n` names, if it names one, into
 * job->csv. `of` is the key of the source.
 */
int read_preset(struct reader *r, const struct node *n, const char *of,
		const struct schema *schema);
/* Accept the name, which read_preset has checked. */
int read_preset_name(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* section_source.c. Slot: struct job. */
int read_source(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* section_kafka.c. Slot: struct job, or struct csv_source for the keys of csv. */
/* section_topics.c */
int read_topic(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_topics(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_topic_pattern(struct reader *r, const struct node *n, const struct key *key, void *slot);
/*
 * Check that the job has one of `topic`, `topics` and `pattern`, and check the keys that depend on
 * this choice.
 */
int check_topics(struct reader *r, const struct node *n);
int read_kafka(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Read at least one column name. All names must differ. */
int read_names(struct reader *r, const struct node *n, const struct key *key, const char ***names,
	       size_t *count);
int read_csv_columns(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_csv_nulls(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_empty(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Read the spellings of null, including the one that `empty` adds. */
int read_nulls(struct reader *r, const struct node *n, const struct key *key, const char ***nulls,
	       size_t *count);
/*
 * Check that `columns` contains the fields' columns, if the job has `columns`. Returns RC_CONFIG if
 * a column is missing. Call this function after all keys.
 */
int check_columns(struct reader *r);

/* section_fields.c. Slot: struct job. */
int read_fields(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_expect.c. Slot: struct field. */
int read_expect(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* Move the rules `unique` to the end, so that an event that breaks another rule takes no value. */
void order_expectations(struct job *job);

/* section_transforms.c. Slot: struct field. */
int read_from(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_first(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_join(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_match(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_substring(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_case(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Return the field's transform. The function adds one if the field has none. */
struct transform *transform_of(struct reader *r, struct field *f);
int read_otherwise(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* field_list.c. Add a field that reads the column of its name. The job owns the field. */
struct field *field_add(struct reader *r, const char *name, struct pos pos);
/* Find a field by name, or add the field as text. Returns the field's index. */
size_t field_use(struct reader *r, const char *name, struct pos pos);
/* Slot: size_t, the index of the named field. The reader adds an unlisted field as text. */
int read_field_use(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_map.c. Slot: struct field. */
int read_map(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Make a map of the codes, so that the field's text is the code in digits. */
void map_codes(struct reader *r, struct field *f);

/* section_conditions.c. Slot: const struct job_condition *. */
int read_condition(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Make a condition from a text. `pos` is the text's place in the job, for messages. */
int make_condition(struct reader *r, const char *text, struct pos pos, const char *what,
		   const struct job_condition **out);

/*
 * zone.c. Load a time zone. Set `*out` to NULL for UTC. The message in `err` has no position yet.
 */
int zone_load(const struct zone **out, const char *name, struct arena *a, struct error *err);

/* section_encodings.c. Slots: enum encode_as, enum field_type. */
int read_encoding(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_field_type(struct reader *r, const struct node *n, const struct key *key, void *slot);
int encoding_check(struct reader *r, struct pos at, size_t field, enum encode_as as);

/* section_codes.c. Slot: struct field. */
int read_codes(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_unknown(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Slot: struct job. */
int read_labels(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_parts.c. Read a list of key parts. If `salt` is true, the first part may be a salt. */
int read_parts(struct reader *r, const struct node *n, const char *what, bool salt,
	       struct key_part **parts, size_t *count);
int read_part(struct reader *r, const struct node *n, bool salt, struct key_part *part);
/* Slot: struct job_table. */
int read_rowkey(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_families.c. Slot: struct table. section_attributes.c. Slot: struct attributes. */
int read_families(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_table_attributes(struct reader *r, const struct node *n, const struct key *key,
			  void *slot);
/* Read one attribute. The attribute's HBase name is the key's name in upper case. */
int read_attribute(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_configuration(struct reader *r, const struct node *n, const struct key *key, void *slot);

/*
 * section_tables.c. Slot: size_t, the index of the named table, which the job lists above this
 * table.
 */
/* table_names.c. Return the name without the namespace `default:`. */
const char *without_default(const char *name);
int read_table_use(struct reader *r, const struct node *n, const struct key *key, void *slot);

/*
 * section_cells.c. Find the table whose row keys the cells contain. Call this function after all
 * cells and delete markers.
 */
int find_truth(struct reader *r, struct job_table *t);
/*
 * section_cells.c, section_regions.c. Slot: struct job_table. section_tables.c. Slot: struct job.
 */
int read_cells(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Check the cells of a table. Call this function after all cells and delete markers. */
int check_cells(struct reader *r, struct job_table *t);
/* Slot: struct cell_spec. Call check_qualifier afterwards. */
int read_qualifier(struct reader *r, const struct node *n, const struct key *key, void *slot);
int check_qualifier(struct reader *r, const struct node *n, struct cell_spec *c);
/* Find a family of the table by name. */
int read_family_use(struct reader *r, const struct node *n, const struct table *t, size_t *index);

/* section_deletes.c. Slot: struct job_table. */
int read_deletes(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Add a marker that deletes the whole row, for messages without a value. */
int delete_by_tombstones(struct reader *r, struct job_table *t);

int read_regions(struct reader *r, const struct node *n, const struct key *key, void *slot);
void regions_default(struct regions *g);
int read_tables(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* written.c. Keep the text of the items of a list or mapping. `n` may be NULL. */
void keep_written(struct reader *r, const struct node *n, struct written *out);

/* job_files.c. Set the job's digest to the digest of the job file's text. */
void job_digest_set(struct job *job, struct bytes text);
/* job_files.c. Add a file to the job's digest, because the job depends on the file. */
void job_digest_add(struct job *job, struct bytes file);
/*
 * job_files.c. Resolve a path of the job file against the job file's folder. "-", absolute paths and
 * objects of S3 do not change.
 */
const char *job_path(struct job *job, const char *name);

#endif
