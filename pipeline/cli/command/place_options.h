/* place_options.h - what commands are told of a place elsewhere: webhdfs://HOST:PORT/PATH */
#ifndef SALTMILL_CMD_PLACE_OPTIONS_H
#define SALTMILL_CMD_PLACE_OPTIONS_H

#include "cmd.h"
#include "storage.h"

enum { OPT_HDFS_USER = 830, OPT_WEBHDFS, OPT_HDFS_CA, OPT_HDFS_PATIENCE };

/* clang-format off */
#define PLACE_OPTIONS                                                       \
	{"hdfs-user", required_argument, NULL, OPT_HDFS_USER},              \
	{"webhdfs", required_argument, NULL, OPT_WEBHDFS},                  \
	{"hdfs-ca", required_argument, NULL, OPT_HDFS_CA},                  \
	{"hdfs-patience", required_argument, NULL, OPT_HDFS_PATIENCE}
/* clang-format on */

/* For --help. */
#define PLACE_HELP                                                                                 \
	"  --hdfs-user NAME        who writes in HDFS (default: $HADOOP_USER_NAME, or who runs "   \
	"this)\n"                                                                                  \
	"  --webhdfs HOST[:PORT],..  of hdfs://...: where its NameNodes answer HTTP (default: on " \
	"port 9870)\n"                                                                             \
	"  --hdfs-ca FILE          of swebhdfs://...: certificates to trust, PEM\n"                \
	"  --hdfs-patience TIME    how long servers are asked again that do not answer (default: " \
	"60)\n"

/* RC_END: the option is none of these. */
int place_option(struct storage_options *o, int opt, const char *arg, struct error *err);

#endif
