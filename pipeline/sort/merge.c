/*
 * merge.c - merge runs with a tree of losers
 *
 * Each cursor packs the varying bits of its record's key into one word (prefix.h), with one plan
 * for all runs of the merge. The nodes of the tree contain that word, so a match is one comparison
 * without a branch on its result. The merge compares records only if their words are equal. Words
 * replace offset-value codes, because words separate keys equally well and need no updates. A
 * cursor reads one record ahead, so a match never waits.
 *
 * If the input was in order and runs rarely overlap, a cursor that wins twice usually continues to
 * win. Then the merge finds the rival, which is the least word of the other cursors. The function
 * `drain` returns records below the rival without a match.
 *
 * When the merge opens, it finds the part of each run in [lo, hi), so reading compares no bounds.
 */
#include "run_cursor.h"

#define INLINED __attribute__((always_inline))

enum { PREFETCH_BYTES = 512 };

struct merge_node {
	uint64_t prefix;
	uint32_t who;
};

struct merge {
	struct sorter *sorter;
	struct run_cursor *cursors;
	struct merge_node *nodes; /* nodes[0] is the winner, nodes[1..n) the losers */
	size_t n;
	size_t secondary_bytes;
	size_t most;	/* records that keep their strings */
	bool begun;	/* the merge has returned a record */
	bool given;	/* the merge has returned the winner's record */
	uint64_t rival; /* the least word of all cursors except the winner; 0 means unknown */
	struct key_span span;
	struct key_plan plan;
	uint64_t last_word; /* packed key of the previous record */
	uint32_t last_who;  /* the cursor of that record */
	struct buf large;   /* the large payload that was last read from disk */
	uint64_t held_bytes, large_held_bytes;
};

/* Return the index of the current record in items and words. */
static inline unsigned cursor_turn(const struct run_cursor *c)
{
	return (c->reader.turn ^ (unsigned)c->ahead) & 1;
}

static inline const struct record_item *cursor_item(const struct run_cursor *c)
{
	return &c->reader.items[cursor_turn(c)];
}

/* Return the packed key of the last record. */
static inline uint64_t *cursor_word(struct run_cursor *c)
{
	return &c->words[c->reader.turn & 1];
}

static inline INLINED int cursor_read(struct run_cursor *c, const struct key_plan *plan,
				      key_pack *pack, struct error *err)
{
	int rc = reader_read(&c->reader, err);
	const struct record *r = &reader_item(&c->reader, c->reader.turn)->rec;

	if (__builtin_expect(rc, 0))
		return rc;
	*cursor_word(c) = pack(plan, r->key.ptr, r->key.len);
	__builtin_prefetch(c->reader.next + PREFETCH_BYTES);
	return RC_OK;
}

/*
 * Read the record after the current one, if it is in memory. The cursor replaces a block from disk
 * only after the last use of the current record.
 */
static inline INLINED int cursor_look_ahead(struct run_cursor *c, const struct key_plan *plan,
					    key_pack *pack, struct error *err)
{
	c->ahead = c->reader.next < c->reader.end;
	return c->ahead ? cursor_read(c, plan, pack, err) : RC_OK;
}

/* Read the next record if no record is ahead. At the end of the run, set c->done. */
static __attribute__((noinline)) int cursor_go_on(struct run_cursor *c, const struct merge *m,
						  struct error *err)
{
	int rc = c->reader.next == c->reader.end ? run_cursor_refill(c, m->sorter, err) : RC_OK;

	if (c->done)
		*cursor_word(c) = UINT64_MAX;
	return rc || c->done ? rc : cursor_read(c, &m->plan, m->plan.pack, err);
}

/* Compare the full records of equal words. An exhausted cursor is after all others. */
static __attribute__((noinline)) bool before_in_full(const struct merge *m, size_t a, size_t b)
{
	const struct run_cursor *ca = &m->cursors[a], *cb = &m->cursors[b];

	if (ca->done || cb->done)
		return cb->done && (!ca->done || a < b);
	int c = record_compare(&cursor_item(ca)->rec, &cursor_item(cb)->rec, m->secondary_bytes);
	return c ? c < 0 : a < b;
}

static inline bool before(const struct merge *m, struct merge_node a, struct merge_node b)
{
	if (__builtin_expect(a.prefix == b.prefix, 0))
		return before_in_full(m, a.who, b.who);
	return a.prefix < b.prefix;
}

static inline struct merge_node leaf(const struct merge *m, size_t i)
{
	const struct run_cursor *c = &m->cursors[i];

	return (struct merge_node){c->words[cursor_turn(c)], (uint32_t)i};
}

