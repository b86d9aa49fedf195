/*
 * sections.h - the parts of the job file: each file of this room reads one
 *
 * All readers have the form of struct key.read (schema.h). A comment names their slot.
 */
#ifndef SALTMILL_JOB_SECTIONS_H
#define SALTMILL_JOB_SECTIONS_H

#include "schema.h"

/* The tables of keys that other files use. */
extern const struct schema job_schema, source_schema, kafka_schema, dialect_schema, field_schema,
	piece_schema, keep_schema, table_schema, family_schema, cell_schema, delete_schema,
	regions_schema, attributes_schema;
extern const struct schema *const part_schemas[]; /* ends with NULL */

/* section_source.c. Slot: struct job. */
int read_source(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* section_kafka.c. Slot: struct job; for the keys of csv: struct csv_source. */
/* section_topics.c */
int read_topic(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_topics(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_topic_pattern(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Check that one of the three is given, and the keys that depend on it. */
int check_topics(struct reader *r, const struct node *n);
int read_kafka(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_csv_columns(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_csv_nulls(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_empty(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Read the spellings of null, including the one that `empty` adds. */
int read_nulls(struct reader *r, const struct node *n, const struct key *key, const char ***nulls,
	       size_t *count);
/* Call after all is read. RC_CONFIG: with `columns`, a field names none of them. */
int check_columns(struct reader *r);

/* section_fields.c. Slot: struct job. */
int read_fields(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Slot: size_t, the index of the named field. A field that is not listed is added as text. */
int read_field_use(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_transforms.c. Slot: struct field. */
int read_from(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_join(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_match(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_substring(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_case(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_map(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_otherwise(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* Find a field by name, or add it as text. Returns its index. */
size_t field_use(struct reader *r, const char *name, struct pos pos);

/* section_conditions.c. Slot: const struct job_condition *. */
int read_condition(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Make a condition of this text. pos: its place in the job, for messages. */
int make_condition(struct reader *r, const char *text, struct pos pos, const char *what,
		   const struct job_condition **out);

/* zone.c. Sets *out to NULL for UTC. The message in err has no position yet. */
int zone_load(const struct zone **out, const char *name, struct arena *a, struct error *err);

/* section_encodings.c. Slots: enum encode_as, enum field_type. */
int read_encoding(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_field_type(struct reader *r, const struct node *n, const struct key *key, void *slot);
int encoding_check(struct reader *r, struct pos at, size_t field, enum encode_as as);

/* section_codes.c. Slot: struct field. */
int read_codes(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_unknown(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_parts.c: read a list of key parts. salt: the first part may be a salt. */
int read_parts(struct reader *r, const struct node *n, const char *what, bool salt,
	       struct key_part **parts, size_t *count);
int read_part(struct reader *r, const struct node *n, bool salt, struct key_part *part);
/* Slot: struct job_table. */
int read_rowkey(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_families.c, slot struct table; section_attributes.c, slot struct attributes. */
int read_families(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_table_attributes(struct reader *r, const struct node *n, const struct key *key,
			  void *slot);
/* Read one attribute. Its HBase name is the key's name in upper case. */
int read_attribute(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_configuration(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_tables.c. Slot: size_t, the index of the table of that name, listed above this one. */
int read_table_use(struct reader *r, const struct node *n, const struct key *key, void *slot);

/*
 * section_cells.c: find the table whose row keys the cells contain. Call after all cells and delete
 * markers are read.
 */
int find_truth(struct reader *r, struct job_table *t);
/* section_cells.c, section_regions.c: slot struct job_table; section_tables.c: slot struct job. */
int read_cells(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Call after cells and markers are read. */
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

/* written.c: keep the text of a list's or mapping's items. n may be NULL. */
void keep_written(struct reader *r, const struct node *n, struct written *out);

/* job.c: add a file to the job's digest, because the job depends on it. */
void job_digest_add(struct job *job, struct bytes file);
/* job.c: resolve a path of the job file against its folder. "-" and absolute paths stay. */
const char *job_path(struct job *job, const char *name);

#endif
