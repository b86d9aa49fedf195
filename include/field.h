/*
 * field.h - a field's text to its value
 *
 * Implemented in pipeline/field.  Where the text is found, and which texts mean no value, is its
 * owner's business: an event's column (row/), the command line or a question (key/).
 */
#ifndef SALTMILL_FIELD_H
#define SALTMILL_FIELD_H

#include <locale.h>

#include "encoding.h"
#include "job.h"
#include "pattern.h"

struct time_format;

/* The end of the year 9999.  A number of units behind it that would be a usual time in a finer unit
 * is refused: 1476640644000 is no number of seconds. */
#define TIME_LAST_MS INT64_C(253402300799999)

/* How a field's texts are written. */
struct field_form {
	const struct field *field;
	struct time_format *format;	 /* of a time with a format */
	int64_t near_day;		 /* of YEAR_NEAR, since 1970 */
	locale_t c_locale;		 /* for strtod_l */
	struct bytes thousands, decimal; /* signs in numbers; len 0: none, a point */
};
/* In the arena; the locale is the caller's.  RC_CONFIG: a time format that is none. */
int field_form_init(struct field_form *form, struct arena *a, const struct job *job,
		    const struct field *f, locale_t c_locale, struct error *err);

/* What reading a value takes and what it then borrows besides its text.  {0} is empty. */
struct field_scratch {
	struct buf decoded; /* hex's bytes, or a number's plain text */
	struct buf number;
	bool has_file_day; /* YEAR_OF_FILE: set by the owner, by field_day_of */
	int64_t file_day;
};
void field_scratch_release(struct field_scratch *s);
/* Of one thread.  {0} is empty. */
struct transform_scratch {
	struct buf text;
	struct pattern_scratch match;
	bool mapped; /* the text is one of the job's, not the event's */
};
void transform_scratch_release(struct transform_scratch *s);
/* The locale whose letters have cases: all of Unicode.  (locale_t)0: the system lacks C.UTF-8. */
locale_t transform_locale(void);
/*
 * Put *text through the steps of the field's transform; what it becomes is in it, in s or in the
 * job, and in the latter two EVENT_ROOM_BYTES behind it may be read.  RC_DATA: a step refuses it.
 */
int transform_text(const struct field *f, locale_t letters, struct bytes *text,
		   struct transform_scratch *s, struct reject *why);

/*
 * The last date that stands in a path, as 20260103, 2026-01-03, 2026_01_03 or 2026.01.03 of a year
 * 1900..2199, in days since 1970.  false: none does.
 */
bool field_day_of(const char *path, int64_t *days);
/*
 * The typed value of v->text, which is not null.  A number's text becomes the plain one, with a
 * point alone.  RC_DATA: the text is no value of the field.
 */
int field_read(const struct field_form *form, struct value *v, struct field_scratch *s,
	       struct reject *why);
/*
 * The same, or of a time also as ISO 8601; without an offset it is of the field's zone.
 */
int field_read_loosely(const struct field_form *form, struct value *v, struct field_scratch *s,
		       struct reject *why);
/* The same of v->text, in the arena: it borrows nothing. */
int field_read_kept(const struct field_form *form, struct value *v, struct arena *a,
		    struct reject *why);

/*
 * Append the value as the source might spell it, ISO 8601 for a time (UTC): the typed member, of
 * FIELD_TEXT and FIELD_BYTES the text, where bytes that are no UTF-8 are \xHH.
 */
void field_text(const struct field *f, const struct value *v, struct buf *out);

/* All fields of a job, by index. */
struct field_forms {
	const struct job *job;
	struct field_form *form;
	locale_t c_locale;
	struct arena arena;
};
/* Release whatever the result. */
int field_forms_open(struct field_forms *f, const struct job *job, struct error *err);
void field_forms_close(struct field_forms *f);
/* The index of a field by name.  RC_CONFIG: the job has none like that. */
int field_find(const struct job *job, struct bytes name, size_t *index, struct error *err);

#endif
