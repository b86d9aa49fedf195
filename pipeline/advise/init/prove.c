/* prove.c - run a proposed job over the sample, and count lost rows */
#include <inttypes.h>
#include <stdio.h>

#include "event.h"
#include "row.h"
#include "sniff_parts.h"
#include "source.h"
#include "value_proof.h"

#define SHOWN_ROWS 4096 /* rows between two updates of the progress */

struct prover {
	struct sniff_proof *proof;
	const struct job *job;
	uint64_t most; /* rows of the sample; UINT64_MAX if the sample is the whole file */
	struct row_plan *plan;
	struct row_encoder *encoder;
	struct record *records;
	struct distinct keys;
	struct row_fit *fit; /* NULL if the source is not delimited text */
	struct value_proof *values;
	struct source *source;
	struct progress *progress;
};

/* Show the rows and bytes so far. */
static void show_progress(const struct prover *p)
{
	uint64_t done, total;

	if (!p->progress || p->proof->rows % SHOWN_ROWS)
		return;
	source_progress(p->source, &done, &total);
	p->progress->total = total;
	p->progress->done = done;
	p->progress->events = p->proof->rows;
}

static int take_row(void *ctx, const struct event *ev, struct reject *why)
{
	struct prover *p = ctx;

	if (p->proof->rows + p->proof->rejected == p->most)
		return RC_END;
	if (row_encode(p->encoder, ev, p->records, why))
		return RC_DATA;
	show_progress(p);
	value_proof_see(p->values, ev, p->encoder);
	struct bytes key = p->records[0].key;
	if (!key.len)
		return RC_OK;
	p->proof->rows++;
	if (p->fit)
		row_fit_see(p->fit, ev);
	if (!p->keys.many && !distinct_add(&p->keys, XXH3_64bits(key.ptr, key.len)) &&
	    !p->proof->equal++)
		p->proof->line = ev->line;
	return RC_OK;
}

static int take_reject(void *ctx, const struct rejected *r, struct error *err)
{
	struct prover *p = ctx;

	(void)err;
	if (p->proof->rows + p->proof->rejected == p->most)
		return RC_END;
	if (!p->proof->rejected++)
		snprintf(p->proof->first, sizeof p->proof->first, "line %" PRIu64 ": %s%s%s: %s",
			 r->line, r->why.reason, r->why.field ? ": " : "",
			 r->why.field ? r->why.field : "", r->why.detail);
	return RC_OK;
}

int sniff_prove(struct sniff_proof *proof, const struct sniff *s, const struct job *job,
		const char *file, struct error *err)
{
	struct prover p = {.proof = proof,
			   .job = job,
			   .most = s->whole || s->full ? UINT64_MAX : s->rows};
	const struct input input = {.files = &file, .nfiles = 1};
	const struct source_options so = {.job = job, .input = &input};
	const struct source_sink sink = {.ctx = &p, .event = take_row, .reject = take_reject};
	struct source *source;
	size_t n;

	*proof = (struct sniff_proof){.rows = s->rows};
	if (strcmp(file, "-") == 0) /* nobody can read standard input twice */
		return RC_OK;
	proof->rows = 0;
	int rc = source_open(&source, &so, err);
	if (rc)
		return rc;
	const char *const *names = source_columns(source, &n);
	rc = row_plan_new(&p.plan, job, names, n, err);
	if (rc == RC_OK) {
		p.encoder = row_encoder_new(p.plan);
		p.records = mem_calloc(job->ntables + 1, sizeof *p.records);
		if (job->source == SOURCE_CSV && !job->csv.pairs)
			p.fit = row_fit_new(names, n, &job->csv);
		p.source = source;
		p.progress = s->progress;
		progress_begin(p.progress, "proving", PROGRESS_INPUT, 0);
		p.values = value_proof_new(proof, job, names, n);
		rc = source_read_through(source, &sink, err);
		value_proof_end(p.values, rc == RC_OK && p.most == UINT64_MAX);
		if (p.fit) {
			proof->odd = row_fit_judge(p.fit, &proof->odd_line);
			row_fit_free(p.fit);
		}
		row_encoder_free(p.encoder);
		row_plan_free(p.plan);
		mem_free(p.records);
	}
	distinct_release(&p.keys);
	source_close(source);
	return rc;
}
