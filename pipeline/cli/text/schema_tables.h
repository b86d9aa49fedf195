/* schema_tables.h - the keys of what is written as JSON, with their words; see schemas.h */
#ifndef SALTMILL_SHOW_SCHEMA_TABLES_H
#define SALTMILL_SHOW_SCHEMA_TABLES_H

#include <stddef.h>

/*
 * type: text, count (0 and up), integer, real, flag, any; key (a row key or other bytes in HBase's
 * \xHH form), digest (XXH3-128 in 32 digits), time (milliseconds since 1970); object, objects (a
 * list of them), texts, keys; selves (a list of what the whole is); map (an object whose keys are
 * names of the data).  A '?' in front: it may be missing.  "|null" behind: it may be null.
 */
struct schema_key {
	const char *path; /* "tables[].regions[].start"; of what is a list itself "[].rule" */
	const char *type;
	const char *words;
};

struct form_schema {
	const char *name;
	const char *title; /* what has this form */
	const struct schema_key *keys;
	size_t n;
};

#define SCHEMA(name, title, keys)                                                                  \
	{                                                                                          \
		name, title, keys, sizeof keys / sizeof *(keys)                                    \
	}

/* Settings that `level: auto` found, of a manifest and of a plan. */
#define TUNED_KEYS(at)                                                                             \
	{at "[].family", "text", "the column family"},                                             \
		{at "[].aim", "text", "what was looked for: speed, balance or size"},              \
		{at "[].level", "count", "of zstd"},                                               \
		{at "[].hash_log", "count", "of zstd; 0: that of the level"},                      \
		{at "[].min_match", "?count", "shortest ready-made sequence; missing: none"},      \
		{at "[].plain_bytes", "count", "of the sample"},                                   \
	{                                                                                          \
		at "[].stored_bytes", "count", "what these settings made of it"                    \
	}

/* Each list ends with a NULL name. */
extern const struct form_schema schemas_of_loads[], schemas_of_plans[], schemas_of_topics[],
	schemas_of_files[], schemas_of_answers[];

#endif
