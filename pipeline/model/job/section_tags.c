/* section_tags.c - `visibility` and `acl` of a cell: the tags that HBase's coprocessors check */
#include "cell.h"
#include "sections.h"

#include <stdlib.h>

/* TagType of HBase */
#define ACL_TAG	       1
#define VISIBILITY_TAG 2
#define FORMAT_TAG     4 /* the form of the visibility tags */
#define SORTED_LABELS  1 /* VisibilityConstants.SORTED_ORDINAL_SERIALIZATION_FORMAT */
#define LABELS_MOST    64
#define TEXT_MOST      2000 /* keeps a cell's tags far below the 32,767 bytes of HBase */
#define FIELD_BYTES    2    /* wire type of protobuf */
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

/* --- visibility: class VisibilityUtils of HBase --- */

static int by_number(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Read "3 & !4". A negative number means that the reader must not have the label. */
static bool read_labels(const char **at, int64_t labels[LABELS_MOST], size_t *n)
{
	const char *p = *at;

	for (*n = 0; *n < LABELS_MOST; p++) {
		char *end;

		p = after_blanks(p);
		bool not = *p == '!';
		p = after_blanks(p + not );
		if (*p < '1' || *p > '9')
			return false;
		long long number = strtoll(p, &end, 10);
		if (number > INT32_MAX)
			return false;
		labels[(*n)++] = not ? -number : number;
		p = *at = after_blanks(end);
		if (*p != '&')
			return true;
	}
	return false;
}

/* Append a tag with the numbers in ascending order, each as a varint of 32 bits. */
static void append_labels(struct buf *out, int64_t *labels, size_t n)
{
	struct buf value = {0};

	qsort(labels, n, sizeof *labels, by_number);
	for (size_t i = 0; i < n; i++)
		append_varint(&value, (uint32_t)labels[i]);
	append_tag(out, VISIBILITY_TAG, buf_bytes(&value));
	buf_release(&value);
}

static bool read_expression(const char *p, struct buf *tags)
{
	static const uint8_t form = SORTED_LABELS;
	int64_t labels[LABELS_MOST];
	size_t n;

	append_tag(tags, FORMAT_TAG, bytes_of(&form, 1));
	for (;; p++) {
		if (!read_labels(&p, labels, &n))
			return false;
		append_labels(tags, labels, n);
		if (*p != '|')
			return *p == 0;
	}
}

int read_visibility(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct buf tags = {0};
	const char *text;
	int rc = read_text(r, n, key, &text);

	if (rc)
		return rc;
	bool good = strlen(text) <= TEXT_MOST && read_expression(text, &tags);
	if (good)
		*(struct bytes *)slot = keep(r, &tags);
	buf_release(&tags);
	return good ? RC_OK
		    : expected(
			      r, n, key->name,
			      "numbers of labels like \"1 & !4 | 3\"; `scan 'hbase:labels'` in HBase's "
			      "shell lists the numbers as row keys");
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
