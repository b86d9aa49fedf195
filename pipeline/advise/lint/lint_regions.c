/*
 * lint_regions.c - the rule regions-miss-key, which finds regions of the job that no row can reach
 */
#include <inttypes.h>
#include <string.h>

#include "findings_of.h"
#include "pass.h"

#define SALTS_MOST 65536 /* largest number of key beginnings to list */

/* The possible beginnings of a row key, called heads. Any bytes may follow a head. */
struct heads {
	struct buf bytes; /* n heads of `len` bytes */
	size_t n, len;
};

static void heads_append(struct heads *h, const uint8_t *tail, size_t ntails, size_t len)
{
	struct buf all = {0};

	for (size_t i = 0; i < h->n; i++)
		for (size_t k = 0; k < ntails; k++) {
			buf_append(&all, h->bytes.ptr + i * h->len, h->len);
			buf_append(&all, tail + k * len, len);
		}
	buf_release(&h->bytes);
	*h = (struct heads){all, h->n * ntails, h->len + len};
}

/* Append all values of a salt, big-endian. */
static void heads_append_salt(struct heads *h, const struct key_part *salt)
{
	struct buf all = {0};

	for (uint32_t i = 0; i < salt->buckets; i++)
		for (uint32_t b = salt->width; b-- > 0;)
			buf_put(&all, (uint8_t)(b < 4 ? i >> 8 * b : 0));
	heads_append(h, all.ptr, salt->buckets, salt->width);
	buf_release(&all);
}

/* Append the characters with which a number's text can begin. */
static void heads_append_digit(struct heads *h, const struct job *job, const struct key_part *p)
{
	static const uint8_t digits[] = "0123456789";
	const struct field *f = &job->fields[p->field];

	if (p->kind == PART_FIELD && p->as == AS_TEXT &&
	    (f->type == FIELD_U32 || f->type == FIELD_U64) && (!p->width || p->pad == '0'))
		heads_append(h, digits, 10, 1);
}

/* List the beginnings that the constants, salts and digits at the front of a key allow. */
static struct heads heads_of(const struct job *job, const struct job_table *t)
{
	struct heads h = {.n = 1};

	for (size_t i = 0; i < t->nrowkey; i++) {
		const struct key_part *p = &t->rowkey[i];

		if (p->kind == PART_CONST) {
			heads_append(&h, p->constant.ptr, 1, p->constant.len);
		} else if (p->kind == PART_SALT && h.n * p->buckets <= SALTS_MOST) {
			heads_append_salt(&h, p);
		} else {
			heads_append_digit(&h, job, p);
			break;
		}
	}
	return h;
}

/* Returns the number of regions that can contain a key that begins with one of the heads. */
static size_t regions_reached(const struct heads *h, const struct splits *s)
{
	bool *reached = mem_calloc(s->count + 1, sizeof *reached);
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++) {
		const struct bytes head = bytes_of(h->bytes.ptr + i * h->len, h->len);
		size_t r = splits_region(s, head);

		reached[r] = true;
		/* count regions that begin with a longer key of this head */
		for (; r < s->count && s->keys[r].len >= h->len &&
		       !memcmp(s->keys[r].ptr, head.ptr, h->len);
		     r++)
			reached[r + 1] = true;
	}
	for (size_t i = 0; i <= s->count; i++)
		n += reached[i];
	mem_free(reached);
	return n;
}

static void add_finding(struct lint *l, const struct job_table *t, const char *what, size_t regions,
			double share)
{
	lint_add(l,
		 &(struct lint_finding){
			 .rule = "regions-miss-key",
			 .severity = LINT_SEVERE,
			 .table = t->schema.name,
			 .pos = t->regions.pos,
			 .what = what,
			 .why = "the regions without rows waste their servers, and the others get "
				"all the work",
			 .fix = lint_text(l, "regions: {split: sampled, count: %zu}", regions),
			 .figure = share});
}

void lint_job_regions(struct lint *l, const struct job *job, const struct job_table *t)
{
	struct splits s = {0};
	struct error ignored; /* the command that uses the regions reports this error */
	struct heads h = heads_of(job, t);

	if (h.len > 0 && regions_without_data(job, t, &s, NULL, &ignored) == RC_OK && s.count > 0) {
		size_t all = s.count + 1, reached = regions_reached(&h, &s);

		if (reached * 2 <= all)
			add_finding(
				l, t,
				lint_text(
					l,
					"%zu of %zu regions can get no row, because the first %s of "
					"the row key %s %zu value%s",
					all - reached, all, h.len > 1 ? "bytes" : "byte",
					h.len > 1 ? "have" : "has", h.n, h.n == 1 ? "" : "s"),
				all, (double)(all - reached) / (double)all);
	}
	splits_release(&s);
	buf_release(&h.bytes);
}

void lint_regions(struct lint *l, const struct job *job, size_t table, const uint64_t *rows,
		  size_t n)
{
	const struct job_table *t = &job->tables[table];
	enum split_algorithm a;
	uint64_t all = 0;
	size_t empty = 0;

	for (size_t i = 0; i < n; i++) {
		all += rows[i];
		empty += rows[i] == 0;
	}
	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->findings[i].rule, "regions-miss-key") &&
		    l->findings[i].table == t->schema.name)
			return;
	if (all >= LINT_ROWS_LEAST && all / 4 >= n && empty * 2 >= n && n > 1 &&
	    regions_algorithm(&t->regions, &a))
		add_finding(l, t,
			    lint_text(l, "%zu of %zu regions got none of %" PRIu64 " rows", empty,
				      n, all),
			    n, (double)empty / (double)n);
}
