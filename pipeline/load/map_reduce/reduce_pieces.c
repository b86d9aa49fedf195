/*
 * reduce_pieces.c - pass the pieces of maps, or of standard input, to the sorters of a reduce
 *
 * The sorters merge the pieces as they are, unless they are short.
 */
#include "reducing.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "pieces.h"
#include "pool.h"

static int check_head(const struct reducing *r, const struct piece_head *h, const char *name,
		      struct error *err)
{
	if (memcmp(h->plan, r->opt->plan->identity, sizeof h->plan) != 0)
		return error_set(err, RC_DATA,
				 "%s: found a piece of another plan, job or version of saltmill; "
				 "run map again for this input",
				 name);
	if (h->table >= r->job->ntables || h->region < r->wanted[h->table].first ||
	    h->region >= r->wanted[h->table].end)
		return error_set(
			err, RC_DATA,
			"%s: found a piece of table %u, region %u, expected only regions of "
			"this reduce",
			name, h->table, h->region);
	return RC_OK;
}

/* The state of one thread that reads pieces. */
struct reduce_taking {
	struct piece_reader reader;
	/* [ntables], the previous piece, with 0 records before the first piece */
	struct piece_head *last;
	/* [ntables], bytes of this map's wanted pieces, all in order; NULL if unknown */
	uint64_t *wanted;
	struct buf stored; /* head and stored bytes */
};

/*
 * Return true if `h` continues the slice of `last`. The pieces of a slice are in order, and so are
 * their records.
 */
static bool goes_on(const struct piece_head *last, const struct piece_head *h)
{
	return last->records > 0 && last->slice == h->slice &&
	       (h->region > last->region ||
		(h->region == last->region && h->number == last->number + 1));
}

/* Pass the records of the piece in `t->stored` to the sorter. */
static int take_records(struct reducing *r, unsigned worker, struct reduce_taking *t,
			const struct piece_head *h, const char *name, struct error *err)
{
	struct sorter *sorter = r->pass.tables[h->table].sorter;
	struct run_builder *b = sorter_builder(sorter, worker);
	struct packed_records p;
	size_t number = (size_t)(h->slice >> 44);
	uint64_t wanted = t->wanted ? t->wanted[h->table] : 0;
	int rc = piece_open(&t->reader, h, t->stored.ptr, t->stored.ptr + PIECE_HEAD_BYTES,
			    row_secondary_bytes(r->pass.plan, h->table), &p, name, err);

	if (rc)
		return rc;
	if (number < r->nbases)
		p.codec.seq_base -= SOURCE_FILE_SEQ(number) - r->bases[number];
	rc = run_builder_stretch(b, wanted > h->plain ? wanted : h->plain,
				 goes_on(&t->last[h->table], h), err);
	t->last[h->table] = *h;
	return rc ? rc : run_builder_add_packed(b, &p, err);
}

/* A range of a file, or standard input. */
struct piece_input {
	int fd;
	const char *name;
	bool stream;
	uint64_t at;
};

/* Read `len` bytes. Set `*end` if the input ended before the first byte. */
static int read_bytes(struct piece_input *in, uint8_t *to, size_t len, bool *end, struct error *err)
{
	size_t got = 0;

	*end = false;
	while (in->stream && got < len) {
		ssize_t n = read(in->fd, to + got, len - got);

		if (n < 0)
			return error_errno(err, "%s", in->name);
		if (n == 0 && got == 0) {
			*end = true;
			return RC_OK;
		}
		if (n == 0)
			return error_set(
				err, RC_IO,
				"%s: found the end within a piece, expected complete pieces; "
				"send the map's output again",
				in->name);
		got += (size_t)n;
	}
	int rc = in->stream ? RC_OK : io_pread(in->fd, to, len, in->at, in->name, err);
	in->at += len;
	return rc;
}

static int take_piece(struct reducing *r, unsigned worker, struct piece_input *in,
		      struct reduce_taking *t, struct arrivals *seen, bool *end, struct error *err)
{
	struct piece_head h;
	bool short_end;

