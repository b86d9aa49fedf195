/* field_text.c - format values as text, and find fields by name */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "encoding.h"
#include "field.h"
#include "bytes.h"

/* Write the fewest digits that give the same number when parsed. */
static void put_real(struct buf *out, double d)
{
	char text[40];
	int digits = 1;

	do
		snprintf(text, sizeof text, "%.*g", digits, d);
	while (strtod(text, NULL) != d && ++digits <= 17);
	buf_append_str(out, text);
}

/* Write all digits of the scale, including zeros at the end. */
static void put_decimal(struct buf *out, int64_t v, uint32_t scale)
{
	uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, unit = 1;

	for (uint32_t i = 0; i < scale; i++)
		unit *= 10;
	buf_printf(out, "%s%" PRIu64, v < 0 ? "-" : "", size / unit);
	if (scale)
		buf_printf(out, ".%0*" PRIu64, (int)scale, size % unit);
}

void field_text(const struct field *f, const struct value *v, struct buf *out)
{
	switch (f->type) {
	case FIELD_TEXT:
	case FIELD_BYTES: text_utf8(out, v->text); return;
	case FIELD_HEX: bytes_hex(out, v->bytes); return;
	case FIELD_U32:
	case FIELD_U64: buf_digits(out, v->u); return;
	case FIELD_I64: buf_printf(out, "%" PRId64, (int64_t)v->u); return;
	case FIELD_F64: put_real(out, v->f); return;
	case FIELD_BOOL: buf_append_str(out, v->u ? "true" : "false"); return;
	case FIELD_TIME: time_text(v, out); return;
	case FIELD_DECIMAL: put_decimal(out, (int64_t)v->u, f->scale); return;
	case FIELD_UUID: uuid_text(v->bytes, out); return;
	case FIELD_IP: ip_text(v->bytes, out); return;
	case FIELD_CODE: text_utf8(out, codes_name(f->codes, (uint32_t)v->u)); return;
	}
}

int field_forms_open(struct field_forms *f, const struct job *job, struct error *err)
{
	*f = (struct field_forms){.job = job, .c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
	if (!f->c_locale)
		return error_errno(err, "cannot set up the C locale");
	f->form = arena_alloc(&f->arena, (job->nfields + 1) * sizeof *f->form);
	int rc = RC_OK;
	for (size_t i = 0; rc == RC_OK && i < job->nfields; i++)
		rc = field_form_init(&f->form[i], &f->arena, job, &job->fields[i], f->c_locale,
				     err);
	return rc;
}

void field_forms_close(struct field_forms *f)
{
	if (f->c_locale)
		freelocale(f->c_locale);
	arena_release(&f->arena);
}

static int unknown_field(const struct job *job, const char *name, struct error *err)
{
	struct buf list = {0};

	for (size_t i = 0; i < job->nfields && list.len < 200; i++)
		buf_printf(&list, "%s%.60s", i ? ", " : "", job->fields[i].name);
	error_set(err, RC_CONFIG, "%s has no field `%s`, expected one of %.*s", job->path, name,
		  (int)list.len, list.ptr ? (const char *)list.ptr : "");
	buf_release(&list);
	return RC_CONFIG;
}

int field_find(const struct job *job, struct bytes name, size_t *index, struct error *err)
{
	const char **known = mem_alloc((job->nfields + 1) * sizeof *known);
	char text[80];

	*index = job->nfields;
	for (size_t i = 0; i < job->nfields; i++) {
		known[i] = job->fields[i].name;
		if (bytes_eq(bytes_str(known[i]), name))
			*index = i;
	}
	text_quote(text, 60, name);
	const char *near = *index == job->nfields ? near_miss(text, known, job->nfields) : NULL;
	mem_free(known);
	if (*index < job->nfields)
		return RC_OK;
	if (near)
		return error_set(err, RC_CONFIG, "%s has no field `%s`; did you mean `%s`?",
				 job->path, text, near);
	return unknown_field(job, text, err);
}
