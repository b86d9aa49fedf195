/* matcher.c - select the cells of a row; the step numbers refer to README.md 2 */
#include "matcher.h"

#include "mem.h"

/* Delete markers seen in the row (ScanDeleteTracker). */
struct markers {
	bool has_family, has_column;
	int64_t family;	   /* timestamp of the newest DeleteFamily */
	int64_t *versions; /* timestamps of DeleteFamilyVersion markers */
	size_t nversions, cap;
	struct buf qualifier; /* qualifier of the latest column marker */
	int64_t column;
	uint8_t type;
};

struct matcher {
	const struct query_family *family;
	const struct bytes *wanted;
	size_t nwanted;
	bool raw;
	uint32_t most;	     /* versions to take */
	int64_t oldest, now; /* cells older than `oldest` are expired */
	int64_t from, to;
	bool ranged;
	bool compacting;      /* select the cells that a major compaction keeps */
	int64_t earliest_put; /* for a compaction; no Put of its files is older */
	struct markers markers;
	/* the members below are the column tracker */
	size_t index;	      /* index in `wanted` */
	struct buf qualifier; /* if `wanted` is empty, the current column */
	bool counting;
	uint32_t count;
	bool has_last;
	int64_t last_ts; /* timestamp of the last cell taken in the column */
	uint8_t last_type;
};

static uint32_t family_versions(const struct query_family *f)
{
	return f->versions ? f->versions : 1;
}

uint32_t matcher_versions(const struct query_family *f, const struct query *q)
{
	uint32_t asked = q->versions ? q->versions : 1, kept = family_versions(f);

	return q->raw || asked < kept ? asked : kept;
}

int64_t matcher_oldest(const struct query_family *f, const struct query *q)
{
	return q->raw ? 0 : f->ttl_ms ? q->now_ms - f->ttl_ms : INT64_MIN;
}

struct matcher *matcher_new(const struct query_family *f, const struct query *q,
			    const struct bytes *wanted, size_t nwanted)
{
	struct matcher *m = mem_try_calloc(1, sizeof *m);

	if (!m)
		return NULL;
	bool more = q->filter || q->judge;
	m->family = f;
	m->wanted = wanted;
	m->nwanted = nwanted;
	m->raw = q->raw;
	m->most = !more ? matcher_versions(f, q) : q->raw ? INT32_MAX : family_versions(f);
	m->now = q->now_ms;
	m->oldest = matcher_oldest(f, q);
	m->ranged = q->from_ms || q->to_ms;
	m->from = m->ranged ? q->from_ms : 0;
	m->to = m->ranged ? q->to_ms : INT64_MAX;
	return m;
}

struct matcher *matcher_new_compacting(const struct query_family *f, int64_t now_ms,
				       int64_t earliest_put)
{
	const struct query all = {.versions = UINT32_MAX, .now_ms = now_ms};
	struct matcher *m = matcher_new(f, &all, NULL, 0);

	if (m) {
		m->compacting = true;
		m->earliest_put = earliest_put;
	}
	return m;
}

void matcher_free(struct matcher *m)
{
	if (!m)
		return;
	mem_free(m->markers.versions);
	buf_release(&m->markers.qualifier);
	buf_release(&m->qualifier);
	mem_free(m);
}

void matcher_row(struct matcher *m)
{
	m->markers.has_family = m->markers.has_column = false;
	m->markers.nversions = 0;
	m->index = 0;
	m->count = 0;
	m->counting = m->has_last = false;
}

static bool expired(const struct matcher *m, int64_t ts)
{
	return ts < m->oldest;
}

static bool add_version(struct markers *k, int64_t ts)
{
	int64_t *p = mem_try_reserve(k->versions, &k->cap, k->nversions + 1, sizeof *p);

	if (!p)
		return false;
	k->versions = p;
	k->versions[k->nversions++] = ts;
	return true;
}

/* Remembers a delete marker. Returns false if memory runs out. */
static bool remember(struct markers *k, const struct cell *c)
{
	if (k->has_family && c->ts <= k->family)
		return true;
	if (c->type == CELL_DELETE_FAMILY) {
		k->has_family = true;
		k->family = c->ts;
		return true;
	}
	if (c->type == CELL_DELETE_FAMILY_VERSION)
		return add_version(k, c->ts);
	/* a less general marker does not replace another marker of the same column */
	if (k->has_column && c->type < k->type && bytes_eq(c->qualifier, buf_bytes(&k->qualifier)))
		return true;
	k->has_column = true;
	k->type = c->type;
	k->column = c->ts;
	k->qualifier.len = 0;
	return buf_try_append(&k->qualifier, c->qualifier.ptr, c->qualifier.len);
}

