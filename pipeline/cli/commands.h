/*
 * commands.h - the program's commands, behind one door
 */
#ifndef SALTMILL_COMMANDS_H
#define SALTMILL_COMMANDS_H

enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_REJECTS = 3,
	EXIT_DATA = 4,	  /* of map, reduce and unite: the same input fails the same way again */
	EXIT_SIGNAL = 128 /* and the signal's number, as shells have it */
};

/* Run the command that argv[1] names with what follows it; returns the exit status. */
int commands_run(int argc, char **argv);

#endif
