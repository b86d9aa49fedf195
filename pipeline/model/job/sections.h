/*
 * sections.h - the parts of the job file: each file of this room reads one
 *
 * All have the form of struct key.read (schema.h).
 */
#ifndef SALTMILL_JOB_SECTIONS_H
#define SALTMILL_JOB_SECTIONS_H

#include "schema.h"

/* The tables of keys, for those that stand in others. */
extern const struct schema job_schema, source_schema, kafka_schema, dialect_schema, field_schema,
	piece_schema, keep_schema, table_schema, family_schema, cell_schema, delete_schema,
	regions_schema, attributes_schema;
extern const struct schema *const part_schemas[]; /* ends with NULL */

/* source.c: slot struct job. */
int read_source(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* kafka.c: slot struct job; csv's parts of it: slot struct csv_source. */
/* section_topics.c */
int read_topic(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_topics(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_topic_pattern(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* One of the three, and what goes with it. */
int check_topics(struct reader *r, const struct node *n);
int read_kafka(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_csv_columns(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_csv_nulls(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_empty(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Null spellings, with the one that `empty` adds. */
int read_nulls(struct reader *r, const struct node *n, const struct key *key, const char ***nulls,
	       size_t *count);
/* After all is read: with `columns` every field must name one of them. */
int check_columns(struct reader *r);

/* section_fields.c: slot struct job. */
int read_fields(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Slot size_t: the index of the named field; one that is not listed is added as text. */
int read_field_use(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_transforms.c: slots struct field. */
int read_from(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_join(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_match(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_substring(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_case(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_map(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_otherwise(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* By name, added if it is not listed. */
size_t field_use(struct reader *r, const char *name, struct pos pos);

/* section_conditions.c: slot const struct job_condition *. */
int read_condition(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* Of this text, for faults that stand at a place of the job. */
int make_condition(struct reader *r, const char *text, struct pos pos, const char *what,
		   const struct job_condition **out);

/* zone.c: *out is NULL for UTC.  The sentence in err has no position yet. */
int zone_load(const struct zone **out, const char *name, struct arena *a, struct error *err);

/* section_encodings.c: slots enum encode_as, enum field_type. */
int read_encoding(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_field_type(struct reader *r, const struct node *n, const struct key *key, void *slot);
int encoding_check(struct reader *r, struct pos at, size_t field, enum encode_as as);

/* section_codes.c: slot struct field. */
int read_codes(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_unknown(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_parts.c: a list of key parts; salt: a salt may stand first. */
int read_parts(struct reader *r, const struct node *n, const char *what, bool salt,
	       struct key_part **parts, size_t *count);
int read_part(struct reader *r, const struct node *n, bool salt, struct key_part *part);
/* Slot struct job_table. */
int read_rowkey(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_families.c: slot struct table; section_attributes.c: slot struct attributes. */
int read_families(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_table_attributes(struct reader *r, const struct node *n, const struct key *key,
			  void *slot);
/* One attribute by its key's name in upper case. */
int read_attribute(struct reader *r, const struct node *n, const struct key *key, void *slot);
int read_configuration(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_tables.c: slot size_t, the index of the table of that name, one above this one. */
int read_table_use(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* section_cells.c, when all cells and delete markers are read: the table whose keys they are. */
int find_truth(struct reader *r, struct job_table *t);
/* section_cells.c, section_regions.c, section_tables.c: slots struct job_table, struct job_table,
 * struct job. */
int read_cells(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* When cells and markers are read. */
int check_cells(struct reader *r, struct job_table *t);
/* Slot struct cell_spec; check_qualifier when it is read. */
int read_qualifier(struct reader *r, const struct node *n, const struct key *key, void *slot);
int check_qualifier(struct reader *r, const struct node *n, struct cell_spec *c);
/* A family of the table by name. */
int read_family_use(struct reader *r, const struct node *n, const struct table *t, size_t *index);

/* section_deletes.c: slot struct job_table. */
int read_deletes(struct reader *r, const struct node *n, const struct key *key, void *slot);
/* A marker for the whole row of each message without a value. */
int delete_by_tombstones(struct reader *r, struct job_table *t);

int read_regions(struct reader *r, const struct node *n, const struct key *key, void *slot);
void regions_default(struct regions *g);
int read_tables(struct reader *r, const struct node *n, const struct key *key, void *slot);

/* written.c: the items of a list or mapping; n may be NULL. */
void keep_written(struct reader *r, const struct node *n, struct written *out);

/* job.c: another file that what the job means depends on. */
void job_digest_add(struct job *job, struct bytes file);
/* job.c: a path of the job file against its folder; "-" and absolute paths stay. */
const char *job_path(struct job *job, const char *name);

#endif
