/*
 * job.h - the job file, parsed and checked
 *
 *   job_load, job_release
 *
 * Implemented in pipeline/model/job. Every room reads the user's settings from here. After job_load
 * nothing changes. Everything lives in the job's arena.
 */
#ifndef SALTMILL_JOB_H
#define SALTMILL_JOB_H

#include <stdbool.h>

#include "bytes.h"
#include "encoding.h"
#include "splits.h"
#include "error.h"
#include "mem.h"
#include "table.h"

/* TIME_OF_SOURCE: the source's schema decides; ms since 1970 in digits, or ISO 8601. */
enum time_unit { TIME_FORMAT, TIME_S, TIME_MS, TIME_US, TIME_NS, TIME_OF_SOURCE };

/* The letters allowed after % in a time format, as in C's strptime; %f: a fraction of a second. */
#define TIME_LETTERS "YmdHMSfzZbBhyjeaAkpIlsFTRDr%"
#define TIME_ISO8601 "iso8601" /* a separate format: any usual ISO form */

/*
 * The year of a time whose format has none: a fixed year, or the year that brings the date nearest
 * to a day. That day is given, or it is the last date in the path of the event's file.
 */
enum year_rule { YEAR_WRITTEN, YEAR_GIVEN, YEAR_NEAR, YEAR_OF_FILE };

/*
 * The steps that change a field's text before it is parsed as its type. The given steps run in the
 * order of the members, whatever their order in the job file.
 */
enum letters { LETTERS_AS_THEY_ARE, LETTERS_LOWER, LETTERS_UPPER };
enum otherwise { OTHERWISE_REJECT, OTHERWISE_KEEP, OTHERWISE_TEXT };
struct transform {
	const char *match_text; /* NULL: none */
	/* pattern.h: keep its group, or all that it matches; at most one group */
	const struct pattern *match;
	/* characters, from 1, or from -1 at the end; 0: the whole text */
	int32_t from;
	uint32_t length; /* UINT32_MAX: to the end */
	enum letters letters;
	struct text_pair {
		const char *from, *to;
	} * map;
	size_t nmap; /* map NULL: none */
	enum otherwise otherwise;
	const char *other; /* OTHERWISE_TEXT */
};

/*
 * One named field of an event. Its text is one source column, or several (date and time) with texts
 * around and between them.
 */
struct field {
	const char *name;
	struct pos pos;
	enum field_type type;
	enum time_unit unit; /* for FIELD_TIME */
	/* FIELD_TIME with TIME_FORMAT: % with one of TIME_LETTERS, or TIME_ISO8601 */
	const char *format;
	enum year_rule year_rule;
	uint32_t year;		 /* YEAR_GIVEN */
	const char *year_near;	 /* YEAR_NEAR: a date */
	const struct zone *zone; /* TIME_FORMAT without %z; NULL: UTC */
	const char **columns;	 /* source column names; default: the field's own name */
	size_t ncolumns;
	const char **glue;    /* ncolumns + 1 texts, around and between them */
	const char **implied; /* of those texts, the ones that may have been meant as columns */
	size_t nimplied;
	const struct transform *transform; /* NULL: none */
	const char **nulls;		   /* null spellings of this field; NULL: the source's */
	size_t nnulls;
	const char *fallback;	   /* text that replaces a null; NULL: a null stays null */
	uint32_t scale;		   /* FIELD_DECIMAL: 0..18 */
	const struct codes *codes; /* FIELD_CODE */
	/* unknown names have the code `unknown`; false: they are rejected */
	bool has_unknown;
	uint32_t unknown;
};

struct question; /* question.h */

/* A condition on the fields of an event; it selects events. */
struct job_condition {
	const struct question *question;
	const size_t *fields; /* index in job.fields, for each of its conditions */
};

/* PART_KEY: the event's row key in another table; only the last part of a qualifier. */
enum part_kind { PART_SALT, PART_FIELD, PART_CONST, PART_HASH, PART_KEY };
enum hash_kind { HASH_MURMUR3, HASH_MD5, HASH_PHOENIX, HASH_OPENTSDB, HASH_HBASEWD };

