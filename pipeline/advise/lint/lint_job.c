/*
 * lint_job.c - rules that need no event
 */
#include <string.h>

#include "encoding.h"
#include "fix.h"

#define FAMILIES_MOST 3

static void many_families(struct lint *l, const struct job_table *t)
{
	size_t n = t->schema.nfamilies;

	if (n <= FAMILIES_MOST)
		return;
	bool *rest = arena_alloc(&l->arena, n * sizeof *rest);
	for (size_t i = 0; i < n; i++)
		rest[i] = i >= FAMILIES_MOST;
	lint_add(l, &(struct lint_finding){
			    .rule = "many-families",
			    .severity = LINT_WARNING,
			    .table = t->schema.name,
			    .pos = t->schema.families[FAMILIES_MOST].pos,
			    .what = lint_text(l, "%zu column families", n),
			    .why = "each family has its own files and memstore in every region; a "
				   "flush or split of one concerns all, so small ones are "
				   "scattered over many small files",
			    .fix = fix_join_families(l, t, rest, FAMILIES_MOST - 1),
			    .figure = (double)n});
}

/* A digest whose input keeps every millisecond apart. */
static bool keeps_all(const struct job *job, const struct key_part *p)
{
	const struct field *f = &job->fields[p->field];

	return p->kind == PART_FIELD && f->type == FIELD_TIME && (p->as != AS_TEXT || !p->width) &&
	       encoding_keeps(p->as, f->type);
}

/* If the cells' time is in the key, or all cells have one time, no column has a second version. */
static void dead_versions(struct lint *l, const struct job *job, const struct job_table *t)
{
	const struct key_part *in_key = NULL;

	for (size_t i = 0; i < t->nrowkey && !t->timestamp_constant; i++)
		if (t->rowkey[i].kind == PART_FIELD && t->rowkey[i].field == t->timestamp_field &&
		    keeps_all(job, &t->rowkey[i]))
			in_key = &t->rowkey[i];
	for (size_t i = 0; i < t->schema.nfamilies && (in_key || t->timestamp_constant); i++) {
		const struct family *f = &t->schema.families[i];

		if (f->versions <= 1)
			continue;
		lint_add(l, &(struct lint_finding){
				    .rule = "dead-versions",
				    .severity = LINT_ADVICE,
				    .table = t->schema.name,
				    .pos = f->pos,
				    .what = lint_text(l, "family %s keeps %d versions, and %s",
						      f->name, (int)f->versions,
						      in_key ? "the cells' time is part of the key"
							     : "all cells have one time"),
				    .why = "a column of a row can then have one cell only: more "
					   "versions never apply",
				    .fix = fix_family(l, t, f, "versions", "1"),
				    .figure = f->versions});
	}
}

static void time_as_text(struct lint *l, const struct job *job, const struct job_table *t)
{
	for (size_t i = 0; i < t->nrowkey; i++) {
		const struct key_part *p = &t->rowkey[i];
		const struct field *time =
			p->kind == PART_FIELD && (p->as == AS_TEXT || p->as == AS_BYTES)
				? time_behind(job, &job->fields[p->field])
				: NULL;

		if (!time)
			continue;
		lint_add(l, &(struct lint_finding){
				    .rule = "time-as-text",
				    .severity = LINT_ADVICE,
				    .table = t->schema.name,
				    .pos = p->pos,
				    .what = lint_text(l, "time `%s` is in the key as text",
						      job->fields[p->field].name),
				    .why = "eight bytes hold every millisecond and sort as time "
					   "does; text is longer, and is stored with each cell",
				    .fix = fix_part(l, t, p->pos,
						    lint_text(l, "{field: %s, as: millis}",
							      fix_name(l, time->name))),
				    .figure = p->width});
	}
}

/* The number of buckets limits parallel reads and the number of servers that answer. */
static void few_buckets(struct lint *l, const struct job_table *t)
{
	const struct region_rule *r = &t->regions.rule;
	const struct key_part *salt = t->nrowkey ? &t->rowkey[0] : NULL;
	uint32_t wanted = r->count > r->servers ? r->count : r->servers;

	if (!salt || salt->kind != PART_SALT || salt->buckets >= wanted)
		return;
	struct draft d = draft_of(l, &t->written.rowkey);
	if (d.n)
		d.text[0] = fix_set(l, d.text[0], "salt", lint_text(l, "%u", wanted));
	lint_add(l,
		 &(struct lint_finding){
			 .rule = "few-buckets",
			 .severity = LINT_WARNING,
			 .table = t->schema.name,
			 .pos = salt->pos,
			 .what = lint_text(l, "%u salt buckets for %u %s", salt->buckets, wanted,
					   r->count >= r->servers ? "regions" : "servers"),
			 .why = "events of one moment go to as many places as there are buckets: "
				"the other regions or servers are idle",
			 .fix = draft_text(l, &d, "rowkey"),
			 .figure = salt->buckets});
}

/* The field for a salt: the first of the key, preferably not a time. */
static const char *entity_of(const struct job *job, const struct job_table *t)
{
	const struct field *found = NULL;

	for (size_t i = 0; i < t->nrowkey; i++) {
		const struct key_part *p = &t->rowkey[i];
		const struct field *f = &job->fields[p->field];

		if (p->kind == PART_FIELD &&
		    (!found || (found->type == FIELD_TIME && f->type != FIELD_TIME)))
			found = f;
	}
	return found ? found->name : "ID";
}

static void drawn_salt(struct lint *l, const struct job *job, const struct job_table *t)
{
	const struct key_part *salt = t->nrowkey ? &t->rowkey[0] : NULL;

	if (!salt || salt->kind != PART_SALT || !salt->draw || salt->buckets < 2)
		return;
	struct draft d = draft_of(l, &t->written.rowkey);
	if (d.n)
		d.text[0] = lint_text(l, "{salt: %u, of: [%s]}", salt->buckets,
				      fix_name(l, entity_of(job, t)));
	lint_add(l, &(struct lint_finding){
			    .rule = "drawn-salt",
			    .severity = LINT_WARNING,
			    .table = t->schema.name,
			    .pos = salt->pos,
			    .what = lint_text(l, "each row is in any of %u buckets", salt->buckets),
			    .why = lint_text(
				    l,
				    "no field gives the bucket: a get becomes %u gets, a scan "
				    "%u scans, and an event that comes again with other bytes "
				    "or at another place is another row",
				    salt->buckets, salt->buckets),
			    .fix = draft_text(l, &d, "rowkey"),
			    .figure = salt->buckets});
}

void lint_job(struct lint *l, const struct job *job)
{
	for (size_t i = 0; i < job->ntables; i++) {
		const struct job_table *t = &job->tables[i];

		many_families(l, t);
		dead_versions(l, job, t);
		time_as_text(l, job, t);
		few_buckets(l, t);
		drawn_salt(l, job, t);
	}
}
