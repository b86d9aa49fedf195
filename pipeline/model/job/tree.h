/* tree.h - a YAML document as a tree of nodes that know their place in the file */
#ifndef SALTMILL_JOB_TREE_H
#define SALTMILL_JOB_TREE_H

#include "bytes.h"
#include "error.h"
#include "mem.h"
#include "table.h"

enum node_kind { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING };

struct node {
	enum node_kind kind;
	struct pos pos; /* 1-based; the column counts characters */
	/* NODE_SCALAR: the text, ended by a NUL; YAML types are not resolved */
	const char *text;
	size_t len;
	bool plain; /* written without quotes */
	bool double_quoted;
	/* NODE_SEQUENCE: items; NODE_MAPPING: keys (scalars) and their items */
	struct node **keys, **items;
	size_t count;
};

/*
 * Parse one document. An alias gives the same node as its anchor. *root is NULL for an empty
 * document. The arena owns all nodes. RC_CONFIG (with path:line:column): broken YAML, several
 * documents, duplicate keys, keys that are not scalars, tags.
 */
int tree_read(struct node **root, struct bytes text, const char *path, struct arena *a,
	      struct error *err);

/* Find the item of a mapping's key. Returns NULL if the key is missing or n is not a mapping. */
const struct node *node_get(const struct node *n, const char *key);

/* Is the value missing: `key:` and the end of the line? */
bool node_is_nothing(const struct node *n);

#endif
