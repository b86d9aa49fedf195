/*
 * apply_options.h - from the options of apply and stream to a hand-over (inside this room only)
 */
#ifndef SALTMILL_CMD_APPLY_OPTIONS_H
#define SALTMILL_CMD_APPLY_OPTIONS_H

#include "arguments.h"

/* The options of apply.h; a must outlive them. */
struct apply_options apply_options_of(const struct arguments *a);

/* Prints what a follower does, above the line of the monitor, if there is one. */
struct monitor;
struct follow_desk {
	const char *command;
	struct monitor *monitor;
	const struct run_options *common;
};
void follow_desk_say(void *desk, const char *sentence);
void follow_desk_applied(void *desk, const char *name, const char *dir,
			 const struct apply_result *r, const int64_t ms[FOLLOW_PHASES]);

/* `apply --state`: apply the loads of a state, once or until a signal; returns the exit status. */
int run_follow(const struct arguments *a);

#endif
