/* decode_key.c - decode a key to its values */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "encoding.h"
#include "derive.h"

static uint64_t number_of(struct bytes b)
{
	uint64_t v = 0;

	for (size_t i = 0; i < b.len; i++)
		v = v << 8 | b.ptr[i];
	return v;
}

size_t key_split(const struct key_schema *s, struct bytes key, struct key_piece *pieces)
{
	size_t at = 0, n = 0;

	for (; n < s->nsteps; n++) {
		const struct layout *l = &s->steps[n].layout;
		bool ends = l->terminator != NO_TERMINATOR;
		bool free = s->steps[n].kind == PART_FIELD || s->steps[n].kind == PART_KEY;
		bool has_width = l->width || !free;
		size_t end = has_width ? at + l->width + ends : 0;

		if (!has_width)
			end = shape_part_end(0, l->terminator, key, at);
		if (end > key.len)
			break;
		pieces[n] = (struct key_piece){.bytes = bytes_of(key.ptr + at, end - at - ends),
					       .end = end};
		if (s->steps[n].kind == PART_SALT)
			pieces[n].number = number_of(pieces[n].bytes);
		at = end;
	}
	return n;
}

/* Append the name of a part, such as "part 2 (userId)". */
static void put_part(const struct key_schema *s, size_t part, struct buf *out)
{
	static const char *const kinds[] = {[PART_SALT] = "the salt",
					    [PART_CONST] = "the constant",
					    [PART_HASH] = "the hash",
					    [PART_KEY] = "the row key"};
	const struct key_step *step = &s->steps[part];

	buf_printf(out, "part %zu (%s)", part + 1,
		   step->kind == PART_FIELD ? step->layout.name : kinds[step->kind]);
}

static int part_fault(const struct key_schema *s, size_t part, struct error *err, const char *fmt,
		      ...) ERROR_FORMAT(4, 5);
static int part_fault(const struct key_schema *s, size_t part, struct error *err, const char *fmt,
		      ...)
{
	struct buf what = {0};
	char text[400];

	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	put_part(s, part, &what);
	error_set(err, RC_DATA, "%.*s: %s", (int)what.len, (const char *)what.ptr, text);
	buf_release(&what);
	return RC_DATA;
}

static int cut_short(const struct key_schema *s, struct bytes key, const struct key_piece *pieces,
		     size_t n, struct error *err)
{
	const struct layout *l = &s->steps[n].layout;
	size_t left = key.len - (n ? pieces[n - 1].end : 0);

	if (l->width)
		return part_fault(s, n, err,
				  "found %zu bytes before the end of the key, expected %u", left,
				  l->width + (l->terminator != NO_TERMINATOR));
	return part_fault(
		s, n, err,
		"found the end of the key after %zu bytes, expected the byte %02X at the end of "
		"the part",
		left, (unsigned)l->terminator);
}

static int check_end(const struct key_schema *s, struct bytes key, const struct key_piece *pieces,
		     struct error *err)
{
	size_t end = pieces[s->nsteps - 1].end;

	if (end == key.len)
		return RC_OK;
	return error_set(err, RC_DATA,
			 "found %zu bytes after the last part, expected a key of %zu bytes",
			 key.len - end, end);
}

static bool derived_input(const struct key_derived *d, struct bytes key,
			  const struct key_piece *pieces, struct arena *a, struct bytes *in)
{
	size_t len = 0;

	if (d->nof == 0) {
		size_t at = pieces[d->at].end;

		*in = bytes_of(key.ptr + at, key.len - at);
		return true;
	}
	for (size_t i = 0; i < d->nof; i++) {
		if (!d->of[i].in_parts)
			return false;
		len += pieces[d->of[i].part].bytes.len;
	}
	uint8_t *all = arena_alloc(a, len + 1), *to = all;
	for (size_t i = 0; i < d->nof; i++) {
		struct bytes b = pieces[d->of[i].part].bytes;

		copy_short(to, b.ptr, b.len);
		to += b.len;
	}
	*in = bytes_of(all, len);
	return true;
}

