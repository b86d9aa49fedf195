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
	/* files of each region, of each family of `families`; without cells there is no file */
	struct hfile_summary *written;
};

/* The files of a family that may have rows of a range. */
struct rewrite_stores {
	struct query_file *files;
	struct rewrite_input **inputs; /* of each file */
	size_t n;
};
/* Select files. Release them with rewrite_stores_release (merge_regions.c). */
void rewrite_select(struct rewrite_stores *out, const struct rewrite *r, size_t family,
		    const struct query_range *rows);
void rewrite_stores_release(struct rewrite_stores *s);

/* Read the content of all inputs, and fill their figures (inputs.c). */
int rewrite_read_inputs(struct rewrite *r, struct error *err);
/* Return the index in r->table of a family of r->families. */
size_t rewrite_schema(const struct rewrite *r, size_t family);
/* Write the files of all regions, and fill r->out->regions and r->written (merge_regions.c). */
int rewrite_regions(struct rewrite *r, struct error *err);
/* Measure settings for the families, and fill out->estimates (what_if.c). */
int rewrite_estimate_families(struct rewrite *r, struct rewrite_result *out, struct error *err);

#endif
