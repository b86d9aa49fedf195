/*
 * predicate.h - a question over the fields of an event, compiled: its values typed, its names
 * resolved
 *
 *   predicate_new, predicate_ask*
 *
 * Implemented in pipeline/field.  Values compare as their types do: numbers, decimals and times by
 * size, false before true, texts and bytes by their bytes.  What compares with a null is unknown,
 * and so is its `not` (question.h): an event is taken when the answer is ANSWER_YES.
 */
#ifndef SALTMILL_PREDICATE_H
#define SALTMILL_PREDICATE_H

#include "field.h"
#include "question.h"

struct predicate;

/*
 * In the arena; c and forms must outlive this call, c's question also the predicate.  RC_CONFIG at
 * its place: a value that is none of its field, `starts with` for what is no text, an order of
 * texts where a number is meant.
 */
int predicate_new(const struct predicate **out, const struct job_condition *c,
		  const struct field_forms *forms, struct arena *a, struct error *err);
/* That a condition can be asked of a field, as predicate_new has it; its values are not read. */
int predicate_check(const struct question *q, const struct condition *c, const struct field *f,
		    struct error *err);
/*
 * value gives a field's value, text NULL for a null, by its index in the job.  NULL ends the
 * asking: the answer is ANSWER_UNKNOWN, and why is the caller's to know.  Any thread.
 */
enum answer predicate_ask(const struct predicate *p,
			  const struct value *(*value)(void *ctx, size_t field), void *ctx);

#endif