/*
 * A salt without fields, so a row's bucket cannot be computed from its fields. DRAW_RANDOM:
 * murmur3_32 of the event's own bytes with the seed, modulo the buckets. DRAW_ROUND_ROBIN: its line
 * number in the file, or its offset in the partition, plus the seed.
 */
enum salt_draw { DRAW_NOTHING, DRAW_RANDOM, DRAW_ROUND_ROBIN };

/* One part of a row key or of a computed qualifier. */
struct key_part {
	enum part_kind kind;
	struct pos pos;
	/*
	 * PART_SALT, PART_HASH: hashed are the key encodings of these fields, in order; none
	 * (phoenix, hbasewd): the whole key after this part
	 */
	size_t *of;
	size_t nof;
	enum hash_kind hash;
	uint32_t buckets;    /* PART_SALT: 1..; value 0..buckets-1 */
	enum salt_draw draw; /* PART_SALT without `of` */
	uint32_t seed;
	/*
	 * PART_SALT, murmur3: the hash of `of` gives the first of this many buckets (modulo all
	 * buckets). murmur3_32 with seed 1 of the rest of the key chooses one of them. 0: no
	 * fan-out
	 */
	uint32_t fanout;
	uint32_t
		/* bytes: of a salt (1, big-endian), a hash prefix or a padded text; 0: not fixed */
		width;
	struct bytes constant; /* PART_CONST */
	size_t field;	       /* PART_FIELD: index in job.fields */
	size_t table;	       /* PART_KEY: index in job.tables */
	enum encode_as as;
	const struct zone *zone; /* for a date's part; NULL: UTC */
	/* with width: the pad byte, '0' on the left for numbers, ' ' on the right for text */
	uint8_t pad;
	bool pad_left;
	int terminator; /* byte after a variable-length part, or NO_TERMINATOR */
};
/* Return the bytes of a part without its terminator; 0: they vary. */
uint32_t key_part_bytes(const struct key_part *p);

/* The items of a list or mapping of the job file, each as one line of YAML. */
struct written {
	struct written_item {
		struct pos pos;	  /* position of the item, or of its key */
		const char *name; /* the key; NULL in a list */
		const char *text; /* "{field: id, as: u32}"; "" if nothing is written */
	} * item;
	size_t n;
};

/* VALUE_KEY: the event's row key in the table that job_table.index_of names. */
enum value_kind { VALUE_FIELD, VALUE_CONST, VALUE_KEY };

struct cell_spec {
	struct pos pos;
	size_t family;		    /* index in table.families */
	struct key_part *qualifier; /* parts; all PART_CONST if the qualifier is constant */
	size_t nqualifier;	    /* 0: the empty qualifier */
	bool qualifier_constant;
	enum value_kind kind;
	struct bytes constant;
	size_t field;
	size_t table; /* VALUE_KEY: index in job.tables */
	enum encode_as as;
	bool optional; /* a null value or qualifier field means no cell; otherwise a reject */
	const struct job_condition *when; /* events that have the cell; NULL: all */
	uint8_t marker; /* for `deletes`: its enum cell_type, without a value; 0: a Put */
};

enum split_kind { SPLIT_SAMPLED, SPLIT_UNIFORM, SPLIT_HEX, SPLIT_DECIMAL, SPLIT_FILE, SPLIT_NONE };
enum duplicates { DUPLICATES_LAST, DUPLICATES_FIRST, DUPLICATES_ERROR };

struct regions {
	struct pos pos;
	enum split_kind split;
	struct region_rule rule;
	const char *file;	  /* SPLIT_FILE, absolute or relative to the working directory */
	const char *first, *last; /* SPLIT_UNIFORM/HEX/DECIMAL; NULL: HBase's defaults */
};

