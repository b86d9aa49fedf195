/* section_tags.c - `visibility` and `acl` of a cell: the tags that HBase's coprocessors check */
#include "cell.h"
#include "sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* TagType of HBase */
#define ACL_TAG	       1
#define VISIBILITY_TAG 2
#define FORMAT_TAG     4  /* the form of the visibility tags */
#define SORTED_LABELS  1  /* VisibilityConstants.SORTED_ORDINAL_SERIALIZATION_FORMAT */
#define LABELS_MOST    64 /* of a set */
#define SETS_MOST      256
#define DEPTH_MOST     32
#define TEXT_MOST      2000
#define TAGS_MOST      16000 /* bytes, far below the 32,767 bytes of a cell in HBase */
#define FIELD_BYTES    2     /* wire type of protobuf */
#define VARINT_MOST    10

static void append_varint(struct buf *out, uint64_t v)
{
	uint8_t bytes[VARINT_MOST];

	buf_append(out, bytes, put_varint(bytes, v));
}

static void append_tag(struct buf *out, uint8_t type, struct bytes value)
{
	uint8_t head[3];

	put_be16(head, (uint16_t)(1 + value.len));
	head[2] = type;
	buf_append(out, head, sizeof head);
	buf_append(out, value.ptr, value.len);
}

/* Move the bytes into the job's arena. */
static struct bytes keep(struct reader *r, struct buf *b)
{
	uint8_t *out = arena_alloc(&r->job->arena, b->len + 1);

	if (b->len)
		memcpy(out, b->ptr, b->len);
	return bytes_of(out, b->len);
}

