/*
 * job.h - the job file, read and checked
 *
 * Built by pipeline/model/job, used by every room that needs to know what the user asked for.  Nothing
 * here changes after job_load.  Everything lives in the job's arena.
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

/* TIME_OF_SOURCE: the source's schema says it; ms since 1970 in digits, or ISO 8601. */
enum time_unit { TIME_FORMAT, TIME_S, TIME_MS, TIME_US, TIME_NS, TIME_OF_SOURCE };

/* What may stand behind a % in a time's format, as in C's strptime; %f: a fraction of a second. */
#define TIME_LETTERS "YmdHMSfzZbBhyjeaAkpIlsFTRDr%"
#define TIME_ISO8601 "iso8601" /* a format of its own: any of the usual forms */

/* Which year a time has whose format has none: always the same, or the one in which the date is
 * nearest to a day: a given one, or the last date in the path of the event's file. */
enum year_rule { YEAR_WRITTEN, YEAR_GIVEN, YEAR_NEAR, YEAR_OF_FILE };

/*
 * What becomes of a field's text before it is read as its type: each step that is there, in the
 * order of the members, whatever the order in the job file.
 */
enum letters { LETTERS_AS_THEY_ARE, LETTERS_LOWER, LETTERS_UPPER };
enum otherwise { OTHERWISE_REJECT, OTHERWISE_KEEP, OTHERWISE_TEXT };
struct transform {
	const char *match_text;	     /* NULL: none */
	const struct pattern *match; /* pattern.h: its group, or all that it matches; at most one */
	int32_t from;		     /* characters, from 1, or from -1 at the end; 0: all of it */
	uint32_t length;	     /* UINT32_MAX: to the end */
	enum letters letters;
	struct text_pair {
		const char *from, *to;
	} * map;
	size_t nmap; /* map NULL: none */
	enum otherwise otherwise;
	const char *other; /* OTHERWISE_TEXT */
};

/*
 * One named field of an event.  Its text is one source column, or several (date and time) with what
 * stands around them.
 */
struct field {
	const char *name;
	struct pos pos;
	enum field_type type;
	enum time_unit unit; /* FIELD_TIME */
	const char *format;  /* FIELD_TIME with TIME_FORMAT: % and one of TIME_LETTERS, or
				TIME_ISO8601 */
	enum year_rule year_rule;
	uint32_t year;		 /* YEAR_GIVEN */
	const char *year_near;	 /* YEAR_NEAR: a date */
	const struct zone *zone; /* TIME_FORMAT without %z; NULL: UTC */
	const char **columns;	 /* source column names; by default the field's own name */
	size_t ncolumns;
	const char **glue;    /* ncolumns + 1 texts, around and between them */
	const char **implied; /* of those, texts that might have been meant as columns */
	size_t nimplied;
	const struct transform *transform; /* NULL: none */
	const char **nulls;		   /* null spellings of this field; NULL: the source's */
	size_t nnulls;
	const char *fallback;	   /* text that stands for a null; NULL: a null stays one */
	uint32_t scale;		   /* FIELD_DECIMAL: 0..18 */
	const struct codes *codes; /* FIELD_CODE */
	bool has_unknown;	   /* then: other names have this code, else none */
	uint32_t unknown;
};

struct question; /* question.h */

/* A question over the fields of an event: which of them go on. */
struct job_condition {
	const struct question *question;
	const size_t *fields; /* index in job.fields, of each of its conditions */
};

/* PART_KEY: the event's row key in another table, the last part of a qualifier. */
enum part_kind { PART_SALT, PART_FIELD, PART_CONST, PART_HASH, PART_KEY };
enum hash_kind { HASH_MURMUR3, HASH_MD5, HASH_PHOENIX, HASH_OPENTSDB, HASH_HBASEWD };

/*
 * A salt that no field gives, so that nobody can name a row's bucket.  DRAW_RANDOM: murmur3_32 of
 * the event's own bytes with the seed, modulo the buckets; DRAW_ROUND_ROBIN: its line's number in
 * the file, or its offset in the partition, plus the seed.
 */
enum salt_draw { DRAW_NOTHING, DRAW_RANDOM, DRAW_ROUND_ROBIN };

/* One part of a row key or of a computed qualifier. */
struct key_part {
	enum part_kind kind;
	struct pos pos;
	/* PART_SALT, PART_HASH: over the key encodings of these fields, in order; none (phoenix,
	 * hbasewd): over all of the key behind this part */
	size_t *of;
	size_t nof;
	enum hash_kind hash;
	uint32_t buckets;    /* PART_SALT: 1..; value 0..buckets-1 */
	enum salt_draw draw; /* PART_SALT, then without `of` */
	uint32_t seed;
	/* PART_SALT, murmur3: what the hash of `of` gives is the first of so many buckets, modulo
	 * all, of which murmur3_32 with seed 1 of all behind the salt chooses one; 0: it is it */
	uint32_t fanout;
	uint32_t
		width; /* bytes: of a salt (1, big-endian), a hash prefix, a padded text; 0: free */
	struct bytes constant; /* PART_CONST */
	size_t field;	       /* PART_FIELD: index in job.fields */
	size_t table;	       /* PART_KEY: index in job.tables */
	enum encode_as as;
	const struct zone *zone; /* of a date's part; NULL: UTC */
	uint8_t pad; /* with width: what fills it, '0' left for numbers, ' ' right for text */
	bool pad_left;
	int terminator; /* byte behind a variable-length part, or NO_TERMINATOR */
};
/* Bytes of a part without its terminator; 0: they vary. */
uint32_t key_part_bytes(const struct key_part *p);

