/*
 * apply_options.h - what apply and stream are told of handing loads to HBase
 */
#ifndef SALTMILL_CMD_APPLY_OPTIONS_H
#define SALTMILL_CMD_APPLY_OPTIONS_H

#include "cmd.h"
#include "apply.h"

enum { OPT_USER = 840, OPT_UPLOAD, OPT_APPLY_WEBHDFS, OPT_CREATE, OPT_ALTER, OPT_CHECK, OPT_KEEP };

/* clang-format off */
#define APPLY_OPTIONS                                                       \
	{"user", required_argument, NULL, OPT_USER},                        \
	{"upload", required_argument, NULL, OPT_UPLOAD},                    \
	{"webhdfs", required_argument, NULL, OPT_APPLY_WEBHDFS},                  \
	{"create", no_argument, NULL, OPT_CREATE},                          \
	{"alter", no_argument, NULL, OPT_ALTER},                            \
	{"check", no_argument, NULL, OPT_CHECK},                            \
	{"keep", required_argument, NULL, OPT_KEEP}
/* clang-format on */

/* For --help. */
#define KEEP_HELP                                                                                  \
	"  --keep N|TIME           remove a load's folder when N later loads are in HBase, or it " \
	"was\n"                                                                                    \
	"                          handed over TIME ago (7d); never before that (default: keep "   \
	"all)\n"

struct apply_arguments {
	struct apply_options apply;
	struct follow_keep keep;
	const char *given; /* one of these options, as it is written; NULL: none */
};
int take_apply_option(struct apply_arguments *a, int opt, const char *arg, struct error *err);

/* Says to the user what a follower does; to is NULL, or a monitor whose line gives way. */
struct monitor;
struct follow_desk {
	const char *command;
	struct monitor *monitor;
	const struct run_options *common;
};
void follow_desk_say(void *desk, const char *sentence);
void follow_desk_applied(void *desk, const char *name, const char *dir,
			 const struct apply_result *r, const int64_t ms[FOLLOW_PHASES]);

/* `apply --state`: hand over what a state has published, once or for ever; the exit status. */
struct follow_arguments {
	const char *state_dir, *metrics;
	bool forever;
};
int run_follow(const struct apply_arguments *a, const struct follow_arguments *f);

#endif
