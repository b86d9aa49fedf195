/*
 * lint_job.c - rules that need only the job
 */
#include <string.h>

#include "ddl.h"
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
				   "flush or split of one family concerns all families, so small "
				   "families get many small files",
			    .fix = fix_join_families(l, t, rest, FAMILIES_MOST - 1),
			    .figure = (double)n});
}

/* Return true if the part is a digest whose input differs for every millisecond. */
static bool keeps_all(const struct job *job, const struct key_part *p)
{
	const struct field *f = &job->fields[p->field];

	return p->kind == PART_FIELD && f->type == FIELD_TIME && (p->as != AS_TEXT || !p->width) &&
	       encoding_keeps(p->as, f->type);
}

/*
 * Check for unused versions. If the key contains the time of the cells, or if all cells have the
 * same time, no column has a second version.
 */
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
				    .why = "a column of a row can then have only one cell, so more "
					   "versions have no use",
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
		lint_add(l,
			 &(struct lint_finding){
				 .rule = "time-as-text",
				 .severity = LINT_ADVICE,
				 .table = t->schema.name,
				 .pos = p->pos,
				 .what = lint_text(l, "time `%s` is in the key as text",
						   job->fields[p->field].name),
				 .why = "eight bytes can store every millisecond and sort as time "
					"does; text is longer, and HBase stores it with each cell",
				 .fix = fix_part(l, t, p->pos,
						 lint_text(l, "{field: %s, as: millis}",
							   fix_name(l, time->name))),
				 .figure = p->width});
	}
}

/*
 * Check the number of buckets. It limits how many reads run in parallel, and how many servers
 * answer.
 */
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
	lint_add(l, &(struct lint_finding){
			    .rule = "few-buckets",
			    .severity = LINT_WARNING,
			    .table = t->schema.name,
			    .pos = salt->pos,
			    .what = lint_text(l, "%u salt buckets for %u %s", salt->buckets, wanted,
					      r->count >= r->servers ? "regions" : "servers"),
			    .why = "events of one moment go only to one region for each bucket, so "
				   "the other regions or servers are idle",
			    .fix = draft_text(l, &d, "rowkey"),
			    .figure = salt->buckets});
}

/*
 * Return the field for a salt. This is the key's first field that is not a time or, if all are
 * times, the first field.
 */
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
				    "no field gives the bucket, so a get becomes %u gets and a "
				    "scan %u scans; an event that comes again with other bytes or "
				    "at another place becomes another row",
				    salt->buckets, salt->buckets),
			    .fix = draft_text(l, &d, "rowkey"),
			    .figure = salt->buckets});
}

static void clear_text(struct lint *l, const struct job_table *t)
{
	for (size_t i = 0; i < t->schema.nfamilies; i++) {
		const struct family *f = &t->schema.families[i];
		const char *cipher = attributes_get(&f->more, "ENCRYPTION");

		if (!cipher)
			continue;
		lint_add(l, &(struct lint_finding){
				    .rule = "clear-text",
				    .severity = LINT_SEVERE,
				    .table = t->schema.name,
				    .pos = f->pos,
				    .what = lint_text(
					    l,
					    "family %s has ENCRYPTION %s, but saltmill writes its "
					    "HFiles in clear text",
					    f->name, cipher),
				    .why = lint_text(
					    l,
					    "HBase does not encrypt a file that it bulk-loads. It "
					    "encrypts the cells when a compaction rewrites the "
					    "file: after `apply`, run `major_compact '%s', '%s'`. "
					    "The folder of the load stays in clear text",
					    t->schema.name, f->name)});
	}
}

static void values_not_in_mob(struct lint *l, const struct job_table *t)
{
	for (size_t i = 0; i < t->schema.nfamilies; i++) {
		const struct family *f = &t->schema.families[i];
		const char *mob = attributes_get(&f->more, "IS_MOB");

		if (!mob || strcmp(mob, "true"))
			continue;
		const char *threshold = attributes_get(&f->more, "MOB_THRESHOLD");
		lint_add(l,
			 &(struct lint_finding){
				 .rule = "mob-in-hfiles",
				 .severity = LINT_ADVICE,
				 .always = true,
				 .table = t->schema.name,
				 .pos = f->pos,
				 .what = lint_text(
					 l,
					 "family %s has IS_MOB, but the HFiles of the load "
					 "contain its large values too",
					 f->name),
				 .why = lint_text(
					 l,
					 "HBase moves values above MOB_THRESHOLD (%s bytes) into "
					 "MOB files when a compaction rewrites the HFile: after "
					 "`apply`, run `major_compact '%s', '%s'`. Until then the "
					 "regions have the size of all values",
					 threshold ? threshold : "102400", t->schema.name,
					 f->name)});
	}
}

/* Returns the family's put that has the empty qualifier, or NULL. */
static const struct cell_spec *unnamed_put(const struct job_table *t, size_t family)
{
	for (size_t i = 0; i < t->ncells; i++)
		if (!t->cells[i].marker && t->cells[i].family == family && !t->cells[i].nqualifier)
			return &t->cells[i];
	return NULL;
}

/*
 * Return true if the table has delete markers without a qualifier. Such markers delete families,
 * rows or the empty qualifier.
 */
static bool has_unnamed_marker(const struct job_table *t, size_t family)
{
	for (size_t i = 0; i < t->ncells; i++)
		if (t->cells[i].marker && t->cells[i].family == family && !t->cells[i].nqualifier)
			return true;
	return false;
}

