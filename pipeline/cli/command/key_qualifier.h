/*
 * key_values.h - builds the row key from FIELD=VALUE operands (inside pipeline/cli/command only)
 *
 * Call key_values_open first. Set each field with key_values_give or key_values_take. Then call
 * key_values_build and key_values_close.
 *
 * `key encode` prints the key, and `get` reads its row.
 */
#ifndef SALTMILL_CMD_KEY_VALUES_H
#define SALTMILL_CMD_KEY_VALUES_H

#include "field.h"
#include "key.h"

/*
 * The value of each field of the job, the text that the value borrows, and whether the field has a
 * value.
 */
struct key_values {
	const struct job *job;
	const struct field_forms *forms;
	struct value *values;
	struct buf *texts;
	struct field_scratch *read;
	bool *has;
};

/* Prepare `g` without values. Borrows `job` and `forms`. */
void key_values_open(struct key_values *g, const struct job *job, const struct field_forms *forms);
void key_values_close(struct key_values *g);
/*
 * Set the value of a field. Returns RC_CONFIG if there is no such field, if the line has it twice,
 * or if the value is invalid.
 */
int key_values_give(struct key_values *g, struct bytes name, struct bytes text, struct error *err);
/* Set the value of a field from the text "FIELD=VALUE", as key_values_give does. */
int key_values_take(struct key_values *g, const char *operand, struct error *err);
/* Return RC_CONFIG if a given field is not part of the row key. */
int key_values_check(const struct key_values *g, const struct job_table *t, struct error *err);
/* Append the table's row key. Returns RC_CONFIG if a value is missing or does not fit. */
int key_values_build(const struct key_values *g, struct key_table *k, struct buf *out,
		     struct error *err);
/*
 * Append the qualifier of the first computed column whose fields all have values. Sets *column to
 * its description. Returns RC_CONFIG if there is no such column, or if a value does not fit.
 */
int key_values_build_qualifier(const struct key_values *g, const struct key_table *k,
			       const struct cell_spec **column, struct buf *out, struct error *err);

#endif