struct job_table {
	struct table schema;
	struct key_part *rowkey;
	size_t nrowkey;
	bool timestamp_constant;
	int64_t timestamp_ms; /* when constant */
	size_t timestamp_field;
	const struct job_condition *when; /* events that the table takes; NULL: all */
	/*
	 * For an index table: the table whose row keys its cells contain. That table is earlier in
	 * the job, is published first, and decides.
	 */
	bool is_index;
	size_t index_of;
	struct cell_spec *cells; /* Puts, then the delete markers of `deletes` */
	size_t ncells;
	enum duplicates duplicates;
	struct regions regions;
	uint64_t max_hfile_bytes; /* begin a family's next file at the next row; 0: never */
	struct {
		struct written rowkey, families, cells;
	} written;
};

enum source_kind { SOURCE_CSV, SOURCE_JSON, SOURCE_AVRO, SOURCE_ARROW, SOURCE_KAFKA };

enum trim {
	TRIM_NOTHING,
	TRIM_BLANKS, /* spaces and tabs around a value, and around its quotes */
	TRIM_ALL     /* also spaces and tabs inside the quotes */
};
/* For a row with fewer values than columns, and for one with more. */
enum missing { MISSING_REJECT, MISSING_NULL };
enum extra { EXTRA_REJECT, EXTRA_EMPTY, EXTRA_IGNORE };

struct csv_source {
	/*
	 * Paths, resolved against the job file's folder; "-" is standard input. A folder or a
	 * glob(7) pattern means the files that exist when the source is opened.
	 */
	const char **files;
	size_t nfiles;
	uint32_t skip, skip_footer; /* lines to skip at the start and end of each file */
	bool header;
	bool replace; /* `columns` names the columns; the header is skipped */
	const char *
		*find; /* the header is the first line with these names; nfind 0: the first line */
	size_t nfind;
	const char **columns; /* without a header, or to replace it; otherwise NULL */
	size_t ncolumns;
	uint8_t delimiter;
	uint8_t quote; /* '"' */
	bool has_comment;
	uint8_t comment;	       /* lines that begin with it are skipped */
	struct pattern *skip_matching; /* pattern.h: rows that match are filtered; NULL: none */
	enum trim trim;
	enum missing missing;
	enum extra extra;
	const char *thousands; /* one character, UTF-8; NULL: none */
	const char *decimal;   /* one character; NULL: a point */
	const char *encoding;  /* iconv name; NULL: UTF-8 */
	bool empty_is_value;   /* "" is not null unless it is listed */
	const char **nulls;    /* unquoted spellings of "no value" */
	size_t nnulls;
	bool quoted_nulls;	/* a quoted spelling is null too; default false */
	uint64_t max_row_bytes; /* a longer row stops the run; default 16 MiB */
};

/*
 * Messages of one or more topics. The columns of an event depend on the format. json: the paths
 * that the fields name (user.id, items[0].sku, ["odd.name"]). csv: struct job.csv's columns. All
 * formats also have $key $topic $partition $offset $timestamp $value $header.NAME.
 */
/*
 * Why there is no format protobuf: protobuf-c and nanopb decode only compiled-in schemas,
 * libprotobuf's DynamicMessage is C++, and libgrpc-dev has libupb without its headers.
 */
#define NO_PROTOBUF                                                                                \
	"no C library decodes Protobuf by a schema fetched at run time: convert it to Avro or "    \
	"JSON, as ksqlDB does: CREATE STREAM a WITH (VALUE_FORMAT='AVRO') AS SELECT * FROM b"
enum kafka_format { KAFKA_JSON, KAFKA_AVRO, KAFKA_CSV, KAFKA_RAW };
enum tombstones { TOMBSTONES_FILTER, TOMBSTONES_REJECT, TOMBSTONES_DELETE };
enum kafka_start { KAFKA_EARLIEST, KAFKA_LATEST, KAFKA_TIME };

/*
 * A librdkafka property: exactly one of value, file and env. file and env are read when the client
 * is created, and their content is never shown.
 */
struct kafka_property {
	const char *name;
	struct pos pos;
	const char *value;
	const char *file; /* its content, without the last line end */
	const char *env;
};

