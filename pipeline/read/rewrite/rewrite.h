/* rewrite.h - the state of a merge (inside this folder only) */
#ifndef SALTMILL_REWRITE_H
#define SALTMILL_REWRITE_H

#include "publish.h"
#include "query.h"
#include "splits.h"

/* An HFile, which several references of the table may share. */
struct rewrite_input {
	const struct query_file *file; /* the first of its references */
	uint64_t bytes;
	uint8_t digest[16]; /* as in manifest_input */
	int64_t newest_ms;  /* end of TIMERANGE */
	int64_t earliest_put;
	uint64_t entries; /* number of cells by the trailer */
	bool tags, is_zstd;
	enum zstd_framing framing;
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

/* Read the content of all inputs, and fill their figures (inputs.c). */
int rewrite_read_inputs(struct rewrite *r, struct error *err);
/* Return the index in r->table of a family of r->families. */
size_t rewrite_schema(const struct rewrite *r, size_t family);
/* Write the files of all regions, and fill r->out->regions and r->written (merge_regions.c). */
int rewrite_regions(struct rewrite *r, struct error *err);

#endif
