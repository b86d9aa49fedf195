/*
 * hadoop_conf.h - the settings of Hadoop's clients, from core-site.xml and hdfs-site.xml
 *
 * The files are in $HADOOP_CONF_DIR, or else in /etc/hadoop/conf. Hadoop's XInclude is not supported.
 */
#ifndef SALTMILL_HADOOP_CONF_H
#define SALTMILL_HADOOP_CONF_H

#include <stdbool.h>

#include "bytes.h"
#include "error.h"
#include "mem.h"

struct hadoop_conf {
	struct hadoop_setting {
		const char *name, *value; /* without blanks around them */
	} * item;
	size_t count;
	struct arena arena;
};

/*
 * Read the files. A missing file has no settings. Returns RC_CONFIG if a file is not a configuration
 * of Hadoop, or cannot be read. The caller always releases the arena.
 */
int hadoop_conf_read(struct hadoop_conf *out, struct error *err);
/* Add the settings of a file's text. Returns RC_CONFIG if the text has no <configuration>. */
int hadoop_conf_add(struct hadoop_conf *c, struct bytes xml, struct error *err);
/*
 * Return the value of the last setting with this name, or NULL. ${NAME} in it is the value of another
 * setting, and ${env.NAME} that of a variable. The result may borrow from the arena.
 */
const char *hadoop_conf_get(struct hadoop_conf *c, const char *name);
/*
 * Return the addresses of the NameNodes of a name service, as HOST:PORT,... for http or https
 * (dfs.ha.namenodes.SERVICE). Returns NULL if dfs.nameservices lacks the service, or if a NameNode
 * has no address.
 */
const char *hadoop_namenodes(struct hadoop_conf *c, const char *service, bool https);
/* Return true if the NameNodes accept https only (dfs.http.policy). */
bool hadoop_https_only(struct hadoop_conf *c);

#endif
