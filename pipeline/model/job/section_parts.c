/*
 * Parts of a row key or of a computed qualifier: {salt}, {field}, {const}, {hex} or {hash}.
 */
#include "cell.h"
#include "sections.h"

static const struct choice salt_hashes[] = {{"murmur3", HASH_MURMUR3},
					    {"phoenix", HASH_PHOENIX},
					    {"opentsdb", HASH_OPENTSDB},
					    {"hbasewd", HASH_HBASEWD}};
static const struct choice sides[] = {{"left", 1}, {"right", 0}};
static const struct choice draws[] = {{"random", DRAW_RANDOM}, {"round_robin", DRAW_ROUND_ROBIN}};
static const struct choice prefix_hashes[] = {{"md5", HASH_MD5}, {"murmur3", HASH_MURMUR3}};

static int read_of(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct key_part *p = slot;
	const struct node *one = n;

	if (n->kind == NODE_MAPPING)
		return expected(r, n, key->name, "a list of field names");
	p->nof = n->kind == NODE_SEQUENCE ? n->count : 1;
	p->of = arena_alloc(&r->job->arena, (p->nof + 1) * sizeof *p->of);
	for (size_t i = 0; i < p->nof; i++) {
		const struct node *item = n->kind == NODE_SEQUENCE ? n->items[i] : one;
		int rc = read_field_use(r, item, key, &p->of[i]);

		if (rc)
			return rc;
		for (size_t j = 0; j < i; j++)
			if (p->of[j] == p->of[i])
				return fault(r, item->pos, "of: found `%.60s` twice", item->text);
	}
	return p->nof ? RC_OK
		      : fault(r, n->pos, "of: found an empty list, expected names of fields");
}

static int read_side(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	unsigned left;
	int rc = read_choice(r, n, key, &left);

	if (rc == RC_OK)
		((struct key_part *)slot)->pad_left = left;
	return rc;
}

static int read_part_zone(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct key_part *p = slot;
	const char *name;
	int rc = read_text(r, n, key, &name);

	if (rc == RC_OK && zone_load(&p->zone, name, &r->job->arena, r->err))
		rc = error_prefix(r->err, "%s:%u:%u: ", r->job->path, n->pos.line, n->pos.column);
	return rc;
}

static int read_terminator(struct reader *r, const struct node *n, const struct key *key,
			   void *slot)
{
	uint8_t byte;
	int rc = read_byte(r, n, key, &byte);

	if (rc == RC_OK)
		((struct key_part *)slot)->terminator = byte;
	return rc;
}

