/*
 * field.h - a field's text to its typed value, transforms, predicates, and fast number parsing
 *
 *   field_forms_open, field_read*, field_forms_close     parse texts
 *   predicate_new, predicate_ask*                        decide a condition on an event
 *
 * Implemented in pipeline/model/field. The caller finds the text and decides which texts are null:
 * row/ for an event's columns, key/ for the command line and conditions.
 */
#ifndef SALTMILL_FIELD_H
#define SALTMILL_FIELD_H

#include <locale.h>

#include "encoding.h"
#include "job.h"
#include "pattern.h"
#include "question.h"
#include "bytes.h"

struct time_format;

/*
 * The end of the year 9999. A number beyond it that would be a usual time in a finer unit is
 * rejected: 1476640644000 is not a number of seconds.
 */
#define TIME_LAST_MS INT64_C(253402300799999)

/* How a field's texts are written in the source. */
struct field_form {
	const struct field *field;
	struct time_format *format; /* for a time with a format */
	int64_t near_day;	    /* for YEAR_NEAR, days since 1970 */
	locale_t c_locale;	    /* for strtod_l */
	/* separators in numbers; len 0: no thousands, a decimal point */
	struct bytes thousands, decimal;
};
/*
 * Prepare a form in the arena; the caller owns the locale. RC_CONFIG: the time format is invalid.
 */
int field_form_init(struct field_form *form, struct arena *a, const struct job *job,
		    const struct field *f, locale_t c_locale, struct error *err);

/* Memory that field_read uses; values may borrow from it. {0} is empty. */
struct field_scratch {
	struct buf decoded; /* decoded hex, or a number's plain text */
	struct buf number;
	bool has_file_day; /* YEAR_OF_FILE: set by the owner, with field_day_of */
	int64_t file_day;
};
void field_scratch_release(struct field_scratch *s);
/* Memory of one thread for transforms. {0} is empty. */
struct transform_scratch {
	struct buf text;
	struct pattern_scratch match;
	bool mapped; /* the text comes from the job, not from the event */
};
void transform_scratch_release(struct transform_scratch *s);
/*
 * Return the locale for upper and lower case in all of Unicode. (locale_t)0: the system lacks
 * C.UTF-8.
 */
locale_t transform_locale(void);
/*
 * Apply the steps of the field's transform to *text. The result is in *text's own bytes, in s or in
 * the job; in s and the job EVENT_ROOM_BYTES after it may be read. RC_DATA: a step rejects the
 * text.
 */
int transform_text(const struct field *f, locale_t letters, struct bytes *text,
		   struct transform_scratch *s, struct reject *why);

/*
 * Find the last date in a path, as 20260103, 2026-01-03, 2026_01_03 or 2026.01.03, in the years
 * 1900..2199, in days since 1970. False: there is none.
 */
bool field_day_of(const char *path, int64_t *days);
/*
 * Parse v->text, which is not null, into the typed member. A number's text becomes the plain form,
 * with only a decimal point. RC_DATA: the text is not a value of the field.
 */
int field_read(const struct field_form *form, struct value *v, struct field_scratch *s,
	       struct reject *why);
/* The same, but accept times also as ISO 8601; without an offset they are in the field's zone. */
int field_read_loosely(const struct field_form *form, struct value *v, struct field_scratch *s,
		       struct reject *why);
/* The same for v->text, but the result is in the arena and borrows nothing. */
int field_read_kept(const struct field_form *form, struct value *v, struct arena *a,
		    struct reject *why);

/*
 * Append the value as the source could spell it: a time as ISO 8601 in UTC, others from the typed
 * member. FIELD_TEXT and FIELD_BYTES give the text, with \xHH for bytes that are not UTF-8.
 */
void field_text(const struct field *f, const struct value *v, struct buf *out);

/* The forms of all fields of a job, by field index. */
struct field_forms {
	const struct job *job;
	struct field_form *form;
	locale_t c_locale;
	struct arena arena;
};
/* Prepare all forms. Call field_forms_close whatever the result. */
int field_forms_open(struct field_forms *f, const struct job *job, struct error *err);
void field_forms_close(struct field_forms *f);
/* Find a field's index by its name. RC_CONFIG: the job has no such field. */
int field_find(const struct job *job, struct bytes name, size_t *index, struct error *err);

/*
 * --- predicates: a compiled condition on the fields of an event ---
 *
 *   predicate_new, predicate_ask*
 *
 * Compiling types the values and resolves the names. Values compare by their type: numbers,
 * decimals and times by size, false before true, texts and bytes bytewise. A comparison with null
 * is unknown, and so is its `not` (question.h). An event is taken if the answer is ANSWER_YES.
 */

struct predicate;

/*
 * Compile c into the arena. c and forms must outlive this call, c's question also the predicate.
 * RC_CONFIG, with its place: a value does not fit its field, `starts with` on a field that is not
 * text, or an order of texts where numbers are meant.
 */
int predicate_new(const struct predicate **out, const struct job_condition *c,
		  const struct field_forms *forms, struct arena *a, struct error *err);
/*
 * Check that a condition is allowed on a field, as predicate_new does; its values are not parsed.
 */
int predicate_check(const struct question *q, const struct condition *c, const struct field *f,
		    struct error *err);
/* Test one condition, by its index in the question, on a value; text NULL is a null. */
enum answer predicate_test(const struct predicate *p, size_t condition, const struct value *v);
/*
 * Decide the whole condition. value returns a field's value by its index in the job; text NULL is a
 * null. If it returns NULL, the result is ANSWER_UNKNOWN at once, and the caller knows why. Any
 * thread.
 */
enum answer predicate_ask(const struct predicate *p,
			  const struct value *(*value)(void *ctx, size_t field), void *ctx);

#endif
