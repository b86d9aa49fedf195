/*
 * job.h - the job file, parsed and checked
 *
 *   job_load, job_release
 *
 * Implemented in pipeline/model/job. All folders read the user's settings from struct job. The
 * struct does not change after job_load. All its memory is in the job's arena.
 */
#ifndef SALTMILL_JOB_H
#define SALTMILL_JOB_H

#include <stdbool.h>

#include "bytes.h"
#include "encoding.h"
#include "splits.h"
#include "error.h"
#include "io.h"
#include "mem.h"
#include "table.h"

/*
 * The unit or format of a time. For TIME_OF_SOURCE the source's schema decides. The text then has
 * milliseconds since 1970 in digits, or is ISO 8601.
 */
enum time_unit { TIME_FORMAT, TIME_S, TIME_MS, TIME_US, TIME_NS, TIME_OF_SOURCE };

/*
 * The letters allowed after % in a time format, as in C's strptime; %f is a fraction of a second.
 */
#define TIME_LETTERS "YmdHMSfzZbBhyjeaAkpIlsFTRDr%"
#define TIME_ISO8601 "iso8601" /* a separate format that accepts any usual ISO form */

/*
 * The rule for the year of a time whose format has no year. The year is fixed, or is the year that
 * brings the date nearest to a day. The job gives that day, or the day is the last date in the path
 * of the event's file.
 */
enum year_rule { YEAR_WRITTEN, YEAR_GIVEN, YEAR_NEAR, YEAR_OF_FILE };

/*
 * The steps that change a field's text before the parser of its type. The steps run in the order of
 * the members, whatever their order in the job file.
 */
enum letters { LETTERS_AS_THEY_ARE, LETTERS_LOWER, LETTERS_UPPER };
enum otherwise { OTHERWISE_REJECT, OTHERWISE_KEEP, OTHERWISE_TEXT };
struct transform {
	const char *match_text; /* text of `match`; NULL means no pattern */
	/*
	 * a pattern (pattern.h) with at most one group; the result is the text of the group, or of
	 * the whole match
	 */
	const struct pattern *match;
	/* first character, counted from 1, or from -1 at the end; 0 means the whole text */
	int32_t from;
	uint32_t length; /* UINT32_MAX means to the end */
	enum letters letters;
	struct text_pair {
		const char *from, *to;
	} * map;
	size_t nmap;			  /* `map` is NULL if the job has no `map` */
	const struct text_pair **by_from; /* the pairs, sorted by `from` */
	enum otherwise otherwise;
	const char *other; /* the text of OTHERWISE_TEXT */
};

/*
 * One named field of an event. The field's text is one source column, or several columns with texts
 * around and between them, for example date and time.
 */
struct field {
	const char *name;
	struct pos pos;
	enum field_type type;
	enum time_unit unit; /* for FIELD_TIME */
	/* FIELD_TIME with TIME_FORMAT: % with one of TIME_LETTERS, or TIME_ISO8601 */
	const char *format;
	enum year_rule year_rule;
	uint32_t year;		 /* the year of YEAR_GIVEN */
	const char *year_near;	 /* the date of YEAR_NEAR */
	const struct zone *zone; /* TIME_FORMAT without %z; NULL means UTC */
	const char **columns;	 /* source column names; the default is the field's own name */
	size_t ncolumns;
	bool first;	      /* the value is that of the first column that is not null */
	const char **glue;    /* ncolumns + 1 texts, around and between them */
	const char **implied; /* texts of `glue` that the user may have meant as columns */
	size_t nimplied;
	const struct transform *transform; /* NULL means no transform */
	/* null spellings of this field; NULL means the spellings of the source */
	const char **nulls;
	size_t nnulls;
	const char *fallback;	   /* text that replaces a null; NULL means that nulls stay */
	uint32_t scale;		   /* FIELD_DECIMAL: 0..18 */
	const struct codes *codes; /* FIELD_CODE */
	/*
	 * true: unknown names get the code `unknown`; false: the load rejects events with unknown
	 * names
	 */
	bool has_unknown;
	uint32_t unknown;
	/*
	 * The share of all events, 0..1, that may break the rules of `expect`. Without it, each such
	 * event counts against --max-rejects.
	 */
	bool has_share;
	double max_share;
};

