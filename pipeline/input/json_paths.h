/* json_paths.h - the tree of the paths of wanted values */
#ifndef SALTMILL_SOURCE_JSON_PATHS_H
#define SALTMILL_SOURCE_JSON_PATHS_H

#include "json.h"
#include "mem.h"

#define NO_COLUMN SIZE_MAX

/* A wanted value, or a step on the path to a wanted value. */
struct json_node {
	struct bytes key; /* key of an object's member; its ptr is NULL for an item of an array */
	size_t index;
	size_t column; /* NO_COLUMN if the node is only a step of a path */
	struct json_node *child, *next;
};

struct json_paths {
	struct json_node root; /* node of the whole text */
	size_t ncolumns;
	bool explode;	       /* the members below have values */
	struct json_node item; /* node of an item of the list */
	size_t list;	       /* column with the list's text; ncolumns if no path is the list */
	struct bytes unwrap;   /* member whose value is the record; ptr is NULL without one */
	bool extended, hex_escapes;
	struct arena arena;
};

#endif
