/* ring.c - encode and compress (pack) data blocks on helper threads */
#include "ring.h"

#include <stdatomic.h>

#include "mem.h"
#include "pool.h"
#include "writer.h"

/* zstd's context at everyday levels, for blocks of 64 KB. */
#define CONTEXT_BYTES (1u << 20)

struct ring_slot {
	struct helper_task task; /* must be first, because the pool's pointer to it is the slot's */
	struct ring_slot *next;
	const struct hfile_options *opt; /* options of the block in this slot */
	struct ring_codecs *codecs;
	struct buf cells, work, disk, key;
	size_t cell_bytes;  /* length of the plain block with its header */
	bool encoded;	    /* `cells` has the payload (direct.h) */
	struct buf *packed; /* `disk`, or the input if there is no compression */
	struct hbloom_due chunks;
	size_t plain_bytes;
	int rc;
	struct error err;
	struct budget *budget; /* the budget of its memory */
	uint64_t budget_bytes;
};

static struct hcodec *take_codec(struct ring_codecs *c)
{
	for (int i = 0; i < RING_CODECS; i++) {
		struct hcodec *h = atomic_exchange(&c->spare[i], NULL);

		if (h)
			return h;
	}
	return mem_try_calloc(1, sizeof(struct hcodec));
}

static void free_codec(struct hcodec *h)
{
	if (!h)
		return;
	hfile_codec_release(h);
	mem_free(h);
}

static void give_codec(struct ring_codecs *c, struct hcodec *h)
{
	for (int i = 0; i < RING_CODECS; i++) {
		struct hcodec *empty = NULL;

		if (atomic_compare_exchange_strong(&c->spare[i], &empty, h))
			return;
	}
	free_codec(h);
}

void hfile_ring_codecs_release(struct ring_codecs *c)
{
	for (int i = 0; i < RING_CODECS; i++)
		free_codec(atomic_exchange(&c->spare[i], NULL));
}

static int pack_with(struct ring_slot *s, struct hcodec *codec)
{
	int rc = hfile_writer_setup_codec(s->opt, codec, &s->err);

	if (rc)
		return rc;
	struct buf *payload = &s->cells;
	if (!s->encoded)
		rc = hfile_writer_payload(s->opt, &s->cells, &s->work, &payload, &s->err);
	if (rc)
		return rc;
	s->packed = s->opt->codec == CODEC_NONE ? payload : &s->disk;
	s->plain_bytes = payload->len - HBLOCK_HEADER;
	return hfile_block_pack(codec, hfile_writer_data_type(s->opt), payload, s->packed, &s->err);
}

static void pack(struct helper_task *t)
{
	struct ring_slot *s = (struct ring_slot *)(void *)t;
	struct hcodec *codec = take_codec(s->codecs);

	s->rc = codec ? pack_with(s, codec) : error_memory(&s->err, sizeof *codec, "a compressor");
	if (codec)
		give_codec(s->codecs, codec);
}

/* Take a slot from the scratch or make a slot. Returns NULL if there is no room. */
static struct ring_slot *take_slot(struct hfile_writer *w)
{
	struct ring_slot *s = w->scratch->slots;

	if (s) {
		w->scratch->slots = s->next;
		return s;
	}
	uint64_t bytes = CONTEXT_BYTES + 4 * (uint64_t)w->opt.block_bytes;
	if (w->opt.budget && !budget_take(w->opt.budget, bytes))
		return NULL;
	s = mem_try_calloc(1, sizeof *s);
	if (!s) {
		if (w->opt.budget)
			budget_give(w->opt.budget, bytes);
		return NULL;
	}
	s->budget = w->opt.budget;
	s->budget_bytes = bytes;
	return s;
}

static void swap(struct buf *a, struct buf *b)
{
	struct buf t = *a;

	*a = *b;
	*b = t;
}

bool hfile_ring_take(struct ring *r, struct hfile_writer *w, struct hbloom_due chunks)
{
	unsigned helpers = w->opt.helpers ? helpers_count(w->opt.helpers) : 0;
	const size_t cell_bytes = hfile_writer_open_bytes(w);

	if (helpers == 0 || cell_bytes > 2 * (size_t)w->opt.block_bytes)
		return false;
	struct ring_slot *s = take_slot(w);
	if (!s)
		return false;
	s->encoded = w->direct.open;
	s->cell_bytes = cell_bytes;
	swap(&s->cells, s->encoded ? &w->buffers->encoded : &w->buffers->cells);
	swap(&s->key, &w->buffers->key);
	s->opt = &w->opt;
	s->codecs = &w->scratch->codecs;
	s->chunks = chunks;
	s->next = NULL;
	s->task.run = pack;
	if (r->last)
		r->last->next = s;
	else
		r->first = s;
	r->last = s;
	r->count++;
	r->chunks.general += chunks.general;
	r->chunks.deletes += chunks.deletes;
	r->bytes += s->cell_bytes;
	helpers_submit(w->opt.helpers, &s->task);
	return true;
}

/* Take the first block out of the ring, which has packed it. The slot returns to the scratch. */
static struct ring_slot *pop(struct ring *r, struct hfile_writer *w)
{
	struct ring_slot *s = r->first;

	r->first = s->next;
	if (!r->first)
		r->last = NULL;
	r->count--;
	r->chunks.general -= s->chunks.general;
	r->chunks.deletes -= s->chunks.deletes;
	r->bytes -= s->cell_bytes;
	s->next = w->scratch->slots;
	w->scratch->slots = s;
	return s;
}

int hfile_ring_collect(struct ring *r, struct hfile_writer *w, bool all, struct error *err)
{
	int rc = 0;

	while (rc == RC_OK && r->first) {
		/* enough blocks to keep helpers busy while this thread packs one itself */
		bool wait = all || r->count > 2 * helpers_count(w->opt.helpers) + 4;

		if (!wait && !helpers_done(w->opt.helpers, &r->first->task))
			break;
		helpers_wait(w->opt.helpers, &r->first->task);
		struct ring_slot *s = pop(r, w);
		rc = s->rc;
		if (rc)
			*err = s->err;
		else
			rc = hfile_writer_put_data(w, s->packed, s->plain_bytes, s->cell_bytes,
						   buf_bytes(&s->key), s->chunks, err);
	}
	return rc;
}

void hfile_ring_drop(struct ring *r, struct hfile_writer *w)
{
	while (r->first) {
		helpers_wait(w->opt.helpers, &r->first->task);
		pop(r, w);
	}
}

void hfile_ring_slots_free(struct ring_slot *s)
{
	while (s) {
		struct ring_slot *next = s->next;

		if (s->budget)
			budget_give(s->budget, s->budget_bytes);
		buf_release(&s->cells);
		buf_release(&s->work);
		buf_release(&s->disk);
		buf_release(&s->key);
		mem_free(s);
		s = next;
	}
}