/* Returns the verdict on a Put. The verdict is VERDICT_TAKE if no marker deletes the Put. */
static enum verdict hidden(struct markers *k, const struct cell *c)
{
	if (k->has_family && c->ts <= k->family)
		return VERDICT_NEXT_COLUMN;
	for (size_t i = 0; i < k->nversions; i++)
		if (k->versions[i] == c->ts)
			return VERDICT_SKIP;
	if (!k->has_column)
		return VERDICT_TAKE;
	if (bytes_eq(c->qualifier, buf_bytes(&k->qualifier))) {
		if (k->type == CELL_DELETE_COLUMN)
			return VERDICT_NEXT_COLUMN;
		if (c->ts == k->column)
			return VERDICT_SKIP;
	}
	k->has_column = false;
	return VERDICT_TAKE;
}

static bool is_marker(const struct cell *c)
{
	return c->type != CELL_PUT;
}

/* Judges a marker in a compaction (MajorCompactionScanQueryMatcher). Kept markers delete nothing. */
static enum verdict by_compacted_marker(struct matcher *m, const struct cell *c)
{
	enum keep_deleted keep = m->family->keep_deleted;
	bool kept = keep == KEEP_DELETED_TRUE || (keep == KEEP_DELETED_TTL && !expired(m, c->ts));

	if (!kept)
		return remember(&m->markers, c) ? VERDICT_SKIP : VERDICT_NO_MEMORY;
	return c->ts < m->earliest_put ? VERDICT_NEXT_COLUMN : VERDICT_TAKE;
}

/* Applies steps 4 to 6, which check markers and the time range. */
static enum verdict by_markers_and_time(struct matcher *m, const struct cell *c)
{
	if (m->compacting && is_marker(c))
		return by_compacted_marker(m, c);
	if (!m->raw && is_marker(c)) {
		bool kept = m->family->keep_deleted != KEEP_DELETED_FALSE;
		bool counts = c->ts >= m->from && (!kept || c->ts < m->to);

		return !counts || remember(&m->markers, c) ? VERDICT_SKIP : VERDICT_NO_MEMORY;
	}
	enum verdict v = m->raw ? VERDICT_TAKE : hidden(&m->markers, c);
	if (v != VERDICT_TAKE)
		return v;
	if (m->ranged && c->ts >= m->to)
		return VERDICT_SKIP;
	return c->ts < m->from ? VERDICT_NEXT_COLUMN : VERDICT_TAKE;
}

static enum verdict take(struct matcher *m, const struct cell *c)
{
	m->has_last = true;
	m->last_ts = c->ts;
	m->last_type = c->type;
	return VERDICT_TAKE;
}

/* Applies step 9, for named columns (ExplicitColumnTracker). */
static enum verdict by_names(struct matcher *m, const struct cell *c)
{
	int order = 1;

	while (m->index < m->nwanted &&
	       (order = bytes_cmp(c->qualifier, m->wanted[m->index])) > 0) {
		m->index++;
		m->count = 0;
		m->has_last = false;
	}
	if (m->index == m->nwanted)
		return VERDICT_NEXT_ROW;
	if (order < 0)
		return VERDICT_NEXT_COLUMN;
	/* as in HBase, a first cell at the latest timestamp counts as a repetition */
	if (c->ts == (m->has_last ? m->last_ts : CELL_TS_LATEST))
		return VERDICT_SKIP;
	m->count++;
	if (m->count >= m->most || (m->count >= m->family->min_versions && expired(m, c->ts))) {
		m->index++;
		m->count = 0;
		m->has_last = false;
		return VERDICT_TAKE;
	}
	return take(m, c);
}

/* Applies step 8, for all columns (ScanWildcardColumnTracker). */
static enum verdict by_count(struct matcher *m, const struct cell *c)
{
	if (!m->counting || !bytes_eq(c->qualifier, buf_bytes(&m->qualifier))) {
		m->counting = true;
		m->count = 0;
		m->has_last = false;
		m->qualifier.len = 0;
		if (!buf_try_append(&m->qualifier, c->qualifier.ptr, c->qualifier.len))
			return VERDICT_NO_MEMORY;
	} else if (m->has_last && c->ts == m->last_ts && c->type == m->last_type) {
		return VERDICT_SKIP;
	}
	m->count += !is_marker(c);
	if (m->count > m->most)
		return VERDICT_NEXT_COLUMN;
	if (m->count <= m->family->min_versions || !expired(m, c->ts))
		return take(m, c);
	return VERDICT_NEXT_COLUMN;
}

enum verdict matcher_take(struct matcher *m, const struct cell *c)
{
	if (m->nwanted && m->index == m->nwanted)
		return VERDICT_NEXT_ROW;
	if ((m->raw || m->family->min_versions == 0) && expired(m, c->ts))
		return VERDICT_NEXT_COLUMN;
	if (cell_ttl_passed(c, m->now))
		return VERDICT_SKIP;
	enum verdict v = by_markers_and_time(m, c);
	if (v != VERDICT_TAKE)
		return v;
	return m->nwanted ? by_names(m, c) : by_count(m, c);
}

void matcher_next_column(struct matcher *m, const struct cell *c)
{
	while (m->index < m->nwanted && bytes_cmp(m->wanted[m->index], c->qualifier) <= 0) {
		m->index++;
		m->count = 0;
		m->has_last = false;
	}
}
