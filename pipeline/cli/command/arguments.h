/*
 * arguments.h - what a command line says, for all commands (inside this room only)
 *
 * The table of options (options.h) fills the members; a command reads those that its options fill.
 */
#ifndef SALTMILL_CMD_ARGUMENTS_H
#define SALTMILL_CMD_ARGUMENTS_H

#include "cmd.h"
#include "pass.h"
#include "folders.h"
#include "apply.h"
#include "cmd_scan.h"
#include "source.h"
#include "storage.h"

struct cli_option;

/* The numbers of --format and its like. */
enum key_form { KEY_ESCAPED, KEY_HEX };
enum splits_form { SPLITS_USUAL, SPLITS_TEXT, SPLITS_ESCAPED, SPLITS_HEX, SPLITS_JSON, SPLITS_DDL };
enum help_form { HELP_TEXT, HELP_MARKDOWN, HELP_SCHEMA, HELP_MAN, HELP_BASH, HELP_ZSH, HELP_FISH };

struct arguments {
	const struct command *command;
	char **operand;
	size_t noperands;
	const struct cli_option **given; /* the options, in their order */
	size_t ngiven;

	struct run_options run;
	struct storage_options place;
	struct input input; /* input_complete makes it of the operands and of slice and feed */
	struct source_slice slice;
	struct source_feed feed;

	/* files and folders */
	const char *output, *state_dir, *plan_dir, *previous_dir, *job, *inputs_file;
	const char *hfiles, *rejects_file, *save, *splits, *alter_file, *timings, *lint;
	struct folders maps, reduces, loads, samples;

	/* of a load, a plan or a check */
	struct event_limit max_rejects, max_duplicates, max_filtered;
	uint64_t min_rows, max_files, max_filesize, rows, shown;
	double sample;
	bool tune;
	struct existing_regions live;

	/* of map and reduce */
	uint64_t number; /* of the input */
	bool pack;
	uint64_t first_region, last_region;
	struct source_slice share; /* part, parts */
	uint64_t created_ms;

	/* of a state */
	const char *loaded, *published, *discard;
	bool rebuild;

	/* of a live HBase */
	const char *hbase, *user, *upload, *webhdfs, *journal, *metrics;
	bool create, alter, check, dry_run, restart, abandon, forever;
	uint64_t max_unapplied;
	struct follow_keep keep;

	/* of tables, keys and answers */
	const char *table, *where, *first, *last, *families;
	bool drop, cells, blocks;
	uint64_t regions, versions;
	unsigned form, format; /* enum key_form; the number of the choice of --format */
	struct scan_arguments scan;
};

/*
 * Read the words after the command's name; a->command is set.  Returns RC_OK, RC_END when --help
 * or --version was answered, or RC_CONFIG after printing what is wrong.  Release it whatever the
 * result.
 */
int arguments_read(struct arguments *a, int argc, char **argv);
/* Print what is wrong with the command line, and the usage; returns EXIT_USAGE. */
int arguments_refuse(const struct arguments *a, const char *fmt, ...) ERROR_FORMAT(2, 3);
/* Was the option of that name given? */
bool arguments_given(const struct arguments *a, const char *name);
void arguments_release(struct arguments *a);

/* The operands from the first one on, as those take them who do not change them. */
static inline const char *const *arguments_files(const struct arguments *a, size_t first)
{
	return (const char *const *)a->operand + first;
}

#endif
