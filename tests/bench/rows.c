/* rows.c - records in an arena, and batches of them as the encoder writes them */
#include "rows.h"

void keep_record(struct rows *rows, const struct record *r, size_t secondary_bytes)
{
	if (rows->count == rows->cap) {
		rows->cap = rows->cap ? 2 * rows->cap : 1 << 16;
		rows->record = mem_realloc(rows->record, rows->cap * sizeof *rows->record);
	}
	size_t bytes = r->key.len + secondary_bytes + r->payload.len;
	uint8_t *p = arena_alloc(&rows->arena, bytes + RECORD_ROOM_BYTES);
	struct record *to = &rows->record[rows->count++];
	*to = *r;
	memcpy(p, r->key.ptr, r->key.len);
	to->key.ptr = p;
	to->secondary = p + r->key.len;
	memcpy(p + r->key.len, r->secondary, secondary_bytes);
	to->payload.ptr = to->secondary + secondary_bytes;
	memcpy(p + r->key.len + secondary_bytes, r->payload.ptr, r->payload.len);
}

void rows_release(struct rows *rows)
{
	mem_free(rows->record);
	arena_release(&rows->arena);
	*rows = (struct rows){0};
}

/* Copies the bytes that a load's encoder writes in place. */
static void write_batch(struct record_batch *out, const struct record *r, size_t n,
			size_t secondary_bytes)
{
	uint8_t *p = out->to;

	out->n = n;
	out->head = RECORD_HEAD + 1;
	out->key_len = r->key.len;
	out->first_seq = r[0].seq;
	out->last_seq = r[n - 1].seq;
	for (size_t i = 0; i < n; i++, r++) {
		uint32_t seq = (uint32_t)r->seq;
		uint16_t key_len = (uint16_t)r->key.len;

		out->at[i] = (uint32_t)(p - out->to);
		memcpy(p, &seq, sizeof seq);
		memcpy(p + 4, &key_len, sizeof key_len);
		p[RECORD_HEAD] = (uint8_t)r->payload.len;
		memcpy(p + out->head, r->key.ptr, key_len);
		p += out->head + key_len;
		memcpy(p, r->secondary, secondary_bytes);
		memcpy(p + secondary_bytes, r->payload.ptr, r->payload.len);
		p += secondary_bytes + r->payload.len;
	}
	out->at[n] = (uint32_t)(p - out->to);
}

int add_records(struct run_builder *to, const struct record *r, size_t n, size_t secondary_bytes,
		struct error *err)
{
	struct record_batch out = {0};
	size_t bytes = 0;
	bool plain = true;
	int rc = RC_OK;

	for (size_t i = 0; i < n; i++) {
		plain &= r[i].payload.len < 0x80 && r[i].key.len == r->key.len;
		bytes += RECORD_HEAD + 1 + r[i].key.len + secondary_bytes + r[i].payload.len;
	}
	if (plain)
		rc = run_builder_room(to, bytes, r[0].seq, r[n - 1].seq, &out.to, err);
	if (rc == RC_OK && out.to) {
		write_batch(&out, r, n, secondary_bytes);
		run_builder_take(to, &out);
		return RC_OK;
	}
	for (size_t i = 0; i < n && rc == RC_OK; i++)
		rc = run_builder_add(to, &r[i], err);
	return rc;
}