/* Return the winner at node `i`. The losers stay in the nodes. Cursor j is the leaf n + j. */
static struct merge_node build_tree(struct merge *m, size_t i)
{
	if (i >= m->n)
		return leaf(m, i - m->n);
	struct merge_node a = build_tree(m, 2 * i), b = build_tree(m, 2 * i + 1);
	bool first = before(m, a, b);
	m->nodes[i] = first ? b : a;
	return first ? a : b;
}

/* Return the least word among all other cursors, with which the winner competed. */
static uint64_t find_rival(const struct merge *m)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = (m->n + m->nodes[0].who) / 2; i > 0; i /= 2)
		if (m->nodes[i].prefix < least)
			least = m->nodes[i].prefix;
	return least;
}

/* Repeat the matches on the path of the winner's cursor after the cursor has moved. */
static inline void replay(struct merge *m)
{
	size_t moved = m->nodes[0].who;
	struct merge_node up = leaf(m, moved);

	for (size_t i = (m->n + up.who) / 2; i > 0; i /= 2) {
		struct merge_node here = m->nodes[i];
		uint32_t who = (here.who ^ up.who) & -(uint32_t)before(m, here, up);
		bool less = here.prefix < up.prefix;

		m->nodes[i].prefix = less ? up.prefix : here.prefix;
		m->nodes[i].who = here.who ^ who;
		up.prefix =
			less ? here.prefix : up.prefix; /* each match waits for this selection */
		up.who ^= who;
	}
	m->nodes[0] = up;
	m->rival = up.who == moved ? find_rival(m) : 0;
}

/*
 * Return the winner's record and find the next winner. If `drains` is true, the cursor does not
 * read ahead when it wins again.
 */
static inline INLINED int step_on(struct merge *m, struct run_cursor *c, bool drains,
				  key_pack *pack, struct error *err)
{
	int rc = RC_OK;

	if (__builtin_expect(c->ahead, 1))
		c->ahead = false;
	else
		rc = cursor_go_on(c, m, err);
	if (rc)
		return rc;
	uint64_t word = *cursor_word(c);
	m->given = false;
	if (word < m->rival)
		m->nodes[0].prefix = word;
	else
		replay(m);
	if (c->done || (drains && word < m->rival))
		return RC_OK;
	return cursor_look_ahead(c, &m->plan, pack, err);
}

int merge_next(struct merge *m, const struct record_item **out, struct error *err)
{
	struct run_cursor *c = &m->cursors[m->nodes[0].who];

	if (m->given && !c->done) {
		int rc = step_on(m, c, false, m->plan.pack, err);

		if (rc)
			return rc;
		c = &m->cursors[m->nodes[0].who];
	}
	m->given = true;
	*out = cursor_item(c);
	return c->done ? RC_END : RC_OK;
}

static int open_cursors(struct merge *m, struct run *const *runs, size_t nruns, struct bytes lo,
			struct bytes hi, struct error *err)
{
	for (size_t i = 0; i < nruns; i++) {
		struct run_cursor *c = &m->cursors[m->n++];
		int rc = run_cursor_open(c, m->sorter, runs[i], lo, hi, err);

		if (rc == RC_OK)
			rc = cursor_go_on(c, m, err);
		if (rc == RC_OK && !c->done)
			rc = cursor_look_ahead(c, &m->plan, m->plan.pack, err);
		if (rc)
			return rc;
		if (c->reader.nstrings - 1 < m->most)
			m->most = c->reader.nstrings - 1;
		if (c->done) { /* this run has nothing in the range */
			run_cursor_release(c, m->sorter->opt.budget);
			*c = (struct run_cursor){0};
			m->n--;
		}
	}
	return RC_OK;
}

int merge_open(struct merge **out, struct sorter *s, struct run *const *runs, size_t nruns,
	       struct bytes lo, struct bytes hi, struct error *err)
{
	struct merge *m = mem_calloc(1, sizeof *m);

	m->sorter = s;
	m->secondary_bytes = s->opt.secondary_bytes;
	m->most = SIZE_MAX;
	m->cursors = mem_calloc(nruns + 1, sizeof *m->cursors);
	m->nodes = mem_calloc(nruns + 1, sizeof *m->nodes);
	for (size_t i = 0; i < nruns; i++)
		span_merge(&m->span, &runs[i]->span, m->secondary_bytes);
	plan_init(&m->plan, &m->span, m->secondary_bytes);
	m->held_bytes = (nruns + 1) * (sizeof *m->cursors + sizeof *m->nodes);
	budget_force(s->opt.budget, m->held_bytes);
	int rc = open_cursors(m, runs, nruns, lo, hi, err);
	if (rc) {
		merge_close(m);
		return rc;
	}
	if (m->n == 0)
		m->cursors[0].done = true; /* nodes[0] refers to this cursor */
	else
		m->nodes[0] = build_tree(m, 1);
	*out = m;
	return RC_OK;
}