static const struct key salt_keys[] = {
	{.name = "salt",
	 WORDS(NUMBER, NULL,
	       "first part only: a bucket number from 0, in one byte (two bytes from 257 buckets)",
	       "{salt: 16, of: [userId]}"),
	 .read = read_number,
	 .offset = offsetof(struct key_part, buckets),
	 .required = true,
	 .min = 1,
	 .max = 65536},
	{.name = "hash",
	 WORDS(CHOICE, "murmur3",
	       "the function for the bucket: saltmill's hash or that of another system",
	       "hash: phoenix"),
	 .read = read_choice,
	 .offset = offsetof(struct key_part, hash),
	 CHOICES(salt_hashes)},
	{.name = "of",
	 WORDS(FIELDS, NULL,
	       "the fields that choose the bucket, by their bytes in the key; phoenix and "
	       "hbasewd hash the whole key after the salt",
	       "of: [userId]"),
	 .read = read_of},
	{.name = "width",
	 WORDS(NUMBER, "1, or 2 from 257 buckets", "bytes of the salt", "width: 2"),
	 .read = read_number,
	 .offset = offsetof(struct key_part, width),
	 .min = 1,
	 .max = 2},
	{.name = "fanout",
	 WORDS(NUMBER, NULL, "spread each value of `of` over this many neighbouring buckets",
	       "fanout: 4"),
	 .read = read_number,
	 .offset = offsetof(struct key_part, fanout),
	 .min = 2,
	 .max = 65536},
	{.name = "draw",
	 WORDS(CHOICE, NULL,
	       "choose the bucket without a field: random (by the event's bytes) or in "
	       "turn; then no reader can compute a row's bucket",
	       "draw: random"),
	 .read = read_choice,
	 .offset = offsetof(struct key_part, draw),
	 CHOICES(draws)},
	{.name = "seed",
	 WORDS(NUMBER, "0", "the start value of `draw`", "seed: 1"),
	 .read = read_number,
	 .offset = offsetof(struct key_part, seed),
	 .max = UINT32_MAX},
};
static const struct key field_keys[] = {
	{.name = "field",
	 WORDS(FIELD, NULL, "the field whose value is the part", "{field: userId, as: u64}"),
	 .read = read_field_use,
	 .offset = offsetof(struct key_part, field),
	 .required = true},
	{.name = "as",
	 WORDS(ENCODING, "the encoding of the field's type", "how the value becomes bytes",
	       "as: reversed_millis"),
	 .read = read_encoding,
	 .offset = offsetof(struct key_part, as)},
	{.name = "width",
	 WORDS(NUMBER, NULL,
	       "for text: pad the value to this many bytes; a longer value makes the event bad. "
	       "With `as: bytes` and without `pad`, every value must have this many bytes",
	       "width: 20"),
	 .read = read_number,
	 .offset = offsetof(struct key_part, width),
	 .min = 1,
	 .max = ROW_KEY_MAX},
	{.name = "pad",
	 WORDS(BYTE, "\"0\" for numbers, \" \" for text, none for bytes",
	       "the byte that pads a text", "pad: \"#\""),
	 .read = read_byte,
	 .offset = offsetof(struct key_part, pad)},
	{.name = "side",
	 WORDS(CHOICE, "left for numbers, right for text", "the side of a text that gets padding",
	       "side: left"),
	 .read = read_side,
	 CHOICES(sides)},
	{.name = "terminator",
	 WORDS(BYTE, NULL,
	       "the byte after a text of variable length; a value that contains this byte makes the event bad",
	       "terminator: '\\x00'"),
	 .read = read_terminator},
	{.name = "zone",
	 WORDS(TEXT, "the field's", "for year, month, day and hour: the time zone of the date",
	       "zone: Europe/Berlin"),
	 .read = read_part_zone},
};
static const struct key const_keys[] = {{.name = "const",
					 WORDS(ESCAPED, NULL, "constant bytes", "{const: v1}"),
					 .read = read_escaped,
					 .offset = offsetof(struct key_part, constant),
					 .required = true}};
static const struct key hex_keys[] = {
	{.name = "hex",
	 WORDS(HEX, NULL, "constant bytes in hex digits", "{hex: 00ff}"),
	 .read = read_hex,
	 .offset = offsetof(struct key_part, constant),
	 .required = true}};
static const struct key hash_keys[] = {
	{.name = "hash",
	 WORDS(CHOICE, NULL, "the first bytes of a digest of fields",
	       "{hash: md5, of: [id], bytes: 4}"),
	 .read = read_choice,
	 .offset = offsetof(struct key_part, hash),
	 .required = true,
	 CHOICES(prefix_hashes)},
	{.name = "of",
	 WORDS(FIELDS, NULL, "the fields to hash, by their bytes in the key", "of: [id]"),
	 .read = read_of,
	 .required = true},
	{.name = "bytes",
	 WORDS(NUMBER, "16; murmur3: 4", "number of bytes of the digest", "bytes: 4"),
	 .read = read_number,
	 .offset = offsetof(struct key_part, width),
	 .min = 1,
	 .max = 16},
};

static const struct key key_of_keys[] = {
	{.name = "key_of",
	 WORDS(TABLE, NULL,
	       "last part of a qualifier: the event's row key in a table above this one",
	       "{key_of: visits}"),
	 .read = read_table_use,
	 .offset = offsetof(struct key_part, table),
	 .required = true}};