struct kafka_source {
	struct pos pos;
	const char *brokers;
	/*
	 * One topic; or several, in this order; or all topics whose whole name matches a pattern,
	 * by name.
	 */
	const char *topic;
	const char **topics;
	size_t ntopics;
	const char *pattern;
	struct pattern *like; /* compiled pattern */
	const char *several;  /* the topics or the pattern, for messages */
	const char *group;    /* offsets are committed to it; NULL: to none */
	bool share;	      /* its members share the topic, by partition */
	enum kafka_format format;
	/* values in Confluent's wire format: always for KAFKA_AVRO; url NULL: not used */
	struct kafka_registry {
		const char *url; /* without a final / */
		struct kafka_property *properties;
		size_t nproperties;
	} registry;
	int32_t *partitions;	    /* rising */
	size_t npartitions;	    /* 0: all partitions of the topic */
	enum kafka_start start;	    /* used for a partition without a position */
	int64_t start_ms;	    /* KAFKA_TIME */
	enum tombstones tombstones; /* messages without a value */
	struct kafka_property *properties;
	size_t nproperties;
	/* how long brokers may be silent; DURATION_FOREVER; 0: not given */
	uint64_t patience_s;
	const char *dead_letters; /* topic for rejected messages; NULL: none */
	/* stream: a load is cut when one of these is reached; 0: no limit */
	uint64_t roll_bytes, roll_rows, roll_s;
};

/* Return the topics as messages name them: "orders", "orders, returns", "^orders-.*". */
static inline const char *kafka_name(const struct kafka_source *k)
{
	return k->topic ? k->topic : k->several;
}
/* Return a place's topic; topic NULL means the job's only one. */
static inline const char *kafka_topic_of(const struct kafka_source *k, const char *topic)
{
	return topic ? topic : k->topic;
}
/* True if the source has this topic. */
bool kafka_has_topic(const struct kafka_source *k, const char *name);

struct job {
	const char *path;   /* as given */
	const char *dir;    /* folder of the job file */
	uint8_t digest[16]; /* XXH3-128 of the job file's bytes and of its files of codes */
	enum source_kind source;
	/*
	 * SOURCE_KAFKA: the dialect of its messages, no files; SOURCE_JSON: files, encoding,
	 * max_row_bytes; SOURCE_AVRO, SOURCE_ARROW: files, max_row_bytes (the limit of a block)
	 */
	struct csv_source csv;
	struct kafka_source kafka;
	bool allow_code; /* properties may name code to run; the trusted caller sets it (run.h) */
	struct field *fields; /* the listed fields, then columns used without being listed (text) */
	size_t nfields;
	struct written written_fields;	   /* the listed fields */
	const struct job_condition *where; /* events that are taken; NULL: all */
	struct job_table *tables;
	size_t ntables;
	struct arena arena;
};

/*
 * Load and check a job file. Every fault is RC_CONFIG with "path:line:column: what was found, what
 * was expected", and with a suggestion if the name is close to a known one. Call job_release
 * whatever the result.
 */
int job_load(struct job *job, const char *path, struct error *err);
void job_release(struct job *job);
/* Find the table with that name; NULL: the only one. RC_CONFIG: unknown, or the name is needed. */
int job_find_table(const struct job *job, const char *name, const struct job_table **out,
		   struct error *err);

/*
 * --- documentation of the job file's keys, for people, editors and web pages ---
 *
 * Made from the same tables that parse a job file.
 */

struct job_key {
	const char *path; /* "tables[].families.NAME.ttl": [] is an item of a list, NAME any name */
	const char *name; /* the last part of path */
	const char *of;	  /* what it belongs to: "a family" */
	const char *form; /* "a size like 64K", "one of last, first, error" */
	const char *standard; /* the default; NULL: none */
	const char *sentence, *example;
	unsigned depth; /* 0: top level of the file */
	bool required;
};

/*
 * Pass each key to see(), parents first. A key that occurs in several places (parts of row keys and
 * qualifiers) is passed at its first. The texts are valid until see() returns.
 */
void job_words(void (*see)(void *ctx, const struct job_key *key), void *ctx);

/* Append the JSON Schema (draft 2020-12) of a job file, for editors; ends with a line end. */
void job_words_json_schema(struct buf *out);

#endif
