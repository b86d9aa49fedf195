/*
 * key.c - values laid down as bytes: row keys, computed qualifiers, cell values
 *
 * All parts are laid down in order with room left where a salt or a hash goes, and where each
 * part stands is noted.  Then the salts and hashes are computed from the last to the first, so
 * that one over "all behind it" sees the others finished (key/README.md 1).
 */
#include "compiled.h"
#include "reject.h"
#include "simple.h"

static const char *const names[] = {
	[AS_TEXT] = "text",	    [AS_BYTES] = "bytes",
	[AS_REVERSED] = "reversed", [AS_U8] = "u8",
	[AS_U16] = "u16",	    [AS_U32] = "u32",
	[AS_U64] = "u64",	    [AS_I32] = "i32",
	[AS_I64] = "i64",	    [AS_F32] = "f32",
	[AS_F64] = "f64",	    [AS_BOOL] = "bool",
	[AS_MILLIS] = "millis",	    [AS_REVERSED_MILLIS] = "reversed_millis",
};

static int bad_range(const struct op *op, const struct value *v, struct reject *why)
{
	if (op->as == AS_MILLIS || op->as == AS_REVERSED_MILLIS)
		return reject_value(why, "out_of_range", op->spec->name, v->text,
				    "expected no time before 1970 (as %s)", names[op->as]);
	bool is_signed = op->as == AS_I32 || op->as == AS_I64;
	uint64_t max = op->width == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * op->width) - 1;
	if (!is_signed)
		return reject_value(why, "out_of_range", op->spec->name, v->text,
				    "expected 0..%llu (as %s)", (unsigned long long)max,
				    names[op->as]);
	long long top = (long long)(max >> 1);
	return reject_value(why, "out_of_range", op->spec->name, v->text,
			    "expected %lld..%lld (as %s)", -top - 1, top, names[op->as]);
}

/* Writes 8 bytes, of which op->width count: the caller has the room. */
static inline int put_number(const struct op *op, const struct value *v, uint8_t *to,
			     struct reject *why)
{
	if (__builtin_expect(v->u - op->bias > op->span, 0))
		return bad_range(op, v, why);
	put_be64(to, (v->u ^ op->flip) << (64 - 8 * op->width));
	return 0;
}

/* The first value that is out of its range. */
static int number_fault(const struct row_encoder *e, const struct parts *parts, struct reject *why)
{
	for (const struct op *op = parts->ops; op < parts->ops + parts->nops; op++) {
		const struct value *v = &e->values[op->slot];
		if (op->kind == OP_NUMBER && v->u - op->bias > op->span)
			return bad_range(op, v, why);
	}
	return 0;
}

static double as_real(const struct op *op, const struct value *v)
{
	return op->from == FIELD_F64   ? v->f
	       : op->from == FIELD_I64 ? (double)(int64_t)v->u
				       : (double)v->u;
}

static void put_f64(const struct op *op, const struct value *v, uint8_t *to)
{
	double d = as_real(op, v);
	uint64_t bits;
	memcpy(&bits, &d, 8);
	if (op->ordered)
		bits ^= bits >> 63 ? UINT64_MAX : (uint64_t)1 << 63;
	put_be64(to, bits);
}

static int put_f32(const struct op *op, const struct value *v, uint8_t *to, struct reject *why)
{
	float f = (float)as_real(op, v);
	uint32_t bits;
	if (f - f != 0)
		return reject_value(why, "out_of_range", op->spec->name, v->text,
				    "expected a number that a 32-bit float can hold (as f32)");
	memcpy(&bits, &f, 4);
	if (op->ordered)
		bits ^= bits >> 31 ? UINT32_MAX : (uint32_t)1 << 31;
	put_be32(to, bits);
	return 0;
}

static int check_slice(const struct op *op, struct bytes in, struct reject *why)
{
	if (op->width && in.len > op->width)
		return reject_value(why, "too_wide", op->spec->name, in,
				    "%zu bytes, expected at most %u (the part's width)", in.len,
				    op->width);
	if (op->terminator != NO_TERMINATOR && in.len && memchr(in.ptr, op->terminator, in.len))
		return reject_value(
			why, "terminator_in_value", op->spec->name, in,
			"which contains the byte %02X that ends this part, expected none",
			(unsigned)op->terminator);
	for (size_t i = 0; op->kind == OP_REVERSED && i < in.len; i++)
		if (in.ptr[i] & 0x80)
			return reject_value(why, "not_ascii", op->spec->name, in,
					    "expected ASCII only (as reversed); byte %zu is not",
					    i);
	return 0;
}

static void put_body(const struct op *op, struct bytes in, uint8_t *to)
{
	if (op->kind != OP_REVERSED) {
		copy_short(to, in.ptr, in.len);
		return;
	}
	for (size_t i = 0; i < in.len; i++)
		to[i] = in.ptr[in.len - 1 - i];
}

static int put_slice(const struct op *op, const struct value *v, struct buf *out,
		     struct reject *why)
{
	struct bytes in = op->kind == OP_BYTES ? v->bytes : v->text;
	if (op->kind == OP_REVERSED || op->width || op->terminator != NO_TERMINATOR) {
		int rc = check_slice(op, in, why);
		if (rc)
			return rc;
	}
	size_t width = op->width ? op->width : in.len, fill = width - in.len;
	uint8_t *to = buf_room(out, width + 1);
	if (fill)
		memset(op->pad_left ? to : to + in.len, op->pad, fill);
	put_body(op, in, op->pad_left ? to + fill : to);
	out->len += width;
	return 0;
}

