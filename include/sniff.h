/*
 * sniff.h - inspect a file and write a commented job for it
 *
 *   sniff_file, sniff_prove
 *
 * Implemented in pipeline/advise/init. Only the file's bytes decide, so the same file gives the
 * same job. If the bytes do not suffice, the job has a comment instead of a guess.
 */
#ifndef SALTMILL_SNIFF_H
#define SALTMILL_SNIFF_H

#include "bytes.h"
#include "error.h"
#include "job.h"

/* The request for a job, and the job. {0} before the first call. */
struct sniff {
	bool whole_key; /* the row key contains a hash of all columns, also of those with nulls */
	struct buf yaml;
	/* what init cannot decide for certain, one sentence per line; empty if all is certain */
	struct buf doubts;
	uint64_t rows; /* rows that the job must load from the sample */
	bool whole;    /* the sample is the whole file */
};
void sniff_release(struct sniff *s);

/*
 * Append a job for a file, as YAML with comments. `name` is the file's name in the job. The file
 * has delimited text, plain lines or a JSON object in each line, and may be compressed. Files in
 * Avro or Arrow format have a schema that gives the types. The function reads at most 64 MiB
 * (decoded). If the file is longer, a comment in the job reports this limit. Returns RC_DATA if the
 * file is empty or has another format.
 */
int sniff_file(const char *file, const char *name, struct sniff *out, struct error *err);

/*
 * Run the job over the sample without writing a table. Returns RC_DATA if the job cannot read the
 * sample's header. Otherwise sets the members of the proof.
 */
struct sniff_proof {
	uint64_t rows, rejected;
	uint64_t equal;	 /* rows whose row key another row already has */
	uint64_t line;	 /* line of the first equal key; 0 if there is none */
	char first[360]; /* place and reason of the first reject */
};
int sniff_prove(struct sniff_proof *p, const struct sniff *s, const struct job *job,
		const char *file, struct error *err);

#endif
