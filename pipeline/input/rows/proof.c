/*
 * proof.c - compute digests of files, and prove that slices that other processes read are the whole
 * files
 *
 * If this process opens the file, it reads all bytes. The same pass computes each slice's digest and
 * compares it with the digest that the reader of the slice computed. Else the digest of the file is
 * the sum of the digests of the slices, if their chunks are the whole file (slice.c). If a slice
 * did not read its chunks as a whole, another process must read the file (`saltmill digest`).
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "cursor.h"
#include "io.h"
#include "hash.h"

#define READ_BYTES ((size_t)1 << 20)

/* A file, for a read from start to end. */
struct reading {
	struct input_stream in;
	uint64_t at; /* bytes read so far */
	uint8_t *buf;
	XXH3_state_t *state; /* digest of the current part, NULL between parts */
	struct progress *progress;
};

static int read_to(struct reading *r, uint64_t end, struct error *err)
{
	while (r->at < end) {
		size_t got, want = end - r->at < READ_BYTES ? (size_t)(end - r->at) : READ_BYTES;
		int rc = input_read(&r->in, r->buf, want, &got, err);

		if (rc)
			return rc;
		if (got == 0)
			return end == UINT64_MAX
				       ? RC_OK
				       : error_set(err, RC_IO,
						   "%s: found %llu bytes, expected %llu as in the "
						   "map, because the file changed since",
						   r->in.name, (unsigned long long)r->at,
						   (unsigned long long)end);
		if (r->state)
			XXH3_128bits_update(r->state, r->buf, got);
		r->at += got;
		progress_add(r->progress, got);
	}
	return RC_OK;
}

static int digest_part(struct reading *r, struct source_range *part, struct error *err)
{
	XXH128_canonical_t canonical;
	XXH3_state_t state;
	int rc = read_to(r, part->first, err);

	XXH3_128bits_reset(&state);
	r->state = &state;
	if (rc == RC_OK)
		rc = read_to(r, part->end, err);
	r->state = NULL;
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
	memcpy(part->digest, canonical.digest, sizeof part->digest);
	return rc;
}

static int digest_all(struct reading *r, struct source_digest *d, struct error *err)
{
	int rc = RC_OK;

	r->buf = mem_alloc(READ_BYTES);
	for (size_t i = 0; rc == RC_OK && i < d->nparts; i++)
		rc = digest_part(r, &d->parts[i], err);
	if (rc == RC_OK)
		rc = read_to(r, UINT64_MAX, err);
	d->size = r->in.raw_read;
	input_digest(&r->in, d->digest);
	mem_free(r->buf);
	return rc;
}

/* Digest one file. `checked` is the file's earlier stamp, or NULL. */
static int digest_file(struct source_digest *d, const struct source_feed *feed,
		       const struct input_stamp *checked, struct progress *progress,
		       struct error *err)
{
	struct reading r = {.progress = progress};
	int rc = input_open_raw(&r.in, d->path, feed, err);

	if (rc == RC_OK && checked)
		rc = input_same(&r.in, checked, err);
	if (rc == RC_OK)
		rc = digest_all(&r, d, err);
	input_close(&r.in);
	return rc;
}

int source_digest_file(struct source_digest *d, const struct source_feed *feed,
		       struct progress *progress, struct error *err)
{
	struct stat st;
	uint64_t bytes = 0;

	if (feed)
		bytes = feed->bytes == UINT64_MAX ? 0 : feed->bytes;
	else if (stat(d->path, &st) == 0 && S_ISREG(st.st_mode))
		bytes = (uint64_t)st.st_size;
	progress_begin(progress, "reading", PROGRESS_BYTES, bytes);
	return digest_file(d, feed, NULL, progress, err);
}

/* --- parts that other processes read --- */

static int changed(const char *name, const struct source_part *part, struct error *err)
{
	return error_set(
		err, RC_IO,
		"%s: found other bytes from %llu to %llu, expected the mapped bytes, because the "
		"file changed",
		name, (unsigned long long)part->first, (unsigned long long)part->end);
}

static bool same_digest(const uint8_t a[16], const uint8_t b[16])
{
	return memcmp(a, b, 16) == 0;
}

/* Compare the mapped parts with the digest's parts. Both lists are in rising order. */
static int prove_parts(const struct source_digest *d, const char *name,
		       const struct source_part *parts, size_t n, struct error *err)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		const struct source_part *p = &parts[i];

		if (p->first == p->end)
			continue;
		while (at < d->nparts && d->parts[at].first < p->first)
			at++;
		if (at == d->nparts || d->parts[at].first != p->first || d->parts[at].end != p->end)
			return error_set(
				err, RC_DATA,
				"%s: found a digest without bytes %llu to %llu, which a map has; "
				"run `saltmill digest` with all maps",
				name, (unsigned long long)p->first, (unsigned long long)p->end);
		if (!same_digest(d->parts[at].digest, p->digest))
			return changed(name, p, err);
	}
	return d->size == parts->size ? RC_OK : changed(name, &parts[n - 1], err);
}