int op_put(const struct op *op, const struct value *v, struct buf *out, struct reject *why)
{
	int rc = 0;
	switch (op->kind) {
	case OP_NUMBER: rc = put_number(op, v, buf_room(out, 9), why); break;
	case OP_F64: put_f64(op, v, buf_room(out, 9)); break;
	case OP_F32: rc = put_f32(op, v, buf_room(out, 9), why); break;
	case OP_TEXT:
	case OP_BYTES:
	case OP_REVERSED: return put_slice(op, v, out, why);
	case OP_CONST: copy_short(buf_room(out, op->width + 1), op->constant.ptr, op->width); break;
	case OP_DERIVED: memset(buf_room(out, op->width + 1), 0, op->width); break;
	}
	out->len += op->width;
	return rc;
}

static uint64_t salt_number(const struct key_part *part, struct bytes in)
{
	if (part->hash == HASH_MURMUR3)
		return murmur3_32(in, 0) % part->buckets;
	int32_t h = java31(in), n = (int32_t)part->buckets;
	if (part->hash == HASH_HBASEWD) {
		/* Math.abs(Integer.MIN_VALUE) stays negative, and so does the salt */
		h = h < 0 && h != INT32_MIN ? -h : h;
		return (uint64_t)(int64_t)(h % n);
	}
	h %= n; /* truncating, as Java's */
	return (uint64_t)(h < 0 ? -h : h);
}

static void put_derived(const struct derived *d, struct bytes in, uint8_t *to)
{
	uint8_t digest[16] = {0};
	if (d->part->kind == PART_SALT) {
		uint64_t salt = salt_number(d->part, in);
		if (d->width == 1) {
			*to = (uint8_t)salt;
			return;
		}
		for (uint32_t i = d->width; i-- > 0; salt >>= 8)
			to[i] = (uint8_t)salt;
		return;
	}
	if (d->part->hash == HASH_MD5)
		md5(in, digest);
	else
		put_be32(digest, murmur3_32(in, 0));
	memcpy(to, digest, d->width);
}

/* The bytes a salt or hash is over, joined in scratch unless they are one piece already. */
static int hash_input(struct row_encoder *e, const struct derived *d, const struct span *s,
		      const struct buf *out, struct bytes *in, struct reject *why)
{
	if (d->nof == 0) {
		size_t at = s[d->at].at + d->width;
		*in = bytes_of(out->ptr + at, out->len - at);
		return 0;
	}
	if (d->nof == 1 && d->of[0].in_parts) {
		*in = bytes_of(out->ptr + s[d->of[0].part].at, s[d->of[0].part].len);
		return 0;
	}
	e->hash_input.len = 0;
	for (size_t i = 0; i < d->nof; i++) {
		const struct hash_input *h = &d->of[i];
		int rc = 0;
		if (h->in_parts)
			buf_append(&e->hash_input, out->ptr + s[h->part].at, s[h->part].len);
		else
			rc = op_put(&h->natural, &e->values[h->natural.slot], &e->hash_input, why);
		if (rc)
			return rc;
	}
	*in = buf_bytes(&e->hash_input);
	return 0;
}

static int fill_derived(struct row_encoder *e, const struct parts *parts, const struct span *s,
			struct buf *out, struct reject *why)
{
	for (size_t i = parts->nderived; i-- > 0;) {
		const struct derived *d = &parts->derived[i];
		struct bytes in;
		if (d->byte_of_part) {
			const struct span *of = &s[d->of[0].part];
			out->ptr[s[d->at].at] = salt_of(d, bytes_of(out->ptr + of->at, of->len));
			continue;
		}
		int rc = hash_input(e, d, s, out, &in, why);
		if (rc)
			return rc;
		put_derived(d, in, out->ptr + s[d->at].at);
	}
	return 0;
}

/* Numbers alone: every part has its place, a key is a few stores. */
static int build_simple(struct row_encoder *e, const struct parts *parts, struct buf *out,
			struct reject *why)
{
	out->len = 0;
	uint8_t *to = buf_room(out, parts->fixed + 8);
	if (!numbers_put(e->values, parts, to))
		return number_fault(e, parts, why);
	out->len = parts->fixed;
	if (!parts->one_salt)
		return parts->nderived ? fill_derived(e, parts, parts->spans, out, why) : 0;
	salt_put(e, parts, to);
	return 0;
}

int parts_build(struct row_encoder *e, const struct parts *parts, struct buf *out,
		struct reject *why)
{
	struct span *s = e->spans;
	if (parts->simple)
		return build_simple(e, parts, out, why);
	out->len = 0;
	buf_room(out, parts->fixed + 8);
	for (const struct op *op = parts->ops; op < parts->ops + parts->nops; op++, s++) {
		s->at = out->len;
		int rc = op_put(op, &e->values[op->slot], out, why);
		if (rc)
			return rc;
		s->len = out->len - s->at;
		if (op->terminator != NO_TERMINATOR)
			buf_put(out, (uint8_t)op->terminator);
	}
	return parts->nderived ? fill_derived(e, parts, e->spans, out, why) : 0;
}
