/*
 * field.h - parse a field's text into a typed value, transform it, and test conditions on it
 *
 *   field_forms_open, field_read*, field_forms_close     parse texts
 *   predicate_new, predicate_ask*                        decide a condition on an event
 *
 * Implemented in pipeline/model/field. The caller finds the text and decides which texts are null.
 * The callers are row/, for an event's columns, and key/, for the command line and conditions.
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
 * The end of the year 9999. saltmill rejects a later time if its number is a usual time in a finer
 * unit. For example, saltmill rejects 1476640644000 seconds, because this is a usual number of
 * milliseconds.
 */
#define TIME_LAST_MS INT64_C(253402300799999)

/* The form of a field's texts in the source. */
struct field_form {
	const struct field *field;
	struct time_format *format; /* the compiled format of a time; else NULL */
	int64_t near_day;	    /* YEAR_NEAR: the day, in days since 1970 */
	locale_t c_locale;	    /* for strtod_l */
	/*
	 * separators in numbers; if `len` is 0, there is no thousands separator, and the decimal
	 * separator is a point
	 */
	struct bytes thousands, decimal;
	enum minus minus;
};
/*
 * Prepare a form in the arena. The caller owns the locale. Returns RC_CONFIG if the time format is
 * invalid.
 */
int field_form_init(struct field_form *form, struct arena *a, const struct job *job,
		    const struct field *f, locale_t c_locale, struct error *err);

/* Memory that field_read uses. Values may borrow from this memory. {0} is empty. */
struct field_scratch {
	struct buf decoded; /* decoded hex digits, or a number's plain text */
	struct buf number;
	bool has_file_day; /* the path has a date, which the owner set with field_day_of for
			      YEAR_OF_FILE */
	int64_t file_day;
};
void field_scratch_release(struct field_scratch *s);
/* Memory of one thread for transforms. Start with {0}. */
struct transform_scratch {
	struct buf text;
	struct pattern_scratch *match; /* memory for patterns, which the caller owns */
	bool mapped;		       /* the result is a text of the job, not of the event */
};
void transform_scratch_release(struct transform_scratch *s);
/*
 * Return the locale for upper and lower case in all of Unicode, or (locale_t)0 if the system lacks
 * C.UTF-8.
 */
locale_t transform_locale(void);
/*
 * Apply the steps of the field's transform to *text. The result is part of the old *text, or is in
 * `s` or in the job. If the result is in `s` or in the job, code may read EVENT_ROOM_BYTES after
 * it. Returns RC_DATA if a step rejects the text.
 */
int transform_text(const struct field *f, locale_t letters, struct bytes *text,
		   struct transform_scratch *s, struct reject *why);

/*
 * Return the text that a question means. If no value of the field has `text`, but `map` lists `text`
 * as a name, this is the name's replacement. Otherwise it is `text`.
 */
struct bytes transform_asked(const struct field *f, struct bytes text);

/*
 * Find the last date in a path, in days since 1970. Dates look like 20260103, 2026-01-03,
 * 2026_01_03 or 2026.01.03, in the years 1900 to 2199. Returns false if the path has no date.
 */
bool field_day_of(const char *path, int64_t *days);
/*
 * Find the value of the last folder NAME=VALUE in a path, as it is in the path. Returns false if the
 * path has no such folder.
 */
bool path_partition(const char *path, const char *name, struct bytes *value);
struct event;
/*
 * Append the text of an event's column that is not in the event (enum origin). `name` is the
 * column's name. Returns false, and appends nothing, if the column is null.
 */
bool origin_text(enum origin origin, const char *name, const struct event *ev, struct buf *out);
/*
 * Parse v->text, which is not null, into the typed member. The function replaces a number's text by
 * a plain form without thousands separators and with a decimal point. Returns RC_DATA if the text
 * is not a value of the field.
 */
int field_read(const struct field_form *form, struct value *v, struct field_scratch *s,
	       struct reject *why);
/*
 * Parse a text of a question as field_read does, but also accept ISO 8601 times, and the names of the
 * field's `map`. Times without an offset are in the field's zone.
 */
int field_read_loosely(const struct field_form *form, struct value *v, struct field_scratch *s,
		       struct reject *why);
/* Parse as field_read does, but put the value into the arena, so that the value borrows nothing. */
int field_read_kept(const struct field_form *form, struct value *v, struct arena *a,
		    struct reject *why);

/*
 * Append the value as a text that field_read_loosely accepts. Times are ISO 8601 in UTC. FIELD_TEXT
 * and FIELD_BYTES give the value's text, with \xHH for bytes that are not UTF-8.
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
/* Find a field's index by its name. Returns RC_CONFIG if the job has no such field. */
int field_find(const struct job *job, struct bytes name, size_t *index, struct error *err);

/*
 * --- predicates: a compiled condition on the fields of an event ---
 *
 *   predicate_new, predicate_ask*
 *
 * Compiling parses the values as the types of their fields and resolves the names. Numbers,
 * decimals and times compare by size, and texts and bytes compare bytewise. False is less than
 * true. A comparison with null is unknown, and so is the `not` of such a comparison (question.h). A
 * load keeps an event if the answer is ANSWER_YES.
 */

struct predicate;

/*
 * Compile `c` into the arena. The question of `c` must outlive the predicate. Returns RC_CONFIG,
 * with the place, if a value does not fit its field. Returns RC_CONFIG also for `starts with` on a
 * field that is not text. Returns RC_CONFIG, too, if the condition compares texts that look like
 * numbers by order.
 */
int predicate_new(const struct predicate **out, const struct job_condition *c,
		  const struct field_forms *forms, struct arena *a, struct error *err);
/*
 * Check, as predicate_new does, that a field allows a condition. The function does not parse the
 * values.
 */
int predicate_check(const struct question *q, const struct condition *c, const struct field *f,
		    struct error *err);
/*
 * Test one condition, by its index in the question, on a value. A value with `text` NULL is null.
 */
enum answer predicate_test(const struct predicate *p, size_t condition, const struct value *v);
/*
 * Decide the whole condition. `value` returns a field's value by its index in the job. A value with
 * `text` NULL is null. If `value` returns NULL because of an error, the result is ANSWER_UNKNOWN at
 * once. Any thread may call this function.
 */
enum answer predicate_ask(const struct predicate *p,
			  const struct value *(*value)(void *ctx, size_t field), void *ctx);

#endif