struct question; /* question.h */

/* A condition on the fields of events. The condition selects events. */
struct job_condition {
	const struct question *question;
	const size_t *fields; /* by condition of the question: index in job.fields */
};

/* A rule for a field's values. The load rejects an event that breaks the rule. */
struct expectation {
	size_t field;
	const char *reason;		  /* word of the reject, such as expect_min */
	const char *expected;		  /* the sentence's end, such as "at least 0" */
	const struct job_condition *when; /* the condition of good values, or NULL */
	const struct pattern *match;	  /* without a condition: the pattern of good texts */
	bool unique;			  /* no two events have the same value */
};

/*
 * PART_KEY is the event's row key in another table. Only the last part of a qualifier can have this
 * kind.
 */
enum part_kind { PART_SALT, PART_FIELD, PART_CONST, PART_HASH, PART_KEY };
enum hash_kind { HASH_MURMUR3, HASH_MD5, HASH_PHOENIX, HASH_OPENTSDB, HASH_HBASEWD };

/*
 * How a salt without fields gets its bucket. The row's fields do not determine such a bucket.
 * DRAW_RANDOM uses murmur3_32 of the event's bytes with the seed, modulo the buckets.
 * DRAW_ROUND_ROBIN uses the event's line number in the file plus the seed. For a Kafka message, it
 * uses the offset in the partition plus the seed.
 */
enum salt_draw { DRAW_NOTHING, DRAW_RANDOM, DRAW_ROUND_ROBIN };

/* One part of a row key or of a computed qualifier. */
struct key_part {
	enum part_kind kind;
	struct pos pos;
	/*
	 * PART_SALT, PART_HASH: the fields whose key encodings are the input of the hash, in order.
	 * Without fields (phoenix, hbasewd), the input is the whole key after this part.
	 */
	size_t *of;
	size_t nof;
	enum hash_kind hash;
	uint32_t buckets;    /* PART_SALT: the salt is 0..buckets-1; at least 1 bucket */
	enum salt_draw draw; /* method that chooses the bucket of a PART_SALT without `of` */
	uint32_t seed;
	/*
	 * PART_SALT, murmur3: the number of buckets for one value of `of`. The hash of that value
	 * gives the first bucket (modulo all buckets). murmur3_32 with seed 1 of the rest of the
	 * key chooses one of these buckets. 0 means no fan-out.
	 */
	uint32_t fanout;
	uint32_t
		/*
		 * bytes of a salt (1 or more, big-endian), of a hash prefix or of a padded text; 0
		 * means no fixed width
		 */
		width;
	struct bytes constant; /* PART_CONST */
	size_t field;	       /* PART_FIELD: index in job.fields */
	size_t table;	       /* PART_KEY: index in job.tables */
	enum encode_as as;
	const struct zone *zone; /* zone of a part of a date; NULL means UTC */
	/* pad byte for a part with a width; '0' on the left of numbers, ' ' on the right of text */
	uint8_t pad;
	bool pad_left;
	bool exact;	/* bytes with a width and without `pad`: every value has the width */
	int terminator; /* byte after a variable-length part, or NO_TERMINATOR */
};
/* Return the number of bytes of a part without its terminator, or 0 if the number varies. */
uint32_t key_part_bytes(const struct key_part *p);

/* The items of a list or mapping in the job file. Each item is one line of YAML. */
struct written {
	struct written_item {
		struct pos pos;	  /* position of the item, or of its key */
		const char *name; /* the key; NULL in a list */
		/* "{field: id, as: u32}"; "" if the job file has no text for it */
		const char *text;
	} * item;
	size_t n;
};

/*
 * The kinds of cell values. VALUE_KEY is the event's row key in the table that job_table.index_of
 * names.
 */
enum value_kind { VALUE_FIELD, VALUE_CONST, VALUE_KEY };