static const struct schema salt_schema = SCHEMA("a salt part", salt_keys);
static const struct schema field_part_schema = SCHEMA("a field part", field_keys);
static const struct schema const_schema = SCHEMA("a const part", const_keys);
static const struct schema hex_schema = SCHEMA("a hex part", hex_keys);
static const struct schema hash_schema = SCHEMA("a hash part", hash_keys);
static const struct schema key_of_schema = SCHEMA("a key_of part", key_of_keys);

const struct schema *const part_schemas[] = {&salt_schema, &field_part_schema, &const_schema,
					     &hex_schema,  &hash_schema,       &key_of_schema,
					     NULL};

/*
 * The first key of each schema identifies the kind of part. The schema of salts comes first,
 * because a salt may also have the key `hash`.
 */
static const struct {
	enum part_kind kind;
	const struct schema *schema;
} kinds[] = {
	{PART_SALT, &salt_schema}, {PART_FIELD, &field_part_schema}, {PART_CONST, &const_schema},
	{PART_CONST, &hex_schema}, {PART_HASH, &hash_schema},	     {PART_KEY, &key_of_schema},
};
#define NKINDS (sizeof kinds / sizeof kinds[0])

static int check_draw(struct reader *r, const struct node *n, const struct key_part *p)
{
	static const char *const not_drawn[] = {"of", "hash", "fanout"};
	const struct node *seed = node_get(n, "seed"), *other;

	for (size_t i = 0; p->draw && i < 3; i++)
		if ((other = node_get(n, not_drawn[i])))
			return fault(r, other->pos,
				     "%s: found with `draw`, expected one of them, because a drawn "
				     "bucket does not depend on a field",
				     not_drawn[i]);
	if (seed && !p->draw)
		return fault(r, seed->pos,
			     "seed: found without `draw`, expected `draw: random` or "
			     "`draw: round_robin`");
	return RC_OK;
}

static int check_fanout(struct reader *r, const struct node *n, const struct key_part *p)
{
	const struct node *fanout = node_get(n, "fanout");

	if (fanout && p->hash != HASH_MURMUR3)
		return fault(r, fanout->pos,
			     "fanout: found with another system's hash, expected it with murmur3");
	if (p->fanout > p->buckets)
		return fault(r, fanout->pos, "fanout: found %u of %u buckets, expected at most all",
			     p->fanout, p->buckets);
	return RC_OK;
}

static int check_salt(struct reader *r, const struct node *n, struct key_part *p)
{
	bool whole_key = p->hash == HASH_PHOENIX || p->hash == HASH_HBASEWD;
	int rc = check_draw(r, n, p);

	if (rc == RC_OK)
		rc = check_fanout(r, n, p);
	if (rc)
		return rc;
	if (!p->nof && !whole_key && !p->draw)
		return fault(r, p->pos,
			     "a salt lacks the key `of`, expected names of fields: "
			     "`of: [userId]`");
	if (whole_key && p->buckets > 256)
		return fault(r, node_get(n, "salt")->pos,
			     "salt: found %u buckets, expected 1 to 256 for this hash", p->buckets);
	if (whole_key && p->width == 2)
		return fault(r, node_get(n, "width")->pos,
			     "width: found 2, expected 1, because this hash writes one byte");
	if (p->width == 1 && p->buckets > 256)
		return fault(r, node_get(n, "width")->pos,
			     "width: found 1 with %u buckets, expected 2", p->buckets);
	if (!p->width)
		p->width = p->buckets > 256 ? 2 : 1;
	return RC_OK;
}

static bool is_number(enum field_type t)
{
	return t == FIELD_U32 || t == FIELD_U64 || t == FIELD_I64 || t == FIELD_F64 ||
	       t == FIELD_DECIMAL;
}

