/* write_key.c - write the row key of a job, and the fields that only the key needs */
#include <inttypes.h>

#include "sniff_parts.h"

#define PLACE "key of $line" /* the field that separates equal rows */

static const char *key_encoding(const struct sniffed *s)
{
	switch (s->type) {
	case FIELD_U32: return "u32";
	case FIELD_U64: return "u64";
	case FIELD_I64: return "i64";
	case FIELD_TIME: return "reversed_millis";
	case FIELD_UUID: return "uuid";
	case FIELD_F64: return "f64";
	case FIELD_BOOL: return "bool";
	case FIELD_DECIMAL: return "i64";
	case FIELD_IP: return s->ipv4 ? "ipv4" : "ipv6";
	case FIELD_TEXT:
	case FIELD_BYTES:
	case FIELD_HEX:
	case FIELD_CODE: break;
	}
	return NULL;
}

static void put_part(const struct sniffed *s, bool last, const char *why, struct buf *out)
{
	const char *as = key_encoding(s);

	buf_append_str(out, "      - {field: ");
	put_text(out, s->name);
	if (as)
		buf_printf(out, ", as: %s", as);
	else if (!last)
		buf_append_str(out, ", terminator: '\\x00'");
	buf_printf(out, "}   # %s\n", why);
}

/*
 * Return true if the hash needs a field of its own for this column: a null is "", and a time before
 * 1970 is a text.
 */
static bool has_key_field(const struct sniffed *s, const struct sniffed_key *k)
{
	return k->hash && ((k->all && s->has_nulls) || (time_is_early(s) && !s->has_nulls));
}

static void put_key_name(const struct sniffed *s, bool null, struct buf *out)
{
	struct buf name = {0};

	buf_printf(&name, "%s%s", null ? "key of " : "", s->name);
	put_yaml(out, buf_bytes(&name));
	buf_release(&name);
}

void key_put_fields(const struct columns *c, const struct sniffed_key *k, struct buf *out)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!has_key_field(&c->column[i], k))
			continue;
		buf_append_str(out, "  ");
		put_key_name(&c->column[i], true, out);
		buf_append_str(out, ": {from: ");
		put_text(out, c->column[i].name);
		buf_append_str(out, ", default: ''}   # only for the row key\n");
	}
	if (k->equal)
		buf_printf(out,
			   "  '" PLACE "': {from: [$file, ':', $line]}   # only for the row key: "
			   "%" PRIu64 " rows equal earlier rows\n",
			   k->equal);
}

static void put_hash(const struct columns *c, const struct sniffed_key *k, struct buf *out)
{
	size_t put = 0;

	buf_append_str(out, "      - {hash: md5, of: [");
	for (size_t i = 0; i < c->n; i++) {
		if ((c->column[i].has_nulls || c->column[i].list) && !k->all)
			continue;
		buf_append_str(out, put++ ? ", " : "");
		put_key_name(&c->column[i], has_key_field(&c->column[i], k), out);
	}
	if (!put)
		put_text(out, c->column[0].name);
	buf_append_str(out, k->equal ? ", '" PLACE "'], bytes: 8}   # without the line, equal rows "
				       "are one row\n"
				     : "], bytes: 8}   # rows with equal values in these columns "
				       "are one row\n");
}

static void put_salt(const struct columns *c, const struct sniffed_key *k, struct buf *out)
{
	if (!k->nsalt)
		return;
	buf_printf(out, "      - {salt: %d, of: [", SALTS);
	for (size_t i = 0; i < k->nsalt; i++) {
		buf_append_str(out, i ? ", " : "");
		put_text(out, c->column[k->salt[i]].name);
	}
	buf_append_str(out, k->nsalt > 1 ? "]}   # the first column has too few values for a salt\n"
					 : "]}   # spreads rows that come in order\n");
}

/* Write the key that the user gives. */
static void put_given(const struct columns *c, const struct sniffed_key *k, struct buf *out)
{
	const struct sniffed *first = &c->column[k->given[0]];

	if (column_in_order(first))
		buf_printf(out,
			   "      # if live writes come in this order, add {salt: %d, of: [...]} "
			   "before it\n",
			   SALTS);
	for (size_t i = 0; i < k->ngiven; i++)
		put_part(&c->column[k->given[i]], i + 1 == k->ngiven, "--key", out);
}

void key_put(const struct columns *c, const struct sniffed_key *k, struct buf *out)
{
	const size_t none = SIZE_MAX;
	bool continues = k->unique != none || k->hash;

	buf_append_str(out, "    rowkey:\n");
	if (k->ngiven) {
		put_given(c, k, out);
		return;
	}
	put_salt(c, k, out);
	if (k->entity != none)
		put_part(&c->column[k->entity], k->time == none && !continues, "owner of the row",
			 out);
	if (k->time != none)
		put_part(&c->column[k->time], !continues, "newest first", out);
	if (k->unique != none)
		put_part(&c->column[k->unique], true,
			 k->rest ? "separates the rows that are still equal"
				 : "different in each row",
			 out);
	if (k->hash)
		put_hash(c, k, out);
}