void merge_close(struct merge *m)
{
	if (!m)
		return;
	budget_give(m->sorter->opt.budget, m->held_bytes);
	for (size_t i = 0; i < m->n; i++)
		run_cursor_release(&m->cursors[i], m->sorter->opt.budget);
	budget_give(m->sorter->opt.budget, m->large_held_bytes);
	buf_release(&m->large);
	span_release(&m->span);
	mem_free(m->cursors);
	mem_free(m->nodes);
	mem_free(m);
}

const struct key_span *merge_span(const struct merge *m)
{
	return &m->span;
}

static void drop_aside(struct merge *m)
{
	budget_give(m->sorter->opt.budget, m->large_held_bytes);
	buf_release(&m->large);
	m->large_held_bytes = 0;
}

static __attribute__((noinline)) int fetch_aside(struct merge *m, struct record *r,
						 struct error *err)
{
	struct sorter *s = m->sorter;
	int rc = large_get(s->large, s->opt.threads, s->spills, r->payload, &m->large, &r->payload,
			   err);

	m->large_held_bytes = m->large.cap;
	budget_force(s->opt.budget, m->large_held_bytes);
	return rc;
}

/* Return the winner's record in *out. */
static inline void give(struct merge *m, const struct record *r, struct record *out)
{
	struct merge_node top = m->nodes[0];

	*out = *r;
	/*
	 * `new_key` compares a record with the previous record of the same run. Words also contain
	 * bits of secondaries, so words of one key may differ.
	 */
	if (top.who != m->last_who || !out->new_key)
		out->new_key = top.prefix != m->last_word && m->secondary_bytes == 0;
	out->new_key &= m->begun;
	m->begun = m->given = true;
	m->last_word = top.prefix;
	m->last_who = top.who;
}

/* The records to return to the caller. */
struct merge_batch {
	struct record *out;
	size_t most, n;
};

/* Make the last record the current one, because it is large or may not win. */
static inline INLINED int end_drain(struct merge *m, struct run_cursor *c,
				    const struct record_item *it, uint64_t word, key_pack *pack,
				    struct error *err)
{
	*reader_item(&c->reader, c->reader.turn) = *it;
	*cursor_word(c) = word;
	m->given = false;
	if (word < m->rival) {
		m->nodes[0].prefix = word;
		return RC_OK;
	}
	replay(m);
	return cursor_look_ahead(c, &m->plan, pack, err);
}

/* The winner's cursor while its records leave the merge, with values that stay in registers. */
struct draining {
	const uint8_t *next, *before; /* the next record in the run, and the previous string */
	size_t last_bytes;
	uint64_t last_word, word;
	unsigned turn;
	bool stays; /* the last record was returned */
};

/*
 * Take records as `drain` does, from a run with strings of one length. Stop before a record with a
 * long part or a large payload, and before a damaged record.
 */
static inline INLINED void drain_fixed(const struct merge *m, const struct run_reader *rd,
				       const struct run_codec *codec, struct draining *d,
				       struct merge_batch *b, key_pack *pack)
{
	const size_t string_bytes = codec->string_max, head = 2 + codec->seq_bytes;
	const size_t key_len = string_bytes - codec->secondary_bytes, turns = rd->nstrings - 1;
	const size_t string_cap = rd->string_cap;
	const uint64_t rival = m->rival, seq_base = codec->seq_base, seq_mask = codec->seq_mask;
	const uint8_t *next = d->next, *end = rd->end, *before = d->before;
	uint8_t *strings = rd->strings;
	struct record *out = b->out + b->n, *out_end = b->out + b->most;
	uint64_t last_word = d->last_word, word = 0;
	size_t last_bytes = d->last_bytes;
	unsigned turn = d->turn;
	bool stays = true;

	while (out < out_end && next < end) {
		const size_t shared = next[0], payload = next[1] - (size_t)1;
		const uint8_t *tail = next + head;
		uint64_t seq;

		if (__builtin_expect(payload >= 0x7f || shared > last_bytes ||
					     (ptrdiff_t)(string_bytes - shared + payload) >
						     end - tail,
				     0))
			break;
		memcpy(&seq, next + 2, 8);
		uint8_t *string = strings + (++turn & turns) * string_cap;
		merge_string(string, before, shared, tail, string_bytes);
		const uint8_t *value = tail + (string_bytes - shared);
		next = value + payload;
		__builtin_prefetch(next + PREFETCH_BYTES);
		before = string;
		last_bytes = string_bytes;
		word = pack(&m->plan, string, key_len);
		bool new_key = (shared - 1 < key_len - 1) |
			       ((word != last_word) & (key_len == string_bytes));
		*out = (struct record){.key = bytes_of(string, key_len),
				       .secondary = string + key_len,
				       .seq = seq_base + (seq & seq_mask),
				       .payload = bytes_of(value, payload),
				       .new_key = new_key};
		if (word >= rival) {
			stays = false;
			break;
		}
		out++;
		last_word = word;
	}
	b->n = (size_t)(out - b->out);
	*d = (struct draining){next, before, last_bytes, last_word, word, turn, stays};
}

