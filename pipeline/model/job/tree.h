/*
 * tree.h - a YAML document as a tree of nodes that know their place in the file
 */
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
	/* NODE_SCALAR: the text, a NUL behind it; YAML types are not resolved */
	const char *text;
	size_t len;
	bool plain; /* written without quotes */
	bool double_quoted;
	/* NODE_SEQUENCE: items; NODE_MAPPING: keys (scalars) and their items */
	struct node **keys, **items;
	size_t count;
};

/*
 * Parse one document.  Aliases give the very node of their anchor.  Refused (RC_CONFIG, with
 * path:line:column): broken YAML, several documents, duplicate keys, keys that are not scalars,
 * tags.  *root is NULL for an empty document.  Everything lives in the arena.
 */
int tree_read(struct node **root, struct bytes text, const char *path, struct arena *a,
	      struct error *err);

/* The item of a mapping's key, NULL when it is not there (or n is no mapping). */
const struct node *node_get(const struct node *n, const char *key);

/* Nothing was written: `key:` and the end of the line. */
bool node_is_nothing(const struct node *n);

#endif