#define CELL_TTL_MAX_MS ((int64_t)TTL_FOREVER * 1000)

struct cell_spec {
	struct pos pos;
	size_t family; /* index in table.families */
	/* parts of the qualifier; all are PART_CONST if the qualifier is constant */
	struct key_part *qualifier;
	size_t nqualifier; /* number of parts; 0 means the empty qualifier */
	bool qualifier_constant;
	enum value_kind kind;
	struct bytes constant;
	size_t field;
	size_t table; /* VALUE_KEY: index in job.tables */
	enum encode_as as;
	/*
	 * true: an event with a null value or qualifier field gets no cell; false: the load rejects
	 * such an event
	 */
	bool optional;
	/*
	 * HBase shows the cell for `ttl_ms` after its timestamp, or for the value of `ttl_field` in
	 * units of `ttl_unit_ms`. Both are 0 if the cell has no TTL of its own.
	 */
	int64_t ttl_ms, ttl_unit_ms;
	size_t ttl_field;
	struct bytes visibility, acl; /* tags of HBase's coprocessors, or empty */
	/* condition of the events that have the cell; NULL means all events */
	const struct job_condition *when;
	uint8_t marker; /* enum cell_type of a delete marker of `deletes`; 0 means a Put */
};

/* Return true if cells of this kind have their own TTL. */
static inline bool cell_has_ttl(const struct cell_spec *c)
{
	return c->ttl_ms || c->ttl_unit_ms;
}

/* Return true if cells of this kind can have tags. */
static inline bool cell_has_tags(const struct cell_spec *c)
{
	return cell_has_ttl(c) || c->visibility.len || c->acl.len;
}

enum split_kind {
	SPLIT_SAMPLED,
	SPLIT_KEY,
	SPLIT_UNIFORM,
	SPLIT_HEX,
	SPLIT_DECIMAL,
	SPLIT_FILE,
	SPLIT_NONE
};
enum duplicates { DUPLICATES_LAST, DUPLICATES_FIRST, DUPLICATES_ERROR };

struct regions {
	struct pos pos;
	enum split_kind split;
	struct region_rule rule;
	const char *file;	  /* SPLIT_FILE, absolute or relative to the working directory */
	const char *first, *last; /* SPLIT_UNIFORM/HEX/DECIMAL; NULL means HBase's defaults */
	/* SPLIT_KEY: a file of shares by key prefix or by field value; NULL means none */
	const char *histogram;
	/* SPLIT_KEY: fields of the row key whose values lie evenly between two texts */
	struct spread_field {
		struct pos pos;
		const char *name; /* the field's name */
		size_t field;
		const char *from, *to; /* both inclusive, in the form of the source */
	} * spreads;
	size_t nspreads;
};

struct job_table {
	struct table schema;
	struct key_part *rowkey;
	size_t nrowkey;
	bool timestamp_constant;
	int64_t timestamp_ms; /* the timestamp, if it is constant */
	size_t timestamp_field;
	/* condition of the events that the table takes; NULL means all events */
	const struct job_condition *when;
	/*
	 * An index table's cells contain row keys of the table `index_of`. That table is earlier in
	 * the job, and the load publishes it first. If both tables differ, the data of `index_of`
	 * is right.
	 */
	bool is_index;
	size_t index_of;
	struct cell_spec *cells; /* Puts, then the delete markers of `deletes` */
	size_t ncells;
	enum duplicates duplicates;
	struct regions regions;
	/* size after which a family's next row begins a new file; 0 means no limit */
	uint64_t max_hfile_bytes;
	struct {
		struct written rowkey, families, cells;
	} written;
};

enum source_kind { SOURCE_CSV, SOURCE_JSON, SOURCE_AVRO, SOURCE_ARROW, SOURCE_KAFKA };

enum trim {
	TRIM_NOTHING,
	TRIM_BLANKS, /* trim spaces and tabs around a value, and around its quotes */
	TRIM_ALL     /* also trim spaces and tabs inside the quotes */
};
/* How to treat a row with fewer or more values than columns. */
enum missing { MISSING_REJECT, MISSING_NULL };
enum extra { EXTRA_REJECT, EXTRA_EMPTY, EXTRA_IGNORE, EXTRA_LAST };