static int check_derived(const struct key_schema *s, const struct key_derived *d, struct bytes key,
			 const struct key_piece *pieces, struct arena *a, struct error *err)
{
	struct bytes in, found = pieces[d->at].bytes;
	uint8_t right[16];
	bool salt = d->part->kind == PART_SALT;

	if (!d->part->draw && derived_input(d, key, pieces, a, &in)) {
		size_t behind = pieces[d->at].end;

		derive(d, in, bytes_of(key.ptr + behind, key.len - behind), right);
		struct bytes expected = bytes_of(right, d->width);
		if (bytes_eq(found, expected))
			return RC_OK;
		if (salt)
			return part_fault(s, d->at, err,
					  "found %" PRIu64 ", expected %" PRIu64
					  " by the parts it is over",
					  number_of(found), number_of(expected));
		return part_fault(s, d->at, err,
				  "found other bytes, expected the hash of its parts");
	}
	if (salt && number_of(found) >= d->part->buckets)
		return part_fault(s, d->at, err, "found %" PRIu64 ", expected 0 to %u",
				  number_of(found), d->part->buckets - 1);
	return RC_OK;
}

/*
 * Read the text of a piece as a value of its field. Numbers have a decimal point, whatever signs
 * the source uses.
 */
static int read_piece(const struct key_schema *s, const struct field_forms *forms, size_t part,
		      struct arena *a, struct key_piece *p, struct error *err)
{
	struct field_form form = forms->form[s->parts[part].field];
	struct field_scratch scratch = {0};
	struct reject why;
	struct bytes text = p->value.text, *b = &p->value.bytes;

	if (!text.ptr)
		return RC_OK;
	form.thousands = form.decimal = (struct bytes){0};
	form.minus = MINUS_FRONT;
	int rc = field_read(&form, &p->value, &scratch, &why);
	p->value.text = text;
	if (rc == RC_OK && field_has_bytes(form.field->type)) {
		uint8_t *kept = arena_alloc(a, b->len + 1);

		copy_short(kept, b->ptr, b->len);
		b->ptr = kept;
	}
	field_scratch_release(&scratch);
	return rc ? part_fault(s, part, err, "%s", why.detail) : RC_OK;
}

static int take_piece(const struct key_schema *s, const struct field_forms *forms, size_t part,
		      struct arena *a, struct key_piece *p, struct error *err)
{
	const struct key_step *step = &s->steps[part];

	if (step->kind == PART_FIELD) {
		int rc = layout_take(&step->layout, p->bytes, a, &p->value, err);

		if (rc)
			return error_prefix(err, "part %zu: ", part + 1);
		const struct field *f = forms ? &forms->job->fields[s->parts[part].field] : NULL;
		if (f && f->type == FIELD_CODE && !p->value.text.ptr &&
		    !codes_name(f->codes, (uint32_t)p->value.u).ptr)
			return part_fault(s, part, err,
					  "found the code %" PRIu64 ", expected the code of a name",
					  p->value.u);
		return forms ? read_piece(s, forms, part, a, p, err) : RC_OK;
	}
	if (step->kind == PART_CONST && !bytes_eq(p->bytes, step->constant))
		return part_fault(s, part, err, "found other bytes, expected the job's constant");
	return RC_OK;
}

int key_decode(const struct key_schema *s, const struct field_forms *forms, struct bytes key,
	       struct arena *a, struct key_piece *pieces, struct error *err)
{
	size_t n = key_split(s, key, pieces);
	int rc = n < s->nsteps ? cut_short(s, key, pieces, n, err) : check_end(s, key, pieces, err);

	for (size_t i = 0; rc == RC_OK && i < s->nsteps; i++)
		rc = take_piece(s, forms, i, a, &pieces[i], err);
	for (size_t i = 0; rc == RC_OK && i < s->nderived; i++)
		rc = check_derived(s, &s->derived[i], key, pieces, a, err);
	return rc;
}
