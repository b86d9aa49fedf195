/*
 * options.h - the table of options (inside this folder only)
 *
 * Each row of option_tables is one option. A row contains the name, the argument, the help and the
 * choices of the option. It also contains the function that reads the argument, the member of
 * struct arguments that the option sets, and the commands that accept the option. The parser, the
 * help, the manual pages and the completions of three shells use this table. To add an option, add
 * a row and the member that it sets.
 */
#ifndef SALTMILL_CMD_OPTIONS_H
#define SALTMILL_CMD_OPTIONS_H

#include <stddef.h>

#include "arguments.h"

/* A word that an option accepts, and its number. */
struct option_choice {
	const char *name; /* NULL ends the list */
	unsigned value;
};

struct cli_option;
/*
 * Reads `text` into `slot`, whose type the function expects. Returns RC_CONFIG with *err set if
 * `text` is invalid.
 */
typedef int option_taker(const struct cli_option *o, const char *text, void *slot,
			 struct error *err);

struct cli_option {
	const char *name;     /* name without dashes; NULL if the option has only a letter */
	char letter;	      /* letter of the short form, or 0 */
	const char *argument; /* such as "DIR" or, if optional, "[=FILE]"; NULL for a flag or a
				 choice */
	const char *of; /* commands that accept the option, such as "load replay"; NULL for all */
	option_taker *read;
	size_t slot; /* offset in struct arguments */
	const char
		*help; /* a sentence; if NULL, help lists the option last and shows only its name */
	const char *standard; /* default, in the form of an argument; if NULL, the slot stays 0 */
	const struct option_choice *choices;
	uint64_t least, most; /* bounds of numbers and sizes; no bounds if `most` is 0 */
	/*
	 * Names of other options. If the command accepts them, the user must also give every option
	 * of `with`, and must not give any option of `without`.
	 */
	const char *with, *without;
	/*
	 * Takes the word after the argument into the slot, or returns false if the word belongs to
	 * another option. NULL means that the option has one argument.
	 */
	bool (*second)(const char *word, void *slot);
	bool anywhere; /* every command accepts the option; only the commands in `of` list it */
};

#define AT(member) offsetof(struct arguments, member)
#define CHOICES(...)                                                                               \
	.choices = (const struct option_choice[])                                                  \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

/* The tables of options. A row without name and letter ends a table, and NULL ends this list. */
extern const struct cli_option *const option_tables[];
extern const struct cli_option options_load[], options_regions[], options_query[], options_design[],
	options_apply[], options_login[], options_run[];

/*
 * Return the next option of a command in the order of the tables, or NULL after the last option.
 * Initialize *at to {0} before the first call. If `listed` is true, return only the options that
 * the command's help lists.
 */
struct option_place {
	size_t table, row;
};
const struct cli_option *option_next(struct option_place *at, const struct command *c, bool listed);
/* Return the option's name as messages show it, such as "--output" or "-c". */
struct option_label {
	char text[40];
};
struct option_label option_name(const struct cli_option *o);
/*
 * Append the text that follows the option's name in help, such as "DIR" or "text|hex". Appends
 * nothing for a flag.
 */
void option_argument(struct buf *out, const struct cli_option *o);
/* Return true if `word` is one of the words of `list`. Blanks separate the words. */
bool word_in(const char *list, const char *word);

/* The kind of an argument, so that shells can complete it. */
enum option_kind {
	OPTION_FLAG, /* no argument */
	OPTION_OTHER,
	OPTION_CHOICES,
	OPTION_FILE,
	OPTION_FOLDER,
	OPTION_HOST,
	OPTION_TABLE /* a table of the job among the operands */
};
enum option_kind option_kind(const struct cli_option *o);

/*
 * Functions that read an argument into a slot. The slot of take_flag is a bool, the slot of
 * take_text a const char *. The slot of take_list is a struct folders, to which the function adds
 * one item.
 */
option_taker take_flag, take_text, take_list;
/*
 * Read a whole number (take_number) or a size like 64K (take_size) into a uint64_t, from `least` to
 * `most`.
 */
option_taker take_number, take_size;
/* Read a time like 15m into an unsigned, in seconds. The time must be at least 1 s. */
option_taker take_duration;
/* Read one of the choices into an unsigned or an enum. */
option_taker take_choice;
/* Read "10" (loads) or a time like "7d" into a struct follow_keep. */
option_taker take_keep;
/* Read "100" or "0.1%" into a struct event_limit. */
option_taker take_limit;

/* Set an error such as "--limit: found `x`, expected ..." and return RC_CONFIG. */
int option_refuse(const struct cli_option *o, const char *text, struct error *err, const char *fmt,
		  ...) ERROR_FORMAT(4, 5);

#endif