/*
 * The origin of a column's text. A row of a file has more than its own columns. It has the path of
 * its file, its line, its number, and the folders NAME=VALUE of the path.
 */
enum origin { ORIGIN_COLUMN, ORIGIN_FILE, ORIGIN_LINE, ORIGIN_ROW, ORIGIN_PARTITION };

/*
 * How to read quotes: by RFC 4180; as text unless they are around a whole value on one line; or as
 * text.
 */
enum quotes { QUOTES_STRICT, QUOTES_LENIENT, QUOTES_NONE };

/*
 * The meaning of a backslash: none; the next byte is text; or also the letters of MySQL or
 * PostgreSQL for control bytes. With all but none, an unquoted \N is null.
 */
enum escapes { ESCAPES_NONE, ESCAPES_PLAIN, ESCAPES_MYSQL, ESCAPES_POSTGRES };

/* The form of negative numbers besides -12: as 12- or as (12). */
enum minus { MINUS_FRONT, MINUS_TRAILING, MINUS_PARENTHESES };

/*
 * The storage of JSON texts in a file: one on each line, one after the other on any lines, or pairs
 * of lines of an Elasticsearch bulk request. A text that is a list has its items as records.
 */
/* JSON_MEMBERS: the records are the members of an object, as `records: data{}` means */
enum json_layout { JSON_LINES, JSON_DOCUMENTS, JSON_BULK, JSON_MEMBERS };

struct json_form {
	enum json_layout layout;
	const char
		*records; /* the list or the object of the records: hits.hits[], data{}; or NULL */
	const char *explode; /* a list in a record, such as items[]; an item is an event; or NULL */
	const char *unwrap;  /* if a record has this member, the record is its value; or NULL */
	bool extended;	     /* a value such as {"$oid": "5f"} is the text in it (MongoDB) */
	bool hex_escapes;    /* strings may contain \xHH, as nginx writes them */
};

struct csv_source {
	/*
	 * Paths, relative to the job file's folder. "-" is standard input. A folder or a glob(7)
	 * pattern means the files that exist when the source opens.
	 */
	const char **files;
	size_t nfiles;
	/* names of folders NAME=VALUE that each path has; their values are columns */
	const char **partitions;
	size_t npartitions;
	uint32_t skip, skip_footer; /* lines to skip at the start and end of each file */
	bool header;
	bool replace; /* use `columns` as names, and skip the header */
	bool by_name; /* each file's header gives the order of its columns */
	const char *
		/*
		 * the header is the first line with these names; if nfind is 0, the header is the
		 * first line
		 */
		*find;
	size_t nfind;
	/* names for a file without a header, or to replace the header; otherwise NULL */
	const char **columns;
	size_t ncolumns;
	uint8_t delimiter;	     /* the first byte of the delimiter */
	struct bytes long_delimiter; /* a delimiter of several bytes; len is 0 for one byte */
	bool blanks;		     /* spaces and tabs, one or more, are between values */
	uint8_t quote;		     /* '"' */
	enum quotes quotes;
	enum escapes escapes;
	uint32_t *widths; /* characters of each column but the last; or NULL */
	size_t nwidths;	  /* number of columns; 0 means delimited text */
	bool pairs;	  /* a value is KEY=VALUE, and the keys are the columns */
	bool has_comment;
	uint8_t comment; /* the source skips lines that begin with this byte */
	/* the source filters rows that match this pattern (pattern.h); NULL means no pattern */
	struct pattern *skip_matching;
	enum trim trim;
	enum missing missing;
	enum extra extra;
	const char *thousands; /* one character, UTF-8; NULL means no separator */
	const char *decimal;   /* one character; NULL means a point */
	enum minus minus;
	const char *encoding; /* iconv name; NULL means UTF-8 */
	bool empty_is_value;  /* "" is not null, unless `nulls` lists it */
	const char **nulls;   /* unquoted spellings of null */
	size_t nnulls;
	bool quoted_nulls;	/* quoted spellings are null too; default false */
	struct json_form json;	/* only for SOURCE_JSON */
	uint64_t max_row_bytes; /* a longer row stops the run; default 16 MiB */
};

