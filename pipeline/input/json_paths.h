/*
 * json_paths.h - paths as a tree: what to look for inside of which value
 */
#ifndef SALTMILL_SOURCE_JSON_PATHS_H
#define SALTMILL_SOURCE_JSON_PATHS_H

#include "json.h"
#include "mem.h"

#define NO_COLUMN SIZE_MAX

/* A value that is looked for, or is on the way to one. */
struct json_node {
	struct bytes key; /* of an object's member; ptr NULL: of an array's item */
	size_t index;
	size_t column; /* NO_COLUMN: only on the way */
	struct json_node *child, *next;
};

struct json_paths {
	struct json_node root; /* the text's one value */
	size_t ncolumns;
	struct arena arena;
};

#endif
