/* hdfs.h - the simulated NameNodes (hdfs.c) and the requests to them (curl.c) */
#ifndef SALTMILL_SIM_HDFS_H
#define SALTMILL_SIM_HDFS_H

#include <curl/curl.h>

#include "bytes.h"
#include "sim.h"

enum { PIECE = 4096, BLOCK_BYTES = 1 << 20, LATE_MS = 30000, ANSWER_MS = 6, PATHS = 600 };

struct hdfs {
	struct hdfs_node *first;
	uint64_t next_id;
	int active; /* NameNode nn1 or nn2 */
};

struct handle {
	char url[2000], method[12];
	size_t (*write)(char *data, size_t size, size_t n, void *ctx);
	size_t (*read)(char *to, size_t size, size_t n, void *ctx);
	void *write_to, *read_from;
	char *why;
	bool upload, begun, ended, paused;
	uint64_t left; /* bytes until the connection breaks, if it will break */
	struct hdfs_node *node;
	long status;
	char redirect[2000];
	bool told; /* curl_multi_info_read */
	CURLMsg message;
};

struct request {
	char host[40], path[PATHS], op[40], to[PATHS];
	unsigned mode;
	bool page, data, overwrite;
};

struct request hdfs_parse(const char *url);
/* Write an exception. Returns the status. */
long hdfs_refuse(struct buf *b, long status, const char *name, const char *text);
/* Carry out a request. Returns the status. */
long hdfs_serve(struct buf *b, const struct request *r, const char *url);
bool hdfs_has_parent(const char *path);

#endif