static struct source_digest parts_of(struct source *s, size_t file, const struct source_part *parts,
				     size_t n)
{
	struct source_digest d = {.path = s->files[file].path};

	d.parts = arena_alloc(&s->arena, (n + 1) * sizeof *d.parts);
	for (size_t i = 0; i < n; i++)
		if (!parts[i].whole && parts[i].first != parts[i].end)
			d.parts[d.nparts++] =
				(struct source_range){parts[i].first, parts[i].end, {0}};
	return d;
}

static const struct source_digest *known_digest(const struct source *s, size_t file)
{
	for (size_t i = 0; i < s->input->known->ndigests; i++)
		if (s->input->known->digests[i].number == file)
			return &s->input->known->digests[i];
	return NULL;
}

static int by_range(const void *a, const void *b)
{
	const struct source_part *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Return true if all chunks of the file are in one slice each. The slices are in order. */
static bool has_all_chunks(const struct source_part *parts, size_t n)
{
	uint64_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (!parts[i].summed || file_chunk_end(parts[i].from) != at ||
		    (i && parts[i].first != parts[i - 1].end))
			return false;
		at = file_chunk_end(parts[i].to);
	}
	return n > 0 && at >= parts->size && parts->size > 0;
}

/*
 * Add up the digests of the slices of a file. Set `*known` to false if they are not the digest of
 * the file. Returns RC_IO if two slices read different bytes at the same place.
 */
static int add_sums(const struct source_part *of_file, size_t n, const char *name,
		    uint8_t digest[16], bool *known, struct error *err)
{
	struct source_part *parts = mem_alloc((n + 1) * sizeof *parts);
	int rc = RC_OK;

	memcpy(parts, of_file, n * sizeof *parts);
	qsort(parts, n, sizeof *parts, by_range);
	*known = has_all_chunks(parts, n);
	memset(digest, 0, 16);
	for (size_t i = 0; *known && rc == RC_OK && i < n; i++) {
		digest_add(digest, parts[i].sum);
		if (i && !same_digest(parts[i].before, parts[i - 1].after))
			rc = changed(name, &parts[i], err);
	}
	mem_free(parts);
	return rc;
}

static int check_known(const struct source *s, size_t file, const struct source_part *parts,
		       const struct source_digest *d, bool summed, struct error *err)
{
	const struct source_file *f = &s->files[file];
	const char *other = NULL;

	if (f->size != parts->size || (d && d->size != f->size))
		other = "size";
	if (strcmp(parts->path, f->path) != 0 || (d && strcmp(d->path, f->path) != 0))
		other = "path";
	if (other)
		return error_set(err, RC_DATA,
				 "input %zu, %s: its map%s a different %s than the list of inputs",
				 file, f->path, d ? " or its digest has" : " has", other);
	if (!d && !parts->whole && !summed)
		return error_set(err, RC_DATA,
				 "%s: found maps of its slices that do not have its digest; run "
				 "`saltmill digest`, and add the result to --inputs",
				 f->path);
	return RC_OK;
}

static void note_parts(struct source *s, size_t file, const struct source_part *parts, size_t n)
{
	uint64_t lines = n ? parts->head_lines : 0, rows = 0;

	for (size_t i = 0; i < n; i++) {
		const struct source_part *part = &parts[i];
		const struct place at = {.seq = SOURCE_FILE_SEQ(part->number) + part->first,
					 .line = lines,
					 .offset = part->first,
					 .file = file};

		places_note(&s->places, &at);
		lines += part->lines;
		rows += part->rows;
	}
	atomic_store(&s->rows[file], rows);
}

/* Prove that the parts are the whole file. */
static int prove_file(struct source *s, size_t file, const struct source_part *parts, size_t n,
		      struct progress *progress, struct error *err)
{
	struct source_file *f = &s->files[file];
	struct source_digest here = parts_of(s, file, parts, n);
	const struct source_digest *d = s->input->known ? known_digest(s, file) : &here;
	uint8_t sum[16];
	bool summed = false;
	int rc = d ? RC_OK : add_sums(parts, n, f->path, sum, &summed, err);

	if (rc == RC_OK)
		rc = s->input->known ? check_known(s, file, parts, d, summed, err)
				     : digest_file(&here, NULL, &s->stamps[file], progress, err);

	if (rc == RC_OK && n == 1 && parts->whole && d &&
	    (!same_digest(d->digest, parts->digest) || d->size != parts->size))
		rc = changed(f->path, parts, err);
	else if (rc == RC_OK && d && !parts->whole)
		rc = prove_parts(d, f->path, parts, n, err);
	if (rc)
		return rc;
	f->size = parts->size;
	memcpy(f->digest, d ? d->digest : summed ? sum : parts->digest, sizeof f->digest);
	note_parts(s, file, parts, n);
	return RC_OK;
}

int source_take_parts(struct source *s, const struct source_part *parts, size_t n,
		      struct progress *progress, struct error *err)
{
	int rc = RC_OK;
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		if (i == 0 || parts[i].number != parts[i - 1].number)
			bytes += parts[i].size;
	if (!s->input->known)
		progress_begin(progress, "proving the inputs", PROGRESS_BYTES, bytes);
	for (size_t i = 0, at = 0; rc == RC_OK && i < s->nfiles; i++) {
		size_t first = at;

		while (at < n && parts[at].number == i)
			at++;
		rc = prove_file(s, i, parts + first, at - first, progress, err);
	}
	return rc;
}
