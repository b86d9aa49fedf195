/* key_text.c - names of row keys, and their parts in YAML */
#include "keys.h"

static void put_fields(struct buf *out, const struct job *job, const struct key_part *p)
{
	for (size_t i = 0; i < p->nof; i++)
		buf_printf(out, "%s%s", i ? ", " : "", job->fields[p->of[i]].name);
}

static void put_name(struct buf *out, const struct job *job, const struct key_part *p)
{
	const char *field = p->kind == PART_FIELD ? job->fields[p->field].name : "";

	switch (p->kind) {
	case PART_SALT:
		buf_printf(out, "salt%u(", p->buckets);
		put_fields(out, job, p);
		if (p->fanout)
			buf_printf(out, ", fanout %u", p->fanout);
		buf_append_str(out, ")");
		return;
	case PART_HASH:
		buf_printf(out, "%s-%u(", p->hash == HASH_MD5 ? "md5" : "murmur3", p->width);
		put_fields(out, job, p);
		buf_append_str(out, ")");
		return;
	case PART_CONST: buf_append_str(out, "constant"); return;
	case PART_KEY: buf_append_str(out, "key"); return;
	case PART_FIELD: break;
	}
	uint32_t width = key_part_bytes(p);
	buf_append_str(out, field);
	if (encodings[p->as].kind == LAY_DATE)
		buf_printf(out, ".%s", encodings[p->as].name);
	else if (width)
		buf_printf(out, "%u", width);
	if (encodings[p->as].order == ORDER_FALLING)
		buf_append_str(out, " (newest first)");
	if (p->as == AS_REVERSED)
		buf_append_str(out, " (reversed)");
}

/* Return true if the part has digits of the same time as the part before it. */
static bool continues_date(const struct key_part *parts, size_t i)
{
	const struct key_part *p = &parts[i], *before = p - 1;

	return i && p->kind == PART_FIELD && before->kind == PART_FIELD &&
	       p->field == before->field && encodings[p->as].kind == LAY_DATE &&
	       encodings[before->as].kind == LAY_DATE;
}

const char *parts_name(const struct job *job, const struct key_part *parts, size_t n,
		       struct arena *a)
{
	struct buf out = {0};
	uint32_t width = 0; /* of the parts of a date so far */

	for (size_t i = 0; i < n; i++) {
		bool more = i + 1 < n && continues_date(parts, i + 1);

		width = continues_date(parts, i) ? width + key_part_bytes(&parts[i])
						 : key_part_bytes(&parts[i]);
		if (more)
			continue;
		buf_append_str(&out, out.len ? " " : "");
		put_name(&out, job, &parts[i]);
		if (continues_date(parts, i))
			buf_printf(&out, "%u", width);
	}
	const char *name = arena_strndup(a, out.ptr, out.len);
	buf_release(&out);
	return name;
}

static void put_list(struct buf *out, const struct job *job, const struct key_part *p)
{
	buf_append_str(out, ", of: [");
	for (size_t i = 0; i < p->nof; i++) {
		buf_append_str(out, i ? ", " : "");
		text_json(out, bytes_str(job->fields[p->of[i]].name));
	}
	buf_append_str(out, "]");
}

void part_yaml(struct buf *out, const struct job *job, const struct key_part *p)
{
	switch (p->kind) {
	case PART_SALT:
		buf_printf(out, "{salt: %u", p->buckets);
		put_list(out, job, p);
		if (p->fanout)
			buf_printf(out, ", fanout: %u", p->fanout);
		break;
	case PART_HASH:
		buf_printf(out, "{hash: %s", p->hash == HASH_MD5 ? "md5" : "murmur3");
		put_list(out, job, p);
		buf_printf(out, ", bytes: %u", p->width);
		break;
	case PART_CONST:
		buf_append_str(out, "{hex: \"");
		bytes_hex(out, p->constant);
		buf_append_str(out, "\"");
		break;
	case PART_KEY: return;
	case PART_FIELD:
		buf_append_str(out, "{field: ");
		text_json(out, bytes_str(job->fields[p->field].name));
		buf_printf(out, ", as: %s", encodings[p->as].name);
		if (p->width)
			buf_printf(out, ", width: %u", p->width);
		if (p->terminator != NO_TERMINATOR)
			buf_printf(out, ", terminator: \"\\x%02X\"", (unsigned)p->terminator);
		break;
	}
	buf_append_str(out, "}");
}
