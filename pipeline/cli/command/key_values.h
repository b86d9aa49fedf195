/*
 * key_values.h - the row key that FIELD=VALUE operands give (inside pipeline/cli/command only)
 *
 *   key_values_open, (key_values_give | key_values_take)*, key_values_build, key_values_close
 *
 * `key encode` prints the key, `get` reads its row.
 */
#ifndef SALTMILL_CMD_KEY_VALUES_H
#define SALTMILL_CMD_KEY_VALUES_H

#include "field.h"
#include "key.h"

/* By field of the job: its value, the text that the value borrows, and whether there is one. */
struct key_values {
	const struct job *job;
	const struct field_forms *forms;
	struct value *values;
	struct buf *texts;
	struct field_scratch *read;
	bool *has;
};

/* job and forms are borrowed. */
void key_values_open(struct key_values *g, const struct job *job, const struct field_forms *forms);
void key_values_close(struct key_values *g);
/* RC_CONFIG: there is no such field, it came twice, or it cannot have this value. */
int key_values_give(struct key_values *g, struct bytes name, struct bytes text, struct error *err);
/* The same of "FIELD=VALUE". */
int key_values_take(struct key_values *g, const char *operand, struct error *err);
/* RC_CONFIG: a value was given that the row key does not use. */
int key_values_check(const struct key_values *g, const struct job_table *t, struct error *err);
/* Append the table's row key.  RC_CONFIG: a value is missing or does not fit. */
int key_values_build(const struct key_values *g, struct key_table *k, struct buf *out,
		     struct error *err);

#endif