static int check_width(struct reader *r, const struct node *n, struct key_part *p)
{
	const struct node *pad = node_get(n, "pad"), *side = node_get(n, "side");
	const struct node *terminator = node_get(n, "terminator"), *width = node_get(n, "width");
	uint32_t fixed = encodings[p->as].width;
	enum field_type type = r->job->fields[p->field].type;

	if (fixed && width)
		return fault(r, width->pos,
			     "width: found with as: %s, which is always %u bytes, expected none",
			     encodings[p->as].name, fixed);
	if (terminator && (fixed || width))
		return fault(r, terminator->pos,
			     "terminator: found on a part of fixed width, expected "
			     "none");
	if (!width && (pad || side))
		return fault(r, pad ? pad->pos : side->pos,
			     "%s: found without width, expected `width: n` too",
			     pad ? "pad" : "side");
	if (!width)
		return RC_OK;
	if (!side)
		p->pad_left = is_number(type);
	if (!pad)
		p->pad = is_number(type) ? '0' : p->as == AS_BYTES ? 0 : ' ';
	p->exact = p->as == AS_BYTES && !pad;
	if (p->exact && side)
		return fault(r, side->pos,
			     "side: found with as: bytes without pad, expected `pad: '\\x00'` too: "
			     "otherwise every value has the full width");
	bool fraction = type == FIELD_F64 || type == FIELD_DECIMAL;
	if ((type == FIELD_I64 || fraction) && p->pad_left && p->pad == '0')
		return fault(r, width->pos,
			     "width: found for `%.60s` of type %s, whose signs and fractions do "
			     "not sort as "
			     "padded text, expected as: %s without width, or type: u64",
			     r->job->fields[p->field].name, field_type_name(type),
			     encodings[encoding_natural(type)].name);
	return RC_OK;
}

/*
 * Check a descending text. The byte FF must sort after the inverted bytes of any longer text, so
 * that the longer text comes first.
 */
static int check_descending(struct reader *r, const struct node *n, struct key_part *p)
{
	const struct node *terminator = node_get(n, "terminator");

	if (p->as != AS_DESCENDING_TEXT || p->width)
		return RC_OK;
	if (terminator && p->terminator != 0xff)
		return fault(
			r, terminator->pos,
			"terminator: found the byte %02X, expected none, because a descending text without width ends with FF, or it would not sort in reverse",
			(unsigned)p->terminator);
	p->terminator = 0xff;
	return RC_OK;
}

static int check_zone(struct reader *r, const struct node *n, struct key_part *p)
{
	const struct node *zone = node_get(n, "zone");

	if (zone && encodings[p->as].kind != LAY_DATE)
		return fault(r, zone->pos,
			     "zone: found with as: %s, expected it with year, month, day or hour",
			     encodings[p->as].name);
	if (!zone)
		p->zone = r->job->fields[p->field].zone;
	return RC_OK;
}

static int check_field_part(struct reader *r, const struct node *n, struct key_part *p)
{
	const struct node *as = node_get(n, "as");
	enum field_type type = r->job->fields[p->field].type;

	if (!as) /* a width without `as` means text, such as 000042 */
		p->as = node_get(n, "width") && type != FIELD_BYTES && type != FIELD_HEX
				? AS_TEXT
				: encoding_natural(type);
	int rc = encoding_check(r, as ? as->pos : p->pos, p->field, p->as);
	if (rc == RC_OK)
		rc = check_width(r, n, p);
	if (rc == RC_OK)
		rc = check_zone(r, n, p);
	return rc ? rc : check_descending(r, n, p);
}

static int check_part(struct reader *r, const struct node *n, struct key_part *p)
{
	switch (p->kind) {
	case PART_SALT: return check_salt(r, n, p);
	case PART_FIELD: return check_field_part(r, n, p);
	case PART_CONST:
		if (p->constant.len == 0 || p->constant.len > ROW_KEY_MAX)
			return fault(r, p->pos,
				     "found a constant part of %zu bytes, expected 1 to %d",
				     p->constant.len, ROW_KEY_MAX);
		return RC_OK;
	case PART_KEY: return RC_OK;
	case PART_HASH: break;
	}
	if (p->hash == HASH_MURMUR3 && p->width > 4)
		return fault(r, node_get(n, "bytes")->pos,
			     "bytes: found %u, expected 1 to 4: murmur3 has 4 bytes", p->width);
	if (!p->width)
		p->width = p->hash == HASH_MURMUR3 ? 4 : 16;
	return RC_OK;
}