/*
 * Messages of one or more topics. The columns of an event depend on the format. For json, the
 * columns are the paths in the job's fields (user.id, items[0].sku, ["odd.name"]). For csv, the
 * columns are those of job.csv. All formats also have $key, $topic, $partition, $offset,
 * $timestamp, $value and $header.NAME.
 */
/*
 * The reason why there is no format `protobuf`. protobuf-c and nanopb decode only schemas from
 * compile time. libprotobuf's DynamicMessage is C++, and libgrpc-dev has libupb without headers.
 */
#define NO_PROTOBUF                                                                                \
	"no C library decodes Protobuf by a schema fetched at run time; convert it to Avro or "    \
	"JSON, as ksqlDB does: CREATE STREAM a WITH (VALUE_FORMAT='AVRO') AS SELECT * FROM b"
enum kafka_format { KAFKA_JSON, KAFKA_AVRO, KAFKA_CSV, KAFKA_RAW };
enum tombstones { TOMBSTONES_FILTER, TOMBSTONES_REJECT, TOMBSTONES_DELETE };
enum kafka_start { KAFKA_EARLIEST, KAFKA_LATEST, KAFKA_TIME };

/*
 * A librdkafka property. The job sets exactly one of `value`, `file` and `env`. saltmill reads
 * `file` and `env` when it creates the client. saltmill never prints their content.
 */
struct kafka_property {
	const char *name;
	struct pos pos;
	const char *value;
	const char *file; /* file whose content, without the last line end, is the value */
	const char *env;
};

struct kafka_source {
	struct pos pos;
	const char *brokers;
	/*
	 * The job has one topic, or a list of topics in this order, or all topics whose whole name
	 * matches a pattern, sorted by name.
	 */
	const char *topic;
	const char **topics;
	size_t ntopics;
	const char *pattern;
	struct pattern *like; /* compiled pattern */
	const char *several;  /* the topics or the pattern, for messages */
	/* commit offsets to this consumer group; NULL means no commits */
	const char *group;
	bool share; /* members of the group share the topic, by partition */
	enum kafka_format format;
	/*
	 * registry for values in Confluent's wire format, always present for KAFKA_AVRO; without
	 * use, `url` is NULL
	 */
	struct kafka_registry {
		const char *url; /* URL of the registry, without a final / */
		struct kafka_property *properties;
		size_t nproperties;
	} registry;
	int32_t *partitions; /* partition numbers, in rising order */
	size_t npartitions;  /* number of partitions to read; 0 means all partitions of the topic */
	enum kafka_start start;	    /* where a partition without a position begins */
	int64_t start_ms;	    /* for KAFKA_TIME */
	enum tombstones tombstones; /* how to treat messages without a value */
	struct kafka_property *properties;
	size_t nproperties;
	/*
	 * longest time without an answer from brokers; may be DURATION_FOREVER; 0 means not given
	 */
	uint64_t patience_s;
	const char *dead_letters; /* topic for rejected messages; NULL means no topic */
	uint64_t max_message;	  /* bytes; a larger message is a bad event; 0 means no limit */
	/* stream: a cut ends at one of these limits; 0 means no limit */
	uint64_t roll_bytes, roll_rows, roll_s;
};

/*
 * Return the names of the topics for messages, such as "orders", "orders, returns" or "^orders-.*".
 */
static inline const char *kafka_name(const struct kafka_source *k)
{
	return k->topic ? k->topic : k->several;
}
/* Return a place's topic. If `topic` is NULL, this is the job's only topic. */
static inline const char *kafka_topic_of(const struct kafka_source *k, const char *topic)
{
	return topic ? topic : k->topic;
}
/* Return true if the source has this topic. */
bool kafka_has_topic(const struct kafka_source *k, const char *name);

