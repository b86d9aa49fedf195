/*
 * value_proof.h - compare the values that a job reads with the text of the file (private to this
 * folder)
 *
 *   value_proof_new, value_proof_see, value_proof_end   all rows of a job
 *   value_compare                                       one value
 */
#ifndef SALTMILL_VALUE_PROOF_H
#define SALTMILL_VALUE_PROOF_H

#include "event.h"
#include "field.h"
#include "first_rows.h"
#include "job.h"
#include "row.h"

/* value_text.c. PROOF_NONE: only the parser of a load can read this text. */
enum proof_result { PROOF_SAME, PROOF_DIFFERS, PROOF_NONE };
/*
 * Compare a value with its text `t` in the file, which has no blanks around it. `text` is scratch
 * memory.
 */
enum proof_result value_compare(const struct field *f, const struct csv_source *csv, struct bytes t,
				const struct value *v, struct buf *text);

/*
 * split_again.c: split a row without the reader of a load. `ncolumns` is the number of values with
 * `extra: last`.
 */
struct split_row {
	struct buf text;
	struct split_value {
		size_t at, len;
		bool quoted;
	} * value;
	size_t n;
};
void split_again(struct split_row *r, const struct csv_source *csv, size_t ncolumns,
		 struct bytes row);
void split_release(struct split_row *r);
static inline struct bytes split_value(const struct split_row *r, size_t i)
{
	return i < r->n ? bytes_of(r->text.ptr + r->value[i].at, r->value[i].len) : bytes_of("", 0);
}

/*
 * prove_values.c: count values that differ in `proof`, with the place of the first. The job and the
 * names must live as long as the result.
 */
struct value_proof;
struct value_proof *value_proof_new(struct sniff_proof *proof, const struct job *job,
				    const char *const *names, size_t n);
/* Compare a row that the encoder has just encoded. */
void value_proof_see(struct value_proof *p, const struct event *ev, const struct row_encoder *e);
/* Check the lines after the last row if `whole`, and free the memory. */
void value_proof_end(struct value_proof *p, bool whole);

/*
 * prove_json.c: compare the columns of a JSON record with those that jansson finds in its text.
 * Return NULL if they are equal, otherwise a sentence in `why`.
 */
struct json_proof;
struct json_proof *json_proof_new(const struct job *job, const char *const *names, size_t n);
const char *json_proof_see(struct json_proof *p, const struct event *ev, struct buf *why);
void json_proof_free(struct json_proof *p);

#endif