static const char *after_blanks(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/* --- visibility: classes ExpressionParser and VisibilityUtils of HBase --- */

/* The reader of a cell must have all of these labels. A negative number means not to have it. */
struct label_set {
	int64_t *label;
	size_t n;
};

/* The reader must have one of these sets. */
struct label_sets {
	struct label_set *item;
	size_t n;
};

struct expression {
	struct arena *a;
	const char *at;		   /* the rest of the text */
	const struct codes *names; /* NULL if the labels are numbers */
	struct bytes unknown;	   /* a label that `names` lacks */
	unsigned depth;		   /* of brackets */
};

static int by_number(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void skip_blanks(struct expression *e)
{
	e->at = after_blanks(e->at);
}

/* Skip the character `c`, or return false. */
static bool skip(struct expression *e, char c)
{
	if (*e->at != c)
		return false;
	e->at++;
	skip_blanks(e);
	return true;
}

/* Read a label in double quotes, in which \ quotes the next character. */
static bool read_quoted(struct expression *e, struct bytes *out)
{
	char *to = arena_alloc(e->a, strlen(e->at) + 1);
	size_t n = 0;

	for (e->at++; *e->at != '"'; e->at++) {
		if (*e->at == '\\' && (e->at[1] == '"' || e->at[1] == '\\'))
			e->at++;
		else if (*e->at == 0 || *e->at == '\\')
			return false;
		to[n++] = *e->at;
	}
	e->at++;
	*out = bytes_of(to, n);
	return n > 0;
}

/* Read the label's name, with the characters of HBase's VisibilityLabelsValidator. */
static bool read_name(struct expression *e, struct bytes *out)
{
	static const char usual[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:./";

	if (*e->at == '"')
		return read_quoted(e, out);
	*out = bytes_of(e->at, strspn(e->at, usual));
	e->at += out->len;
	return out->len > 0;
}

static bool find_number(struct expression *e, struct bytes name, int64_t *number)
{
	uint32_t code = 0;
	char after;

	if (e->names) {
		if (!codes_find(e->names, name, &code))
			e->unknown = name;
		*number = code;
		return code > 0;
	}
	const char *digits = arena_strndup(e->a, name.ptr, name.len);
	return *digits >= '1' && *digits <= '9' && name.len <= VARINT_MOST &&
	       sscanf(digits, "%" SCNd64 "%c", number, &after) == 1 && *number <= INT32_MAX;
}

static bool read_label(struct expression *e, bool not, struct label_sets *out)
{
	struct bytes name;
	int64_t number;

	if (!read_name(e, &name) || !find_number(e, name, &number))
		return false;
	skip_blanks(e);
	out->item = arena_alloc(e->a, sizeof *out->item);
	out->item->label = arena_alloc(e->a, sizeof number);
	*out->item->label = not ? -number : number;
	out->item->n = out->n = 1;
	return true;
}

static struct label_set join(struct arena *a, const struct label_set *x, const struct label_set *y)
{
	struct label_set both = {arena_alloc(a, (x->n + y->n) * sizeof *x->label), x->n + y->n};

	memcpy(both.label, x->label, x->n * sizeof *x->label);
	memcpy(both.label + x->n, y->label, y->n * sizeof *y->label);
	return both;
}

/* Set *x to "x & y" or to "x | y". Return false if this has too many labels. */
static bool combine(struct arena *a, struct label_sets *x, const struct label_sets *y, bool both)
{
	const size_t n = both ? x->n * y->n : x->n + y->n;

	if (n > SETS_MOST)
		return false;
	struct label_sets out = {arena_alloc(a, n * sizeof *out.item), n};
	for (size_t i = 0; i < n; i++) {
		if (both)
			out.item[i] = join(a, &x->item[i / y->n], &y->item[i % y->n]);
		else
			out.item[i] = i < x->n ? x->item[i] : y->item[i - x->n];
		if (out.item[i].n > LABELS_MOST)
			return false;
	}
	*x = out;
	return true;
}

static bool read_operands(struct expression *e, bool not, struct label_sets *out);

static bool read_operand(struct expression *e, bool not, struct label_sets *out)
{
	if (skip(e, '!'))
		not = !not ;
	if (!skip(e, '('))
		return read_label(e, not, out);
	if (++e->depth > DEPTH_MOST || !read_operands(e, not, out) || !skip(e, ')'))
		return false;
	e->depth--;
	return true;
}

/* Read operands from left to right as HBase does: & does not bind more closely than |. */
static bool read_operands(struct expression *e, bool not, struct label_sets *out)
{
	if (!read_operand(e, not, out))
		return false;
	for (;;) {
		struct label_sets next;
		const char op = *e->at;

		if (!skip(e, '&') && !skip(e, '|'))
			return true;
		/* "!(a & b)" is "!a | !b" */
		if (!read_operand(e, not, &next) || !combine(e->a, out, &next, (op == '&') != not ))
			return false;
	}
}

/* Append a tag with the numbers in ascending order, each as a varint of 32 bits. */
static void append_labels(struct buf *out, const struct label_set *labels)
{
	struct buf value = {0};

	qsort(labels->label, labels->n, sizeof *labels->label, by_number);
	for (size_t i = 0; i < labels->n; i++)
		append_varint(&value, (uint32_t)labels->label[i]);
	append_tag(out, VISIBILITY_TAG, buf_bytes(&value));
	buf_release(&value);
}

static bool read_expression(struct expression *e, struct buf *tags)
{
	static const uint8_t form = SORTED_LABELS;
	struct label_sets sets;

	skip_blanks(e);
	if (!read_operands(e, false, &sets) || *e->at)
		return false;
	append_tag(tags, FORMAT_TAG, bytes_of(&form, 1));
	for (size_t i = 0; i < sets.n; i++)
		append_labels(tags, &sets.item[i]);
	return true;
}

int read_visibility(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct buf tags = {0};
	struct arena a = {0};
	const char *text;
	int rc = read_text(r, n, key, &text);

	if (rc)
		return rc;
	struct expression e = {.a = &a, .at = text, .names = r->job->labels};
	bool good =
		strlen(text) <= TEXT_MOST && read_expression(&e, &tags) && tags.len <= TAGS_MOST;
	if (good)
		*(struct bytes *)slot = keep(r, &tags);
	else if (e.unknown.len)
		rc = fault(r, n->pos,
			   "%s: found the label `%.*s`, expected one of the names under `labels`",
			   key->name, (int)(e.unknown.len < 60 ? e.unknown.len : 60),
			   (const char *)e.unknown.ptr);
	else if (e.names)
		rc = expected(r, n, key->name,
			      "labels of the job like \"secret & !(old | draft)\"");
	else
		rc = expected(
			r, n, key->name,
			"numbers of labels like \"1 & !4 | 3\", or names and the job's key "
			"`labels`; `scan 'hbase:labels'` in HBase's shell lists the numbers as "
			"row keys");
	buf_release(&tags);
	arena_release(&a);
	return rc;
}

/* --- acl: message UsersAndPermissions of HBase --- */

/* Append a protobuf field with these bytes. */
static void append_field(struct buf *out, uint8_t field, struct bytes value)
{
	const uint8_t tag = (uint8_t)(field << 3 | FIELD_BYTES);

	buf_append(out, &tag, 1);
	append_varint(out, value.len);
	buf_append(out, value.ptr, value.len);
}

/* Append {1: user, 2: {1: GLOBAL, 2: {1: action, ...}}} for one user. */
static void append_user(struct buf *out, struct bytes user, struct bytes actions)
{
	static const char all[] = "RWXCA"; /* in the order of Permission.Action */
	static const uint8_t global[] = {1 << 3, 1};
	struct buf list = {0}, permission = {0}, both = {0};

	for (uint8_t i = 0; all[i]; i++)
		if (memchr(actions.ptr, all[i], actions.len))
			buf_append(&list, (const uint8_t[]){1 << 3, i}, 2);
	buf_append(&permission, global, sizeof global);
	append_field(&permission, 2, buf_bytes(&list));
	append_field(&both, 1, user);
	append_field(&both, 2, buf_bytes(&permission));
	append_field(out, 1, buf_bytes(&both));
	buf_release(&list);
	buf_release(&permission);
	buf_release(&both);
}

static bool read_users(const char *p, struct buf *users)
{
	for (;; p++) {
		p = after_blanks(p);
		size_t user = strcspn(p, " ,:");
		const char *actions = p + user + 1;

		if (user == 0 || p[user] != ':')
			return false;
		size_t count = strspn(actions, "RWXCA");
		if (count == 0)
			return false;
		append_user(users, bytes_of(p, user), bytes_of(actions, count));
		p = after_blanks(actions + count);
		if (*p != ',')
			return *p == 0;
	}
}

int read_acl(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct buf users = {0}, tags = {0};
	const char *text;
	int rc = read_text(r, n, key, &text);

	if (rc)
		return rc;
	bool good = strlen(text) <= TEXT_MOST && read_users(text, &users);
	if (good) {
		append_tag(&tags, ACL_TAG, buf_bytes(&users));
		*(struct bytes *)slot = keep(r, &tags);
	}
	buf_release(&users);
	buf_release(&tags);
	return good ? RC_OK
		    : expected(
			      r, n, key->name,
			      "users and rights like \"alice:RW, @staff:R\" (R read, W write, X execute, "
			      "C create, A admin; @ for a group)");
}
