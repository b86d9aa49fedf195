/* live_rows.c - assemble whole rows of a stream from the servers' cells, and judge them */
#include "spans.h"

static void release_list(struct fetched *f)
{
	while (f) {
		struct fetched *next = f->next;

		fetched_free(f);
		f = next;
	}
}

/* Frees the answers that contain the previous row. Keeps the current answer. */
static void let_go(struct live_stream *t)
{
	if (!t->held)
		return;
	release_list(t->held->next);
	t->held->next = NULL;
}

/* Puts the next cell of the span into `t->next`. Returns RC_END if the span has no more cells. */
static int next_cell(struct live_scan *s, struct live_stream *t, struct error *err)
{
	while (!t->rest.len) {
		struct fetched *f;
		int rc = fetch_next(s, &t->spans[t->given], &f, err);

		if (rc)
			return rc;
		if (!f)
			return RC_END;
		if (f->again) { /* the row starts again, so drop its cells */
			t->n = 0;
			release_list(t->held);
			t->held = NULL;
		}
		f->next = t->held;
		t->held = f;
		t->rest = f->batch.cells;
	}
	t->has_next = true;
	return hbase_batch_cell(&t->rest, &t->next, err);
}

static void add_cell(struct live_stream *t)
{
	t->cells = mem_reserve(t->cells, &t->cap, t->n + 1, sizeof *t->cells);
	t->cells[t->n++] = t->next;
	t->has_next = false;
}

/* Go to the next span. A row never continues in the next span. */
static void next_span(struct live_scan *s, struct live_stream *t)
{
	pthread_mutex_lock(&s->lock);
	t->given++;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static int gather(struct live_scan *s, struct live_stream *t, struct error *err)
{
	t->n = 0;
	let_go(t);
	while (t->given < t->nspans) {
		int rc = t->has_next ? RC_OK : next_cell(s, t, err);

		if (rc == RC_END && t->n == 0) {
			next_span(s, t);
			continue;
		}
		if (rc < 0)
			return rc;
		if (rc == RC_END || (t->n && !bytes_eq(t->next.row, t->cells[0].row)))
			return RC_OK;
		add_cell(t);
	}
	return RC_END;
}

/* --- select the cells to return --- */

static bool is_asked(const struct live_scan *s, struct bytes row)
{
	size_t low = 0, high = s->q.nranges;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct bytes stop = s->q.ranges[middle].stop;

		if (stop.len && bytes_cmp(stop, row) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->q.nranges && bytes_cmp(s->q.ranges[low].start, row) <= 0;
}

static bool same_family(const struct cell *a, const struct cell *b)
{
	return bytes_eq(a->family, b->family);
}

/* Keeps only the versions and columns that the query wants. The judge has read all versions. */
static void cut_cells(const struct query *q, struct cell *cells, size_t *n)
{
	uint32_t most = q->versions ? q->versions : 1, versions = 0;
	uint64_t columns = 0;
	size_t kept = 0;
	struct cell last = {0};

	for (size_t i = 0; i < *n; i++) {
		const struct cell c = cells[i];
		bool same = i && same_family(&c, &last) && bytes_eq(c.qualifier, last.qualifier);

		last = c;
		versions = (same ? versions : 0) + (c.type == CELL_PUT);
		if (versions > most)
			continue;
		if (q->max_columns && (same || columns++ >= q->max_columns))
			continue;
		cells[kept++] = c;
	}
	*n = kept;
}

static int judge(struct live_scan *s, struct live_stream *t, struct error *err)
{
	const struct query_judge *j = s->q.judge;
	int rc = RC_OK;

	if (!is_asked(s, t->cells[0].row) || (j && !j->row_key(j->ctx, t->cells[0].row)))
		t->n = 0;
	if (t->n && j)
		rc = j->cells(j->ctx, t->cells, &t->n, err);
	cut_cells(&s->q, t->cells, &t->n);
	return rc;
}

int stream_next_row(struct live_scan *s, struct live_stream *t, struct error *err)
{
	int rc;

	t->give = 0;
	do {
		rc = gather(s, t, err);
		if (rc == RC_OK)
			rc = judge(s, t, err);
	} while (rc == RC_OK && t->n == 0);
	return rc;
}

void stream_release(struct live_stream *t)
{
	release_list(t->held);
	mem_free(t->cells);
}
