/* rewrite.h - the state of a merge (inside this folder only) */
#ifndef SALTMILL_REWRITE_H
#define SALTMILL_REWRITE_H

#include "publish.h"
#include "query.h"
#include "splits.h"

/* An HFile, which several references of the table may share. */
struct rewrite_input {
	const struct query_file *file; /* the first of its references */
	uint64_t mentions;	       /* number of its references */
	bool halves;		       /* a reference selects a part of it */
	uint64_t bytes;
	uint8_t digest[16]; /* as in manifest_input */
	int64_t newest_ms;  /* end of TIMERANGE */
	int64_t earliest_put;
	uint64_t entries; /* number of cells by the trailer */
	bool tags;
	enum codec codec;
	enum zstd_framing framing;
	enum block_encoding encoding;
	enum bloom_type bloom;
	bool known; /* rekey writes none of its cells, because an earlier load has them */
	_Atomic uint64_t cells; /* read cells */
};

struct rewrite {
	const struct rewrite_options *opt;
	struct arena *a;
	struct query_family *families; /* of the newest table, in the order of their names */
	size_t nfamilies;
	struct query_file *files;	 /* of all tables, with ages and families of the merge */
	struct rewrite_input **input_of; /* of each file */
	size_t nfiles;
	struct rewrite_input *inputs; /* in the order of the tables */
	size_t ninputs;
	struct table table;
	struct splits splits;
	int64_t created_ms;
	struct staging *staging;
	char *dir, *hfiles; /* folders of the table and of its HFiles */
	struct manifest_table *out;
	struct rekey *rekey; /* NULL for other rewrites */
	/* rows that rekey has read, and equal cells that it wrote only once */
	_Atomic uint64_t old_rows, dropped;
	/* files of each region, of each family of `families`; without cells there is no file */
	struct hfile_summary *written;
};

/* --- the stored cells of a range of rows, all families in step (source_rows.c) --- */

/* The files of a family that may have rows of a range. */
struct rewrite_stores {
	struct query_file *files;
	struct rewrite_input **inputs; /* of each file */
	size_t n;
};
/* Select files, without known files unless `all`. Release them with rewrite_stores_release. */
void rewrite_select(struct rewrite_stores *out, const struct rewrite *r, size_t family,
		    const struct query_range *rows, bool all);
void rewrite_stores_release(struct rewrite_stores *s);

/* The cells of a family in a range. */
struct source_stream {
	size_t family; /* number in r->families */
	struct rewrite_stores stores;
	struct compaction *in; /* NULL means that the caller does not want the family */
	struct cell cell;      /* the next cell, if `has` */
	bool has;
};
struct source_rows {
	struct rewrite *r;
	struct source_stream *streams; /* of each family */
	bool counts;		       /* add the cells to the figures of the inputs */
};
/*
 * Start to read the rows. `families` selects families, and NULL means all. With `counts`, leave out
 * known files. Call source_rows_close in
 * any case.
 */
int source_rows_open(struct source_rows *s, struct rewrite *r, const struct query_range *rows,
		     const bool *families, bool counts, struct error *err);
/* Return the first row of all families, or NULL after the last row. It is valid until the next read. */
const struct bytes *source_rows_first(const struct source_rows *s);
/* Read the next cell of a family. */
int source_next(struct source_stream *s, struct error *err);
void source_rows_close(struct source_rows *s);

/* --- the files of a region of the new load (region_writer.c) --- */

struct region_writer {
	struct rewrite *r;
	size_t region;
	struct hfile_scratch *scratch;
	struct new_file {
		struct hfile_writer *out; /* NULL before the first cell */
		char *path;
	} * files; /* of each family of r->families */
	uint64_t cells;
};
/* Start region number `region`, which has the bounds of r->splits. */
void region_writer_open(struct region_writer *w, struct rewrite *r, size_t region,
			struct hfile_scratch *scratch);
/* Append a cell of family number `family`. */
int region_writer_add(struct region_writer *w, size_t family, const struct cell *c,
		      struct error *err);
/* With keep_sequence, set the sequence id of the family's file, if there is one. */
void region_writer_sequence(struct region_writer *w, size_t family, int64_t id);
/* Finish the files, name them by the digests of their bytes, and fill the figures of the region. */
int region_writer_finish(struct region_writer *w, struct error *err);
void region_writer_release(struct region_writer *w);
/* Call `write` for each region, on all threads, and finish its files. */
int rewrite_run_regions(struct rewrite *r, const char *phase,
			int (*write)(struct rewrite *r, struct region_writer *w, struct error *err),
			struct error *err);

/* Read the content of all inputs, and fill their figures (inputs.c). */
int rewrite_read_inputs(struct rewrite *r, struct error *err);
/* Return the index in r->table of a family of r->families. */
size_t rewrite_schema(const struct rewrite *r, size_t family);
/* Write the files of all regions, and fill r->out->regions and r->written (merge_regions.c). */
int rewrite_regions(struct rewrite *r, struct error *err);
/*
 * Mark the inputs that rekey_options.before has, by their names (rekey_known.c). HBase gives each file a
 * name of its own, and never changes a file.
 */
void rekey_mark_known(struct rewrite *r);
/*
 * Take the table of the new job, sort all cells by their new row keys, and choose r->splits (rekey.c).
 * Call rekey_release in any case.
 */
int rekey_sort(struct rewrite *r, struct error *err);
/* Write the sorted cells, as rewrite_regions does (rekey_regions.c). */
int rekey_regions(struct rewrite *r, struct error *err);
void rekey_release(struct rewrite *r);
/* Measure settings for the families, and fill out->estimates (what_if.c). */
int rewrite_estimate_families(struct rewrite *r, struct rewrite_result *out, struct error *err);

#endif