/* The items of a list or mapping of the job file, each as YAML in one line. */
struct written {
	struct written_item {
		struct pos pos;	  /* of the item, or of its key */
		const char *name; /* the key; NULL in a list */
		const char *text; /* "{field: id, as: u32}"; "" where nothing is written */
	} * item;
	size_t n;
};

/* VALUE_KEY: the event's row key in the table that job_table.index_of names. */
enum value_kind { VALUE_FIELD, VALUE_CONST, VALUE_KEY };

struct cell_spec {
	struct pos pos;
	size_t family;		    /* index in table.families */
	struct key_part *qualifier; /* parts; all PART_CONST when the qualifier is constant */
	size_t nqualifier;	    /* 0: the empty qualifier */
	bool qualifier_constant;
	enum value_kind kind;
	struct bytes constant;
	size_t field;
	size_t table; /* VALUE_KEY: index in job.tables */
	enum encode_as as;
	bool optional; /* a null value or qualifier field: no cell; otherwise a reject */
	const struct job_condition *when; /* events that have the cell; NULL: all */
	uint8_t marker; /* of `deletes`: its enum cell_type, without a value; 0: a Put */
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
	/* The table whose row keys stand in the cells here: it stands above this one in the job, is
	 * published first, and decides. */
	bool is_index;
	size_t index_of;
	struct cell_spec *cells; /* Puts, then the markers of `deletes` */
	size_t ncells;
	enum duplicates duplicates;
	struct regions regions;
	uint64_t max_hfile_bytes; /* roll a family's file at the next row; 0: never */
	struct {
		struct written rowkey, families, cells;
	} written;
};

enum source_kind { SOURCE_CSV, SOURCE_JSON, SOURCE_AVRO, SOURCE_ARROW, SOURCE_KAFKA };

enum trim {
	TRIM_NOTHING,
	TRIM_BLANKS, /* blanks and tabs around a value, and around its quotes */
	TRIM_ALL     /* also those inside the quotes */
};
/* A row with fewer values than columns; with more. */
enum missing { MISSING_REJECT, MISSING_NULL };
enum extra { EXTRA_REJECT, EXTRA_EMPTY, EXTRA_IGNORE };

struct csv_source {
	/* Resolved against the job file's folder; "-" is standard input.  A folder and a pattern of
	 * glob(7) stand for the files that are there when the source is opened. */
	const char **files;
	size_t nfiles;
	uint32_t skip, skip_footer; /* lines of each file, at its start and its end */
	bool header;
	bool replace; /* `columns` names the columns, the header is read over */
	const char *
		*find; /* the header is the first line that has these names; nfind 0: the first */
	size_t nfind;
	const char **columns; /* when there is no header, or to replace it; NULL otherwise */
	size_t ncolumns;
	uint8_t delimiter;
	uint8_t quote; /* '"' */
	bool has_comment;
	uint8_t comment;	       /* a line that begins with it is no row */
	struct pattern *skip_matching; /* pattern.h: rows that have it are filtered; NULL: none */
	enum trim trim;
	enum missing missing;
	enum extra extra;
	const char *thousands; /* one character, UTF-8; NULL: none */
	const char *decimal;   /* one character; NULL: a point */
	const char *encoding;  /* as iconv names it; NULL: UTF-8 */
	bool empty_is_value;   /* "" is no null unless it is listed */
	const char **nulls;    /* unquoted spellings of "no value" */
	size_t nnulls;
	bool quoted_nulls;	/* a quoted spelling is a null too; default false */
	uint64_t max_row_bytes; /* a longer row stops the run; default 16 MiB */
};

/*
 * Messages of one topic, or of several.  The columns of an event are, for json, the paths that the
 * fields name (user.id, items[0].sku, ["odd.name"]); for csv, struct job.csv's columns; for all
 * formats also $key $topic $partition $offset $timestamp $value $header.NAME.
 */
/*
 * Why there is no format protobuf: protobuf-c and nanopb decode what was compiled in, libprotobuf's
 * DynamicMessage is C++, and libgrpc-dev has libupb without its headers.
 */
#define NO_PROTOBUF                                                                                \
	"no C library decodes Protobuf by a schema fetched at run time: convert it to Avro or "    \
	"JSON, as ksqlDB does: CREATE STREAM a WITH (VALUE_FORMAT='AVRO') AS SELECT * FROM b"