/*
 * Take the winner's records while they win, and stop before a large record. The caller has the
 * winner's record, the rival is known, and the cursor has not read ahead.
 */
static inline INLINED int drain(struct merge *m, struct run_cursor *c, struct merge_batch *b,
				key_pack *pack, struct error *err)
{
	struct run_reader *rd = &c->reader;
	const struct run_codec codec = rd->run->codec;
	struct draining d = {
		rd->next, reader_string(rd, rd->turn), rd->last_bytes, m->last_word, 0, rd->turn,
		true};
	struct record_item it = {.large = true};

	if (codec.fixed && codec.string_max <= MERGED_BYTES) {
		drain_fixed(m, rd, &codec, &d, b, pack);
		if (!d.stays)
			it = (struct record_item){.rec = b->out[b->n]};
	}
	while (d.stays && b->n < b->most && d.next < rd->end) {
		uint8_t *string = reader_string(rd, ++d.turn);

		d.next = packed_read(&codec, d.next, rd->end, d.before, d.last_bytes, string, &it);
		if (__builtin_expect(!d.next, 0))
			return run_damaged(rd->run, err);
		__builtin_prefetch(d.next + PREFETCH_BYTES);
		d.before = string;
		d.last_bytes = it.rec.key.len + codec.secondary_bytes;
		d.word = pack(&m->plan, string, it.rec.key.len);
		d.stays = d.word < m->rival && !it.large;
		if (!d.stays)
			break;
		it.rec.new_key |= (d.word != d.last_word) & (codec.secondary_bytes == 0);
		b->out[b->n++] = it.rec;
		d.last_word = d.word;
	}
	m->last_word = d.last_word;
	rd->next = d.next;
	rd->turn = d.turn;
	rd->last_bytes = d.last_bytes;
	return d.stays ? RC_OK : end_drain(m, c, &it, d.word, pack, err);
}

static inline INLINED int fill(struct merge *m, struct merge_batch *b, key_pack *pack,
			       struct error *err)
{
	int rc = RC_OK;

	while (b->n < b->most && rc == RC_OK) {
		struct run_cursor *c = &m->cursors[m->nodes[0].who];

		if (m->given && !c->done && !c->ahead) {
			if (c->reader.next < c->reader.end) {
				rc = drain(m, c, b, pack, err);
				continue;
			}
			if (b->n > 0)
				break; /* the caller still uses the block from disk */
		}
		if (m->given && !c->done) {
			rc = step_on(m, c, true, pack, err);
			if (rc)
				break;
			c = &m->cursors[m->nodes[0].who];
		}
		if (c->done)
			break;
		const struct record_item *it = cursor_item(c);
		give(m, &it->rec, &b->out[b->n++]);
		if (__builtin_expect(it->large, 0)) {
			rc = fetch_aside(m, &b->out[b->n - 1], err);
			break;
		}
	}
	return rc;
}

static int fill_any(struct merge *m, struct merge_batch *b, struct error *err)
{
	return fill(m, b, m->plan.pack, err);
}

#if defined(__x86_64__)
__attribute__((target("bmi2"))) static int fill_pext(struct merge *m, struct merge_batch *b,
						     struct error *err)
{
	return fill(m, b, pack_short_pext, err);
}
#else
#define fill_pext fill_any
#endif

static int range_next_many(void *self, struct record *out, size_t most, size_t *n,
			   struct error *err)
{
	_Static_assert((int)SLACK_BYTES >= RECORD_ROOM_BYTES,
		       "a reader may read this number of bytes after a record");
	struct merge *m = self;
	struct merge_batch b = {out, most < m->most ? most : m->most, 0};
	if (__builtin_expect(m->large.cap > 0, 0))
		drop_aside(m);
	int rc = m->plan.short_pext ? fill_pext(m, &b, err) : fill_any(m, &b, err);
	*n = b.n;
	return rc ? rc : b.n ? RC_OK : RC_END;
}

static int range_next(void *self, struct record *out, struct error *err)
{
	size_t n;

	return range_next_many(self, out, 1, &n, err);
}

static void range_close(void *self)
{
	merge_close(self);
}

int sorter_range(struct sorter *s, struct bytes lo, struct bytes hi, struct record_iter *out,
		 struct error *err)
{
	struct merge *m;
	int rc = merge_open(&m, s, s->runs, s->nruns, lo, hi, err);

	if (rc == RC_OK)
		*out = (struct record_iter){range_next, range_close, m, range_next_many};
	return rc;
}
