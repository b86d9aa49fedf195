/*
 * apply_options.h - turns the options of apply and stream into those of apply.h (inside this folder
 * only)
 */
#ifndef SALTMILL_CMD_APPLY_OPTIONS_H
#define SALTMILL_CMD_APPLY_OPTIONS_H

#include "arguments.h"

/* Return the options of apply.h. They borrow strings from `a`, which must outlive them. */
struct apply_options apply_options_of(const struct arguments *a);

/* Print an event of a follower, above the progress line if there is one. */
struct monitor;
struct follow_desk {
	const char *command;
	struct monitor *monitor;
	const struct run_options *common;
};
void follow_desk_say(void *desk, const char *sentence);
void follow_desk_applied(void *desk, const char *name, const char *dir,
			 const struct apply_result *r, const int64_t ms[FOLLOW_PHASES]);

/* Run `apply --state`, once or until a signal arrives. Returns the exit status. */
int run_follow(const struct arguments *a);

#endif