enum kafka_format { KAFKA_JSON, KAFKA_AVRO, KAFKA_CSV, KAFKA_RAW };
enum tombstones { TOMBSTONES_FILTER, TOMBSTONES_REJECT, TOMBSTONES_DELETE };
enum kafka_start { KAFKA_EARLIEST, KAFKA_LATEST, KAFKA_TIME };

/* A librdkafka property.  One of value, file and env; the latter two are looked up when the client
 * is made, and what they hold is shown nowhere. */
struct kafka_property {
	const char *name;
	struct pos pos;
	const char *value;
	const char *file; /* its content without the last line end */
	const char *env;
};

struct kafka_source {
	struct pos pos;
	const char *brokers;
	/* One topic; or several, in this order; or all whose whole name a pattern has, by name. */
	const char *topic;
	const char **topics;
	size_t ntopics;
	const char *pattern;
	struct pattern *like; /* of pattern */
	const char *several;  /* topics, or the pattern, as sentences name them */
	const char *group;    /* offsets are told to it; NULL: to none */
	bool share;	      /* its members share the topic by partition */
	enum kafka_format format;
	/* values are in Confluent's wire format, KAFKA_AVRO always; url NULL: they are not */
	struct kafka_registry {
		const char *url; /* without a / at its end */
		struct kafka_property *properties;
		size_t nproperties;
	} registry;
	int32_t *partitions;	    /* rising */
	size_t npartitions;	    /* 0: all of the topic */
	enum kafka_start start;	    /* where there is no position yet */
	int64_t start_ms;	    /* KAFKA_TIME */
	enum tombstones tombstones; /* messages without a value */
	struct kafka_property *properties;
	size_t nproperties;
	uint64_t patience_s;	  /* how long no broker may answer; DURATION_FOREVER; 0: not said */
	const char *dead_letters; /* topic that rejects are produced to; NULL: none */
	/* stream: a load is cut when one of these is reached; 0: no limit */
	uint64_t roll_bytes, roll_rows, roll_s;
};

/* What its sentences call it: "orders", "orders, returns", "^orders-.*". */
static inline const char *kafka_name(const struct kafka_source *k)
{
	return k->topic ? k->topic : k->several;
}
/* A place's topic; NULL in it: the job's only one. */
static inline const char *kafka_topic_of(const struct kafka_source *k, const char *topic)
{
	return topic ? topic : k->topic;
}
/* Is it a topic of the source? */
bool kafka_has_topic(const struct kafka_source *k, const char *name);

struct job {
	const char *path;   /* as given */
	const char *dir;    /* folder of the job file */
	uint8_t digest[16]; /* XXH3-128 of the job file's bytes, and of its files of codes */
	enum source_kind source;
	struct csv_source csv; /* SOURCE_KAFKA: the dialect of its messages, no files;
				  SOURCE_JSON: files, encoding, max_row_bytes;
				  SOURCE_AVRO, SOURCE_ARROW: files, max_row_bytes: of a block */
	struct kafka_source kafka;
	bool allow_code; /* its properties may name code to run; set by who trusts it (run.h) */
	struct field *fields; /* those listed, then the columns used without being listed (text) */
	size_t nfields;
	struct written written_fields;	   /* those listed */
	const struct job_condition *where; /* events that are taken; NULL: all */
	struct job_table *tables;
	size_t ntables;
	struct arena arena;
};

/*
 * Read and check a job file.  Every fault is RC_CONFIG with "path:line:column: what was found,
 * what was expected" and, for a name that is close to a known one, the name that was meant.
 * Release with job_release whatever the result.
 */
int job_load(struct job *job, const char *path, struct error *err);
void job_release(struct job *job);
/* The table of that name; NULL: the only one.  RC_CONFIG when there is none or the name is needed.
 */
int job_find_table(const struct job *job, const char *name, const struct job_table **out,
		   struct error *err);

/*
 * --- the job file's keys as a person, an editor or a page is told of them
 *
 * Implemented in pipeline/model/job, from the very tables that read a job file.
 */

struct job_key {
	const char *path; /* "tables[].families.NAME.ttl": [] an item of a list, NAME any name */
	const char *name; /* its last part */
	const char *of;	  /* what it is a key of: "a family" */
	const char *form; /* "a size like 64K", "one of last, first, error" */
	const char *standard; /* the default; NULL: none */
	const char *sentence, *example;
	unsigned depth; /* 0: of the file itself */
	bool required;
};

/*
 * Show each key to see(), one above those that stand in it.  Keys that stand in several places
 * (the parts of row keys and qualifiers) are shown in the first.  The texts hold until see()
 * returns.
 */
void job_words(void (*see)(void *ctx, const struct job_key *key), void *ctx);

/* Append the JSON Schema (draft 2020-12) of a job file, for editors; ends with a line end. */
void job_words_json_schema(struct buf *out);

#endif
