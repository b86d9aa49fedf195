/*
 * arguments.h - the parsed command line of all commands (inside this folder only)
 *
 * The table of options (options.h) fills the members. A command reads the members of its options.
 */
#ifndef SALTMILL_CMD_ARGUMENTS_H
#define SALTMILL_CMD_ARGUMENTS_H

#include "cmd.h"
#include "pass.h"
#include "folders.h"
#include "io.h"
#include "apply.h"
#include "design.h"
#include "cmd_scan.h"
#include "source.h"
#include "storage.h"

struct cli_option;

/* The numbers of the choices of `--format` for row keys. */
enum key_form { KEY_ESCAPED, KEY_HEX };
enum splits_form { SPLITS_USUAL, SPLITS_TEXT, SPLITS_ESCAPED, SPLITS_HEX, SPLITS_JSON, SPLITS_DDL };
enum help_form { HELP_TEXT, HELP_MARKDOWN, HELP_SCHEMA, HELP_MAN, HELP_BASH, HELP_ZSH, HELP_FISH };

struct arguments {
	const struct command *command;
	char **operand;
	size_t noperands;
	const struct cli_option **given; /* the given options, in order */
	size_t ngiven;

	struct run_options run;
	struct storage_options place;
	struct login login;
	struct input
		input; /* the input; input_complete sets it from the operands, slice and feed */
	struct source_slice slice;
	struct source_feed feed;

	/* the operands: files and folders */
	const char *output, *state_dir, *plan_dir, *previous_dir, *job, *inputs_file, *totals_file,
		*manifest_file, *until;
	const char *ledger, *textfile;
	bool replace;
	const char *hfiles, *rejects_file, *save, *splits, *histogram, *alter_file, *timings, *lint,
		*salvage;
	struct folders maps, reduces, loads, samples;

	/* limits of load, plan and check */
	struct event_limit max_rejects, max_duplicates, max_filtered;
	uint64_t min_rows, max_files, max_filesize, rows, shown;
	double sample, fail_above; /* 0 if not given */
	bool tune, hotspot, full;
	struct existing_regions live;

	/* options of map and reduce */
	uint64_t number; /* position of the input in the list of inputs */
	bool pack, unordered, totals, discard_hfiles;
	uint64_t first_region, last_region;
	struct source_slice share; /* part and number of parts */
	uint64_t created_ms;

	/* options about a state */
	const char *loaded, *published, *discard;
	bool rebuild;

	/* options about a live HBase */
	const char *hbase, *user, *upload, *webhdfs, *journal, *copy_to, *metrics;
	bool create, alter, check, check_access, dry_run, restart, abandon, forever, yes;
	bool renew, cancel; /* tokens */
	const char *also, *also_upload, *also_webhdfs;
	uint64_t rate, batch;
	struct apply_window window;
	unsigned timeout_s; /* 0 if the user gave none */
	bool pace, no_replicate;
	uint64_t max_unapplied;
	struct follow_keep keep;

	/* options of design and compare */
	struct design_arguments {
		struct design_ask *asks;
		size_t nasks;
		uint64_t servers, tables;
		double rows, writes;
		unsigned grow; /* 1 means that entities become busier */
		const char *queries;
		bool update;
		const char *constants; /* file of the model's constants, or NULL */
		bool calibrate;
		const struct design_constants *measured; /* by --calibrate, or NULL */
	} design;

	/* options of agree */
	struct agree_arguments {
		const char *truth, *repair; /* a table of the job; the folder of a new load */
		bool delete_extra;
	} agree;

	/* options of convert; arguments_given decides whether they are valid */
	struct convert_arguments {
		bool what_if;
		bool keep_sequence;
		const char *family;
		enum codec codec;
		enum block_encoding encoding;
		enum bloom_type bloom;
		enum zstd_framing framing;
		uint64_t block_bytes, level;
	} convert;

	/* options of rekey */
	struct rekey_arguments {
		const char *to, *since; /* a table of the new job; an earlier snapshot */
		bool join_rows;
		bool finish, mend; /* of a live table: no program writes it; --repair */
		unsigned round_s;  /* end after a round that took at most this long */
	} rekey;

	/* options of watch, in seconds */
	struct watch_arguments {
		unsigned every_s, for_s; /* for_s 0 means until a signal */
	} watch;

	/* options about tables without region servers */
	const char *table_dir, *snapshot;
	struct hfile_extras *extras; /* keys and dictionaries of HFiles, or NULL */

	/* options about tables, keys and answers */
	const char *table, *where, *first, *last, *families, *key;
	bool drop, cells, blocks, qualifier;
	uint64_t regions, versions;
	unsigned form, format; /* enum key_form, and the number of the chosen --format */
	struct scan_arguments scan;
};

/*
 * Read the words after the command's name. Set a->command before the call. Returns RC_OK, RC_END
 * after the answer to --help or --version, or RC_CONFIG after it has printed an error. Release `a`
 * after every result.
 */
int arguments_read(struct arguments *a, int argc, char **argv);
/* Print the error in the command line, then the usage. Returns EXIT_USAGE. */
int arguments_refuse(const struct arguments *a, const char *fmt, ...) ERROR_FORMAT(2, 3);
/* Return true if the command line has the option with this name. */
bool arguments_given(const struct arguments *a, const char *name);
void arguments_release(struct arguments *a);
/* Return the place of --table-dir or --snapshot. Its `uri` is NULL if neither was given. */
struct offline_place arguments_offline(const struct arguments *a);

/* Return the operands from number `first` on, for functions that do not change them. */
static inline const char *const *arguments_files(const struct arguments *a, size_t first)
{
	return (const char *const *)a->operand + first;
}

#endif
