/* tree.h - a YAML document as a tree of nodes with their places in the file */
#ifndef SALTMILL_JOB_TREE_H
#define SALTMILL_JOB_TREE_H

#include "bytes.h"
#include "error.h"
#include "mem.h"
#include "table.h"

enum node_kind { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING };

struct node {
	enum node_kind kind;
	struct pos pos; /* line and column, counted from 1; the column counts characters */
	/* NODE_SCALAR: the text, ended by a NUL, without resolving YAML types */
	const char *text;
	size_t len;
	bool plain; /* written without quotes */
	bool double_quoted;
	/* NODE_SEQUENCE has items; NODE_MAPPING has keys (scalars) and their items */
	struct node **keys, **items;
	size_t count;
};

/*
 * Parse one document. An alias gives the same node as the alias's anchor. `*root` is NULL for an
 * empty document. The arena owns all nodes. Returns RC_CONFIG, with path:line:column, for broken
 * YAML, several documents, duplicate keys, keys that are not scalars, and tags.
 */
int tree_read(struct node **root, struct bytes text, const char *path, struct arena *a,
	      struct error *err);

/* Find the item of a mapping's key. Returns NULL if the key is missing or `n` is not a mapping. */
const struct node *node_get(const struct node *n, const char *key);

/* Return true if the value is missing, as in `key:` at the end of a line. */
bool node_is_nothing(const struct node *n);

#endif