static void ttl_and_markers(struct lint *l, const struct job_table *t)
{
	for (size_t i = 0; i < t->schema.nfamilies; i++) {
		const struct family *f = &t->schema.families[i];
		const struct cell_spec *put = unnamed_put(t, i);

		if (f->ttl_s == TTL_FOREVER || !put || !has_unnamed_marker(t, i))
			continue;
		struct draft d = draft_of(l, &t->written.cells);
		size_t at = draft_find(&d, put->pos);
		if (at < d.n)
			d.text[at] = fix_set(l, d.text[at], "qualifier", "v");
		lint_add(l,
			 &(struct lint_finding){
				 .rule = "ttl-and-markers",
				 .severity = LINT_SEVERE,
				 .table = t->schema.name,
				 .pos = put->pos,
				 .what = lint_text(l,
						   "family %s has a TTL, delete markers, and cells "
						   "with an empty qualifier",
						   f->name),
				 .why = "after the TTL, HBase's scanner can loop without end at "
					"such a marker, or return cells that it deletes; a "
					"qualifier of one byte prevents this",
				 .fix = draft_text(l, &d, "cells"),
				 .figure = f->ttl_s});
	}
}

/* Check for cells whose own TTL has no effect. */
static void long_cell_ttl(struct lint *l, const struct job_table *t)
{
	for (size_t i = 0; i < t->ncells; i++) {
		const struct cell_spec *c = &t->cells[i];
		const struct family *f = &t->schema.families[c->family];

		if (f->ttl_s == TTL_FOREVER || f->min_versions > 0 ||
		    c->ttl_ms <= (int64_t)f->ttl_s * 1000)
			continue;
		lint_add(l,
			 &(struct lint_finding){
				 .rule = "long-cell-ttl",
				 .severity = LINT_WARNING,
				 .table = t->schema.name,
				 .pos = c->pos,
				 .what = lint_text(l,
						   "a cell has a TTL of %lld s, and its family "
						   "%s one of %d s",
						   (long long)(c->ttl_ms / 1000), f->name,
						   (int)f->ttl_s),
				 .why = "a cell's own TTL can only shorten its life: HBase drops "
					"the cell after the shorter of both",
				 .fix = fix_family(l, t, f, "ttl",
						   lint_text(l, "%llds",
							     (long long)(c->ttl_ms / 1000))),
				 .figure = (double)c->ttl_ms / 1000});
	}
}

static bool part_uses(const struct key_part *p, size_t field)
{
	bool uses = p->kind == PART_FIELD && p->field == field;

	for (size_t i = 0; i < p->nof; i++)
		uses |= p->of[i] == field;
	return uses;
}

/* Return true if a key or a cell of the job contains the field. */
static bool is_stored(const struct job *job, size_t field)
{
	bool stored = false;

	for (size_t t = 0; t < job->ntables; t++) {
		const struct job_table *table = &job->tables[t];

		for (size_t i = 0; i < table->nrowkey; i++)
			stored |= part_uses(&table->rowkey[i], field);
		for (size_t i = 0; i < table->ncells; i++) {
			const struct cell_spec *c = &table->cells[i];

			stored |= c->kind == VALUE_FIELD && c->field == field;
			for (size_t k = 0; k < c->nqualifier; k++)
				stored |= part_uses(&c->qualifier[k], field);
		}
	}
	return stored;
}

static bool any_ttl(const struct job *job)
{
	for (size_t t = 0; t < job->ntables; t++)
		for (size_t f = 0; f < job->tables[t].schema.nfamilies; f++)
			if (job->tables[t].schema.families[f].ttl_s != TTL_FOREVER)
				return true;
	return false;
}

/*
 * Check for delete markers whose timestamps come from Kafka. Offsets rise with the messages of a
 * key, but the times of two messages may be equal. A TTL needs real times, so there is no fix then.
 */
static void tombstone_ties(struct lint *l, const struct job *job, const struct job_table *t)
{
	const struct field *f = &job->fields[t->timestamp_field];

	if (job->kafka.tombstones != TOMBSTONES_DELETE || t->timestamp_constant ||
	    !reads_column(f, "$timestamp"))
		return;
	bool has_fix = !is_stored(job, t->timestamp_field) && !any_ttl(job);
	lint_add(l, &(struct lint_finding){
			    .rule = "tombstone-ties",
			    .severity = LINT_WARNING,
			    .table = t->schema.name,
			    .pos = f->pos,
			    .what = lint_text(l,
					      "tombstones delete rows at the time `%s` of Kafka's "
					      "$timestamp",
					      f->name),
			    .why = "a tombstone also hides a later put of the same millisecond; "
				   "offsets rise with each message of a key, so `from: $offset` "
				   "orders them (without a TTL)",
			    .fix = has_fix ? fix_field(l, job, f, "from", "$offset") : NULL});
}

void lint_job(struct lint *l, const struct job *job, const struct existing_regions *live)
{
	for (size_t i = 0; i < job->ntables; i++) {
		const struct job_table *t = &job->tables[i];

		many_families(l, t);
		dead_versions(l, job, t);
		time_as_text(l, job, t);
		few_buckets(l, t);
		drawn_salt(l, job, t);
		clear_text(l, t);
		values_not_in_mob(l, t);
		ttl_and_markers(l, t);
		long_cell_ttl(l, t);
		tombstone_ties(l, job, t);
		if (!live || !existing_regions_table(live, i))
			lint_job_regions(l, job, t);
	}
}
