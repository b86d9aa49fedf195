/*
 * tuning.c - a small sample of a table, written once without compression, then tried (hfile_tune)
 *
 * The sample is the first SAMPLE_BYTES behind SAMPLES quantiles of all keys.  It depends on the
 * rows alone, not on threads, runs or time.
 */
#include "tuning.h"

#include "io.h"
#include "mem.h"

#define SAMPLES	     16
#define SAMPLE_BYTES (128u << 10) /* two blocks */
/*
 * A row that fills several blocks by itself is left out: settings are about rows beside each other,
 * and the samples stay small whatever the rows are.
 */
#define ROW_BYTES_MOST (256u << 10)

/* The records of all samples, one stream in key order. */
struct samples {
	struct sorter *sorter;
	struct split_point points[SAMPLES];
	size_t next;            /* the sample to open */
	struct record_iter in;  /* in.next NULL: none is open */
	struct row_weigher weigher;
	uint64_t left;          /* bytes of the open one */
};

static void samples_close(void *self)
{
	struct samples *s = self;
	if (s->in.next)
		s->in.close(s->in.self);
	s->in.next = NULL;
}

/* Up to the next sample's first key, so that they cannot overlap. */
static int samples_open(struct samples *s, struct error *err)
{
	struct bytes lo = buf_bytes(&s->points[s->next].key), hi = {0};
	if (++s->next < SAMPLES)
		hi = buf_bytes(&s->points[s->next].key);
	s->left = SAMPLE_BYTES;
	if (bytes_eq(lo, hi)) /* a row heavier than the distance of samples */
		return RC_OK;
	return sorter_range(s->sorter, lo, hi, &s->in, err);
}

static int samples_next(void *self, struct record *out, struct error *err)
{
	struct samples *s = self;
	for (;;) {
		int rc = RC_END;
		if (s->in.next && s->left)
			rc = s->in.next(s->in.self, out, err);
		if (rc == RC_OK) {
			uint64_t w = row_weigh(&s->weigher, out);
			s->left -= w < s->left ? w : s->left;
			if (w <= ROW_BYTES_MOST)
				return RC_OK;
			continue;
		}
		samples_close(s);
		if (rc != RC_END || s->next == SAMPLES)
			return rc;
		rc = samples_open(s, err);
		if (rc)
			return rc;
	}
}

static int make_folders(const struct cut_table *t, struct error *err)
{
	int rc = io_make_dir(t->hfiles_dir, err);
	for (size_t i = 0; rc == RC_OK && i < t->table->schema.nfamilies; i++) {
		char *dir = mem_format("%s/%s", t->hfiles_dir, t->table->schema.families[i].name);
		rc = io_make_dir(dir, err);
		mem_free(dir);
	}
	return rc;
}

/* One uncompressed file a family. */
static int write_samples(const struct cut_table *t, struct sorter *sorter, unsigned threads,
			 struct cut_result *files, struct error *err)
{
	struct samples s = {.sorter = sorter, .weigher = {t->plan, t->index}};
	uint64_t targets[SAMPLES], weight = sorter_totals(sorter).weight;
	for (size_t i = 0; i < SAMPLES; i++)
		targets[i] = weight / SAMPLES * i;
	int rc = make_folders(t, err);
	if (rc == RC_OK)
		rc = sorter_select(sorter, threads, targets, SAMPLES, s.points, err);
	if (rc == RC_OK) {
		struct cutter *c = cutter_new();
		struct record_iter it = {samples_next, samples_close, &s};
		rc = cut_region(c, t, 0, &it, files, err);
		cutter_free(c);
	}
	for (size_t i = 0; i < SAMPLES; i++)
		split_point_release(&s.points[i]);
	return rc;
}

static int try_files(const struct cut_table *t, const struct cut_result *files, unsigned threads,
		     struct hfile_tuning *tuned, struct error *err)
{
	int rc = RC_OK;
	for (size_t i = 0; rc == RC_OK && i < files->nfiles; i++) {
		const struct family *f = &t->table->schema.families[files->files[i].family];
		if (f->aim == AIM_NONE)
			continue;
		char *path = mem_format("%s/%s/%s", t->hfiles_dir, f->name, files->files[i].name);
		rc = hfile_tune(path, f->aim, threads, &tuned[files->files[i].family], err);
		mem_free(path);
	}
	return rc;
}

/* A copy of the table whose families may be changed. */
static struct job_table *copy_table(const struct job_table *from, struct arena *a)
{
	struct job_table *to = arena_alloc(a, sizeof *to);
	size_t bytes = from->schema.nfamilies * sizeof *from->schema.families;
	*to = *from;
	to->schema.families = arena_alloc(a, bytes);
	memcpy(to->schema.families, from->schema.families, bytes);
	return to;
}

static bool asked(const struct table *t)
{
	for (size_t i = 0; i < t->nfamilies; i++)
		if (t->families[i].aim != AIM_NONE)
			return true;
	return false;
}

int tuning_decide(struct cut_table *t, struct sorter *sorter, unsigned threads,
		  const char *work_dir, struct arena *a, struct hfile_tuning **tuned,
		  struct error *err)
{
	size_t n = t->table->schema.nfamilies;
	*tuned = NULL;
	if (!asked(&t->table->schema) || sorter_totals(sorter).records == 0)
		return RC_OK;
	*tuned = arena_alloc(a, n * sizeof **tuned);
	struct job_table *plain = copy_table(t->table, a), *best = copy_table(t->table, a);
	struct cut_table sample = *t;
	struct cut_result files = {0};
	struct error ignored;
	sample.table = plain;
	sample.hfiles_dir = work_dir;
	plain->max_hfile_bytes = 0;
	for (size_t i = 0; i < n; i++)
		plain->schema.families[i].codec = CODEC_NONE;
	int rc = write_samples(&sample, sorter, threads, &files, err);
	if (rc == RC_OK)
		rc = try_files(&sample, &files, threads, *tuned, err);
	cut_result_release(&files);
	int rm = io_remove_tree(work_dir, rc ? &ignored : err);
	for (size_t i = 0; i < n; i++)
		if ((*tuned)[i].level) {
			best->schema.families[i].level = (*tuned)[i].level;
			best->schema.families[i].hash_log = (*tuned)[i].hash_log;
			best->schema.families[i].min_match = (*tuned)[i].min_match;
		}
	t->table = best;
	return rc ? rc : rm;
}