	t->stored.len = 0;
	uint8_t *p = buf_reserve(&t->stored, PIECE_HEAD_BYTES);
	int rc = read_bytes(in, p, PIECE_HEAD_BYTES, end, err);
	if (rc || *end)
		return rc;
	rc = piece_head_read(&h, p, in->name, err);
	if (rc == RC_OK)
		rc = check_head(r, &h, in->name, err);
	if (rc)
		return rc;
	t->stored.len = PIECE_HEAD_BYTES;
	p = buf_reserve(&t->stored, h.stored + PACKED_ROOM_BYTES);
	rc = read_bytes(in, p, h.stored, &short_end, err);
	if (rc == RC_OK && short_end)
		rc = error_set(
			err, RC_IO,
			"%s: found the end within a piece, expected complete pieces; send the "
			"map's output again",
			in->name);
	if (rc == RC_OK)
		rc = take_records(r, worker, t, &h, in->name, err);
	if (rc == RC_OK)
		arrivals_note(seen, &h);
	progress_add(r->progress, PIECE_HEAD_BYTES + h.stored);
	return rc ? rc : stop_check(err);
}

static void taking_release(struct reduce_taking *t)
{
	piece_reader_release(&t->reader);
	mem_free(t->last);
	mem_free(t->wanted);
	buf_release(&t->stored);
}

/* Read the pieces of a region from one map's file. */
static int take_region(struct reducing *r, unsigned worker, size_t source, struct piece_input *in,
		       struct reduce_taking *t, const struct map_region *region, struct error *err)
{
	uint64_t end_at = region->offset + region->bytes;
	struct arrivals *seen = &r->sources[source];
	bool end = false;
	int rc = RC_OK;

	in->at = region->offset;
	while (rc == RC_OK && in->at < end_at) {
		rc = take_piece(r, worker, in, t, seen, &end, err);
		const struct arrival *last = seen->n ? &seen->item[seen->n - 1] : NULL;
		if (rc == RC_OK && (last->region != region->region ||
				    last->slice != map_slice(&r->maps.reports[source])))
			rc = error_set(err, RC_IO,
				       "%s: found other pieces than in the map's "
				       "report; run map again",
				       in->name);
	}
	return rc;
}

static int take_map(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct reducing *r = ctx;
	const struct map_report *m = &r->maps.reports[index];
	struct reduce_taking t = {.last = mem_calloc(r->job->ntables, sizeof *t.last),
				  .wanted = mem_calloc(r->job->ntables, sizeof *t.wanted)};
	char *path = mem_format("%s/runs", m->folder);
	struct piece_input in = {.name = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
	int rc = in.fd < 0 ? error_errno(err, "%s", path) : RC_OK;

	for (size_t i = 0; rc == RC_OK && i < r->job->ntables; i++) {
		t.wanted[i] = map_bytes(&m->tables[i], r->wanted[i].first, r->wanted[i].end);
		for (size_t k = 0; rc == RC_OK && k < m->tables[i].nregions; k++) {
			const struct map_region *region = &m->tables[i].regions[k];

			if (region->region >= r->wanted[i].first &&
			    region->region < r->wanted[i].end)
				rc = take_region(r, worker, index, &in, &t, region, err);
		}
	}
	if (in.fd >= 0)
		close(in.fd);
	taking_release(&t);
	mem_free(path);
	return rc;
}

static int take_stream(struct reducing *r, struct error *err)
{
	struct reduce_taking t = {.last = mem_calloc(r->job->ntables, sizeof *t.last)};
	struct piece_input in = {.name = "standard input", .fd = STDIN_FILENO, .stream = true};
	bool end = false;
	int rc = RC_OK;

	while (rc == RC_OK && !end)
		rc = take_piece(r, 0, &in, &t, &r->sources[0], &end, err);
	taking_release(&t);
	return rc;
}

/* Return the bytes of the wanted pieces in the folders of maps, or 0 for standard input. */
static uint64_t wanted_bytes(const struct reducing *r)
{
	uint64_t n = 0;

	for (size_t m = 0; m < r->maps.n; m++)
		for (size_t t = 0; t < r->job->ntables; t++)
			n += map_bytes(&r->maps.reports[m].tables[t], r->wanted[t].first,
				       r->wanted[t].end);
	return n;
}

int reducing_read(struct reducing *r, struct error *err)
{
	const struct memory_plan *memory = &r->pass.memory;
	uint64_t held = 3 * PIECE_BYTES * memory->threads;
	bool stream = r->maps.n == 0;

	r->nsources = stream ? 1 : r->maps.n;
	r->sources = mem_calloc(r->nsources, sizeof *r->sources);
	progress_begin(r->progress, "reading", PROGRESS_BYTES, wanted_bytes(r));
	budget_force(&r->pass.budget, held);
	int rc = stream ? take_stream(r, err)
			: pool_run(memory->threads, r->maps.n, take_map, r, err);
	budget_give(&r->pass.budget, held);
	if (rc == RC_OK)
		rc = pass_flush(&r->pass, err);
	return rc ? rc : arrivals_unite(r->sources, r->nsources, err);
}
