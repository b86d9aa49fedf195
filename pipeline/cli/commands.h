/*
 * commands.h - runs the program's commands
 */
#ifndef SALTMILL_COMMANDS_H
#define SALTMILL_COMMANDS_H

enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_REJECTS = 3,
	EXIT_DATA = 4,	  /* only from map, reduce and unite, if a retry would also fail */
	EXIT_SIGNAL = 128 /* plus the number of the signal, as shells do */
};

/* Run the command that argv[1] names. Returns the exit status. */
int commands_run(int argc, char **argv);

#endif
