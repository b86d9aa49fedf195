/*
 * options.h - the one table of options (inside this room only)
 *
 * Each row of option_tables is one option: its name, its argument, its sentence, its values, how
 * its text is read, the member of struct arguments that it fills, and the commands that take it.
 * The parser, the help, the manual pages and the completions of three shells read this table.  To
 * add an option, add a row and the member that it fills.
 */
#ifndef SALTMILL_CMD_OPTIONS_H
#define SALTMILL_CMD_OPTIONS_H

#include <stddef.h>

#include "arguments.h"

/* A word that an option accepts, and the number that it stands for. */
struct option_choice {
	const char *name; /* NULL ends a list */
	unsigned value;
};

struct cli_option;
/* Read text into slot, which has the type that the reader expects.  RC_CONFIG with *err set: the
 * text is wrong. */
typedef int option_taker(const struct cli_option *o, const char *text, void *slot,
			 struct error *err);

struct cli_option {
	const char *name;     /* without dashes; NULL: the option has only a letter */
	char letter;	      /* of the short form; 0: none */
	const char *argument; /* "DIR"; NULL: a flag, or the choices; "[=FILE]" may be left out */
	const char *of;	      /* the commands that take it: "load replay"; NULL: all */
	option_taker *read;
	size_t slot;	      /* offset in struct arguments */
	const char *help;     /* a sentence; NULL, at the end of the list: only the name */
	const char *standard; /* the default, read like an argument; NULL: the slot stays 0 */
	const struct option_choice *choices;
	uint64_t least, most; /* of numbers and sizes; most 0: no bound */
	/* Names of other options.  If the command takes them, all of `with` must be given too and
	 * none of `without`. */
	const char *with, *without;
	bool anywhere; /* every command accepts it; the help of the commands in `of` lists it */
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

/* Tables that end with a row without name and letter; the list ends with NULL. */
extern const struct cli_option *const option_tables[];
extern const struct cli_option options_load[], options_regions[], options_query[], options_apply[],
	options_run[];

/*
 * The next option of a command in the order of the tables, NULL after the last; *at begins as
 * {0}.  listed: only those that its help lists.
 */
struct option_place {
	size_t table, row;
};
const struct cli_option *option_next(struct option_place *at, const struct command *c, bool listed);
/* The option as messages name it: "--output" or "-c". */
struct option_label {
	char text[40];
};
struct option_label option_name(const struct cli_option *o);
/* Append what follows the name in help: "DIR", "text|hex" or nothing. */
void option_argument(struct buf *out, const struct cli_option *o);
/* Is word one of the words of list, which blanks separate? */
bool word_in(const char *list, const char *word);

/* What an argument names, so that shells can complete it. */
enum option_kind {
	OPTION_FLAG, /* no argument */
	OPTION_OTHER,
	OPTION_CHOICES,
	OPTION_FILE,
	OPTION_FOLDER,
	OPTION_HOST,
	OPTION_TABLE /* of the job among the operands */
};
enum option_kind option_kind(const struct cli_option *o);

/* Readers, by the type of the slot: bool; const char *; struct folders, to which it is added. */
option_taker take_flag, take_text, take_list;
/* uint64_t from least to most: a whole number; a size like 64K. */
option_taker take_number, take_size;
/* unsigned or an enum, by the choices. */
option_taker take_choice;
/* struct event_limit: "100" or "0.1%". */
option_taker take_limit;

/* "--limit: found `x`, expected ..." with RC_CONFIG. */
int option_refuse(const struct cli_option *o, const char *text, struct error *err, const char *fmt,
		  ...) ERROR_FORMAT(4, 5);

#endif
