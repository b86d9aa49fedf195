/* json_paths.h - paths as a tree of the values to find */
#ifndef SALTMILL_SOURCE_JSON_PATHS_H
#define SALTMILL_SOURCE_JSON_PATHS_H

#include "json.h"
#include "mem.h"

#define NO_COLUMN SIZE_MAX

/* A wanted value, or a step on the way to one. */
struct json_node {
	struct bytes key; /* of an object's member; ptr NULL: an item of an array */
	size_t index;
	size_t column; /* NO_COLUMN: only a step of a path */
	struct json_node *child, *next;
};

struct json_paths {
	struct json_node root; /* the single value of the text */
	size_t ncolumns;
	struct arena arena;
};

#endif
