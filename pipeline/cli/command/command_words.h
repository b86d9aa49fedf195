/*
 * command_words.h - what stands below a command's options: the terms that its help uses, its exit
 * statuses, two examples (inside pipeline/cli/command only)
 */
#ifndef SALTMILL_CMD_COMMAND_WORDS_H
#define SALTMILL_CMD_COMMAND_WORDS_H

#include <stddef.h>

#define COMMAND_EXAMPLES 2
#define COMMAND_TERMS	 4

struct command_words {
	const char *name;			/* of the command */
	const char *terms[COMMAND_TERMS];	/* sentences; NULL behind the last */
	const char *statuses;			/* "0 done; 1 failed, ..." */
	const char *examples[COMMAND_EXAMPLES]; /* command lines */
};

/* NULL: the command has none. */
const struct command_words *command_words(const char *name);

#endif
