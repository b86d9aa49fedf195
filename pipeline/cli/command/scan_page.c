/*
 * scan_page.c - implements `--page`, which continues after the last row of an earlier --limit
 *
 * A token is base64 of these bytes: 01; 8 bytes of digest of the query; the row, the family and the
 * qualifier where the page ended, each after its length in 2 bytes; 4 bytes of CRC-32C of the bytes
 * before. A query has the same digest for folders and for a live table. From page to page, only the
 * limit and the format may change.
 */
#include <stdio.h>

#include "hash.h"
#include "scan_desk.h"

#define TOKEN_FORM  1
#define TOKEN_FRONT 9 /* bytes before the row */
#define TOKEN_LEAST (TOKEN_FRONT + 3 * 2 + 4)

static void put_part(struct buf *out, struct bytes b)
{
	uint8_t length[2];

	put_be16(length, (uint16_t)b.len);
	buf_append(out, length, sizeof length);
	buf_append(out, b.ptr, b.len);
}

static void put_text(struct buf *out, const char *text)
{
	buf_append_str(out, text ? text : "");
	buf_put(out, 0);
}

/* Returns a digest of all settings that decide which rows are in the answer, and in which order. */
static uint64_t digest_of(const struct scan_desk *d)
{
	const struct scan_arguments *a = d->args;
	const struct query *q = &a->q;
	const struct key_part *first = &d->table->rowkey[0];
	struct buf all = {0};

	put_text(&all, d->table->schema.name);
	put_text(&all, a->where);
	put_text(&all, a->columns);
	put_part(&all, buf_bytes(&a->start));
	put_part(&all, buf_bytes(&a->stop));
	put_part(&all, buf_bytes(&a->prefix));
	buf_printf(&all, "%d %d %d %d %u %lld %lld %llu %d %u %d", a->via != NULL, q->reversed,
		   q->raw, a->any_version, q->versions, (long long)q->from_ms, (long long)q->to_ms,
		   (unsigned long long)q->max_columns, (int)first->kind,
		   first->kind == PART_SALT ? first->buckets : 0,
		   first->kind == PART_SALT ? (int)first->hash : 0);
	uint64_t digest = XXH3_64bits(all.ptr, all.len);
	buf_release(&all);
	return digest;
}

static uint32_t sum_of(struct bytes b)
{
	return ~crc32c_add(CRC32C_START, b.ptr, b.len);
}

static bool take_part(struct bytes *rest, struct bytes *out)
{
	if (rest->len < 2)
		return false;
	size_t n = get_be16(rest->ptr);
	if (rest->len < 2 + n)
		return false;
	*out = bytes_of(rest->ptr + 2, n);
	*rest = bytes_of(rest->ptr + 2 + n, rest->len - 2 - n);
	return true;
}

static bool take_token(struct bytes token, uint64_t *digest, struct scan_page *out)
{
	if (token.len < TOKEN_LEAST || token.ptr[0] != TOKEN_FORM)
		return false;
	struct bytes summed = bytes_of(token.ptr, token.len - 4);
	struct bytes rest = bytes_of(token.ptr + TOKEN_FRONT, summed.len - TOKEN_FRONT);
	*digest = get_be64(token.ptr + 1);
	return get_be32(token.ptr + summed.len) == sum_of(summed) && take_part(&rest, &out->row) &&
	       take_part(&rest, &out->family) && take_part(&rest, &out->qualifier) &&
	       rest.len == 0 && out->row.len > 0;
}

int scan_page_take(struct scan_desk *d, struct error *err)
{
	struct buf token = {0};
	uint64_t digest;
	struct scan_page *p = &d->page;
	int rc = RC_OK;

	if (!text_unbase64(&token, d->args->page) || !take_token(buf_bytes(&token), &digest, p))
		rc = error_set(
			err, RC_CONFIG,
			"--page: found `%.60s`, expected a token that `saltmill scan --limit` "
			"printed",
			d->args->page);
	else if (digest != digest_of(d) || (d->q.get && !d->args->via))
		rc = error_set(err, RC_CONFIG,
			       "--page: found a token of another query or table, expected the same "
			       "query again; only --limit, --format and --decode may differ");
	if (rc == RC_OK) {
		p->row = arena_bytes(&d->arena, p->row);
		p->family = arena_bytes(&d->arena, p->family);
		p->qualifier = arena_bytes(&d->arena, p->qualifier);
		query_continue(&d->q, p->row, p->family.len > 0, &d->arena);
	}
	buf_release(&token);
	return rc;
}

void scan_page_print(const struct scan_desk *d, const struct scan_page *end)
{
	struct buf token = {0}, text = {0};
	uint8_t number[8];

	buf_put(&token, TOKEN_FORM);
	put_be64(number, digest_of(d));
	buf_append(&token, number, 8);
	put_part(&token, end->row);
	put_part(&token, end->family);
	put_part(&token, end->qualifier);
	put_be32(number, sum_of(buf_bytes(&token)));
	buf_append(&token, number, 4);
	text_base64(&text, buf_bytes(&token));
	fprintf(stderr, "saltmill scan: next page: --page %.*s\n", (int)text.len,
		(const char *)text.ptr);
	buf_release(&token);
	buf_release(&text);
}