struct job {
	const char *path;   /* path as the user gave it */
	const char *dir;    /* folder of the job file */
	uint8_t digest[16]; /* XXH3-128 of the job file's bytes and of its files of codes */
	enum source_kind source;
	/*
	 * Other sources use a part of `csv`. SOURCE_KAFKA uses the dialect of its messages and no
	 * files. SOURCE_JSON uses files, encoding and max_row_bytes. SOURCE_AVRO and SOURCE_ARROW
	 * use files and max_row_bytes (the limit of a block).
	 */
	struct csv_source csv;
	struct kafka_source kafka;
	/* properties may name code to run; only a trusted caller sets this flag (run.h) */
	bool allow_code;
	struct login login;	    /* the key `security`; the options of a command override it */
	const struct codes *labels; /* numbers of visibility labels by name, or NULL */
	/*
	 * the fields of the job file, then the columns that the job uses without a field (as text)
	 */
	struct field *fields;
	size_t nfields;
	struct written written_fields; /* the fields of the job file */
	/* condition that loaded events match; NULL means all events */
	const struct job_condition *where;
	struct expectation *expects; /* in the order of the fields */
	size_t nexpects;
	struct job_table *tables;
	size_t ntables;
	struct arena arena;
};

/*
 * Load and check a job file. Returns RC_CONFIG for every fault, with a message "path:line:column:
 * found X, expected Y". If a name is close to a known name, the message suggests the known name.
 * Call job_release whatever the result.
 */
int job_load(struct job *job, const char *path, struct error *err);
/* Load the text of a job, as job_load does for a file. Messages name the job `name`. */
int job_parse(struct job *job, const char *name, struct bytes text, struct error *err);
void job_release(struct job *job);
/*
 * Return the origin of the column that a field reads by this name: $file, $line, $row, or a name of
 * `partitions`. Messages of Kafka have only columns.
 */
enum origin column_origin(const struct job *job, const char *name);
/*
 * Return the field whose `max_share` covers a reject with this reason, or NULL. `field` may be NULL.
 */
const struct field *job_tolerates(const struct job *job, const char *reason, const char *field);
/* Return a field with `unique`, or NULL. One thread must read its events in input order. */
const struct field *job_unique(const struct job *job);
/* Return true if a field reads a column of this origin. */
bool job_reads(const struct job *job, enum origin origin);
/*
 * Find the table with that name. If `name` is NULL, find the only table. Returns RC_CONFIG if the
 * name is unknown. Returns RC_CONFIG also if `name` is NULL and the job has several tables.
 */
int job_find_table(const struct job *job, const char *name, const struct job_table **out,
		   struct error *err);

/*
 * --- the job file's keys, for documentation and editors ---
 *
 * The same tables parse a job file.
 */

struct job_key {
	/* place of the key, such as "tables[].families.NAME.ttl"; [] is a list item, NAME is any
	 * name */
	const char *path;
	const char *name;     /* the last part of path */
	const char *of;	      /* the owner of the key, such as "a family" */
	const char *form;     /* "a size like 64K", "one of last, first, error" */
	const char *standard; /* the default; NULL means no default */
	const char *sentence, *example;
	unsigned depth; /* number of keys above this key; 0 means the top level of the file */
	bool required;
};

/*
 * Pass each key to see(), parents first. The function passes a key that several places have (parts
 * of row keys and qualifiers) only once. The texts are valid until see() returns.
 */
void job_words(void (*see)(void *ctx, const struct job_key *key), void *ctx);

/* A set of keys of a source for a known program. */
struct job_preset {
	const char *name, *of; /* `of` is the key of the source: csv or json */
	const char *what;      /* the programs or files */
	const char *keys;      /* YAML, one key on each line */
};
/* Set `*list` to all presets. Return their number. */
size_t job_presets(const struct job_preset **list);

/*
 * Append the JSON Schema (draft 2020-12) of a job file, for editors. The text ends with a line end.
 */
void job_words_json_schema(struct buf *out);

#endif