int read_part(struct reader *r, const struct node *n, bool salt, struct key_part *p)
{
	static const char *const names[NKINDS] = {"salt", "field", "const",
						  "hex",  "hash",  "key_of"};
	size_t k = 0;

	if (n->kind != NODE_MAPPING)
		return expected(r, n, "a part", "a mapping like {field: userId, as: u64}");
	while (k < NKINDS && !node_get(n, names[k]))
		k++;
	if (k == NKINDS && n->count)
		return unknown_name(r, n->keys[0]->pos, "kind of part", n->keys[0]->text, names,
				    NKINDS);
	if (k == NKINDS)
		return fault(r, n->pos,
			     "found an empty part, expected a field, const, hex, hash or salt");
	*p = (struct key_part){.kind = kinds[k].kind, .pos = n->pos, .terminator = NO_TERMINATOR};
	if (p->kind == PART_SALT && !salt)
		return fault(r, n->pos,
			     "found a salt here, expected it as the first part of a row key");
	int rc = read_mapping(r, n, kinds[k].schema, p);
	return rc ? rc : check_part(r, n, p);
}

uint32_t key_part_bytes(const struct key_part *p)
{
	if (p->kind == PART_CONST)
		return (uint32_t)p->constant.len;
	if (p->kind == PART_FIELD && !p->width)
		return encodings[p->as].width;
	return p->width;
}

int read_parts(struct reader *r, const struct node *n, const char *what, bool salt,
	       struct key_part **parts, size_t *count)
{
	uint64_t bytes = 0;

	if (n->kind != NODE_SEQUENCE)
		return expected(r, n, what, "a list of parts: [{field: a, as: u32}, {field: b}]");
	struct key_part *p = arena_alloc(&r->job->arena, (n->count + 1) * sizeof *p);
	for (size_t i = 0; i < n->count; i++) {
		int rc = read_part(r, n->items[i], salt && i == 0, &p[i]);

		if (rc)
			return rc;
		if (p[i].kind == PART_KEY && (salt || i + 1 < n->count))
			return fault(r, p[i].pos,
				     "%s: found `key_of` here, expected it as the last part of a "
				     "qualifier, or as a value",
				     what);
		bytes += key_part_bytes(&p[i]) + (p[i].terminator != NO_TERMINATOR);
		if (i + 1 < n->count && !key_part_bytes(&p[i]) && p[i].terminator == NO_TERMINATOR)
			return fault(
				r, p[i].pos,
				"%s: found `%.60s` of variable length before the last part, expected `width: "
				"n` or `terminator: \"\\x00\"`, because two different events could have one key",
				what, r->job->fields[p[i].field].name);
	}
	if (bytes > ROW_KEY_MAX)
		return fault(r, n->pos, "%s: the parts have %llu bytes, expected at most %d", what,
			     (unsigned long long)bytes, ROW_KEY_MAX);
	*parts = p;
	*count = n->count;
	return RC_OK;
}

int read_rowkey(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct job_table *t = slot;
	bool varies = false;
	int rc = read_parts(r, n, key->name, true, &t->rowkey, &t->nrowkey);

	for (size_t i = 0; rc == RC_OK && i < t->nrowkey; i++)
		varies =
			varies || t->rowkey[i].kind == PART_FIELD || t->rowkey[i].kind == PART_HASH;
	if (rc == RC_OK && t->nrowkey == 0)
		rc = fault(r, n->pos,
			   "rowkey: found an empty list, expected parts like {field: userId}");
	else if (rc == RC_OK && !varies)
		rc = fault(
			r, n->pos,
			"rowkey: found no field in it, expected at least one, because all events "
			"would be one row");
	return rc;
}
