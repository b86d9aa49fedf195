#include "large_values.h"

#include "io.h"

static struct large_item *new_item(struct large_values *a, struct budget *budget)
{
	size_t before = a->cap;

	a->items = mem_reserve(a->items, &a->cap, a->count + 1, sizeof *a->items);
	budget_force(budget, (a->cap - before) * sizeof *a->items);
	return &a->items[a->count++];
}

static int write_item(struct large_values *a, struct large_item *item, const uint8_t *data,
		      struct spill *spill, struct error *err)
{
	int rc = spill_open(spill, err);

	item->at = spill->end;
	a->spilled_bytes += item->len;
	return rc ? rc : spill_write(spill, data, item->len, err);
}

int large_put(struct large_values *a, uint32_t builder, struct bytes payload, uint64_t weight,
	      struct budget *budget, struct spill *spill, uint8_t ref[LARGE_REF_BYTES],
	      struct error *err)
{
	uint32_t number = (uint32_t)a->count;
	uint64_t len = payload.len;

	if (a->count == UINT32_MAX)
		return error_set(
			err, RC_LIMIT,
			"found more than %u large values in one table, expected at most that many",
			UINT32_MAX);
	struct large_item *item = new_item(a, budget);
	*item = (struct large_item){.len = payload.len};
	a->bytes += payload.len;
	memcpy(ref, &builder, 4);
	memcpy(ref + 4, &number, 4);
	memcpy(ref + 8, &len, 8);
	memcpy(ref + 16, &weight, 8);
	if (!budget_take(budget, payload.len))
		return write_item(a, item, payload.ptr, spill, err);
	item->data = mem_alloc(payload.len + SLACK_BYTES);
	memcpy(item->data, payload.ptr, payload.len);
	return RC_OK;
}

int large_evict(struct large_values *a, struct budget *budget, struct spill *spill,
		struct error *err)
{
	while (a->evicted < a->count && !a->items[a->evicted].data)
		a->evicted++;
	if (a->evicted == a->count)
		return RC_END;
	struct large_item *item = &a->items[a->evicted];
	int rc = write_item(a, item, item->data, spill, err);
	if (rc)
		return rc;
	mem_free(item->data);
	item->data = NULL;
	budget_give(budget, item->len);
	return RC_OK;
}

int large_get(const struct large_values *large, unsigned n, const struct spill *spills,
	      struct bytes ref, struct buf *scratch, struct bytes *payload, struct error *err)
{
	uint32_t builder, number;

	memcpy(&builder, ref.ptr, 4);
	memcpy(&number, ref.ptr + 4, 4);
	if (builder >= n || number >= large[builder].count)
		return error_set(
			err, RC_IO,
			"the sorted rows are damaged: found no large value %u of thread %u, expected "
			"it in memory or in a temporary file; run the command again",
			number, builder);
	const struct large_item *item = &large[builder].items[number];
	const struct spill *spill = &spills[builder];
	if (item->data) {
		*payload = bytes_of(item->data, item->len);
		return RC_OK;
	}
	scratch->len = 0;
	uint8_t *to = buf_reserve(scratch, item->len + SLACK_BYTES);
	*payload = bytes_of(to, item->len);
	return io_pread(spill->fd, to, item->len, item->at, spill->dir, err);
}

void large_release(struct large_values *a, struct budget *budget)
{
	for (size_t i = 0; i < a->count; i++) {
		if (!a->items[i].data)
			continue;
		mem_free(a->items[i].data);
		budget_give(budget, a->items[i].len);
	}
	budget_give(budget, a->cap * sizeof *a->items);
	mem_free(a->items);
	*a = (struct large_values){0};
}
