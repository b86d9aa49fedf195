#include "sections.h"

#include <iconv.h>
#include <strings.h>

#include "hash.h"
#include "pattern.h"
#include "bytes.h"

#define MIB (UINT64_C(1) << 20)

int read_files(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;
	int rc = read_texts(r, n, key->name, false, &c->files, &c->nfiles);

	for (size_t i = 0; rc == RC_OK && i < c->nfiles; i++)
		c->files[i] = job_path(r->job, c->files[i]);
	return rc;
}

int read_path_partitions(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;

	return read_names(r, n, key, &c->partitions, &c->npartitions);
}

static int read_find(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;

	return read_names(r, n, key, &c->find, &c->nfind);
}

static const struct key find_keys[] = {
	{.name = "find",
	 WORDS(TEXTS, NULL,
	       "names in the header line; saltmill skips lines above the first line that has "
	       "them all",
	       "header: {find: [Beleg, Betrag]}"),
	 .read = read_find,
	 .required = true}};
static const struct schema find_schema = SCHEMA("header", find_keys);

/* Accepts true, false, replace or {find: [name, ...]}. */
static int read_header(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;

	if (n->kind == NODE_MAPPING) {
		c->header = true;
		c->replace = c->columns != NULL;
		return read_mapping(r, n, &find_schema, c);
	}
	if (n->kind == NODE_SCALAR && strcmp(n->text, "replace") == 0) {
		c->header = c->replace = true;
		return c->columns
			       ? RC_OK
			       : fault(r, n->pos,
				       "header: found `replace` alone, expected `columns: [a, b]` too, with the names that replace those of the header");
	}
	bool no = n->kind == NODE_SCALAR && strcmp(n->text, "false") == 0;
	if (!no && (n->kind != NODE_SCALAR || strcmp(n->text, "true") != 0))
		return expected(r, n, key->name, "true, false, replace or {find: [name, name]}");
	c->header = !no;
	return RC_OK;
}

/* Read the thousands or decimal sign of numbers. Slot: const char *. */
int read_number_sign(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *text;
	uint32_t code;
	int rc = read_text(r, n, key, &text);

	if (rc)
		return rc;
	bool one = utf8_decode(bytes_str(text), &code) == strlen(text);
	if (!one || strchr("0123456789+-eE", text[0]))
		return expected(r, n, key->name,
				"one character that is not a digit, a sign or e, such as \",\"");
	memcpy(slot, &text, sizeof text);
	return RC_OK;
}

static int read_comment(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;

	c->has_comment = true;
	return read_byte(r, n, key, &c->comment);
}

static int read_skip_matching(struct reader *r, const struct node *n, const struct key *key,
			      void *slot)
{
	struct csv_source *c = slot;
	struct error why;
	const char *text;
	int rc = read_text(r, n, key, &text);

	if (rc == RC_OK && pattern_new(&c->skip_matching, &r->job->arena, text, &why))
		rc = fault(r, n->pos, "skip_matching: %s", why.msg);
	return rc;
}

int read_text_encoding(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;
	const char *name;
	int rc = read_text(r, n, key, &name);

	if (rc)
		return rc;
	if (strcasecmp(name, "utf-8") == 0 || strcasecmp(name, "utf8") == 0)
		return RC_OK;
	iconv_t known = strchr(name, '/') ? (iconv_t)-1 : iconv_open("UTF-8", name);
	if (known == (iconv_t)-1)
		return expected(
			r, n, key->name,
			"a name that `iconv --list` prints, such as utf-8, latin1, cp1252, utf-16");
	iconv_close(known);
	c->encoding = name;
	return RC_OK;
}

/* Read a delimiter of one or more bytes. */
static int read_delimiter(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;
	struct bytes v = {0};

	if (n->kind == NODE_SCALAR && strcmp(n->text, "blanks") == 0) {
		c->delimiter = ' ';
		c->blanks = true;
		return RC_OK;
	}
	if (n->kind == NODE_SCALAR && n->len > 1 && n->len <= 32 &&
	    strpbrk(n->text, "\\|~^#:;,$%&@!* "))
		(void)read_escaped(r, n, key, &v);
	if (v.len < 2 || v.len > 8)
		return read_byte(r, n, key, &c->delimiter);
	c->delimiter = v.ptr[0];
	c->long_delimiter = v;
	return RC_OK;
}

static int read_widths(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct csv_source *c = slot;
	const struct key width = {.name = key->name, .min = 1, .max = 100000};
	int rc = RC_OK;

	if (n->kind != NODE_SEQUENCE || n->count < 1)
		return expected(r, n, key->name,
				"a list of widths in characters, such as [8, 30, 12]");
	c->widths = arena_alloc(&r->job->arena, n->count * sizeof *c->widths);
	for (size_t i = 0; i < n->count && rc == RC_OK; i++)
		rc = read_number(r, n->items[i], &width, &c->widths[i]);
	c->nwidths = n->count;
	return rc;
}

static const struct choice minuses[] = {{"front", MINUS_FRONT},
					{"trailing", MINUS_TRAILING},
					{"parentheses", MINUS_PARENTHESES}};
static const struct choice quote_rules[] = {{"strict", QUOTES_STRICT},
					    {"lenient", QUOTES_LENIENT},
					    {"none", QUOTES_NONE}};
static const struct choice escape_rules[] = {{"none", ESCAPES_NONE},
					     {"plain", ESCAPES_PLAIN},
					     {"mysql", ESCAPES_MYSQL},
					     {"postgres", ESCAPES_POSTGRES}};
static const struct choice trims[] = {{"false", TRIM_NOTHING},
				      {"true", TRIM_BLANKS},
				      {"all", TRIM_ALL}};
static const struct choice missings[] = {{"reject", MISSING_REJECT}, {"null", MISSING_NULL}};
static const struct choice extras[] = {{"reject", EXTRA_REJECT},
				       {"empty", EXTRA_EMPTY},
				       {"ignore", EXTRA_IGNORE},
				       {"last", EXTRA_LAST}};

#define SLOT(member) .offset = offsetof(struct csv_source, member)

static const struct key csv_keys[] = {
	{.name = "files",
	 WORDS(TEXTS, NULL,
	       "paths, patterns or folders, relative to the job file's folder; \"-\" is "
	       "standard input; files on the command line replace them",
	       "files: [inbox/*.csv, archive/]"),
	 .read = read_files},
	PARTITIONS_KEY,
	{.name = "preset",
	 WORDS(TEXT, NULL,
	       "the keys for a known program; `saltmill help preset` lists the presets, and other "
	       "keys of the job replace theirs",
	       "preset: mysql"),
	 .read = read_preset_name},
	{.name = "skip",
	 WORDS(NUMBER, "0", "number of lines to skip in each file, above its header or first row",
	       "skip: 2"),
	 .read = read_number,
	 SLOT(skip)},
	{.name = "skip_footer",
	 WORDS(NUMBER, "0",
	       "number of lines to skip at the end of each file; blank lines do not count",
	       "skip_footer: 1"),
	 .read = read_number,
	 SLOT(skip_footer),
	 .max = 1000},
	{.name = "columns",
	 WORDS(TEXTS, NULL,
	       "names of the columns, if the file has no header or with `header: replace`; "
	       "`by_name`: each file has its own order of columns, and a column of no file is an "
	       "error, or null with `missing: null`",
	       "columns: [id, day, amount]"),
	 .read = read_csv_columns}, /* read first, for the default of header */
	{.name = "header",
	 WORDS(EITHER, "true, but false with columns",
	       "whether the first line names the columns; `replace`: `columns` renames the "
	       "header's columns",
	       "header: replace"),
	 INNER(&find_schema),
	 .read = read_header},
	{.name = "delimiter",
	 WORDS(ESCAPED, "\",\"",
	       "the byte, or up to 8 bytes, between values; `blanks`: one or more spaces and tabs, "
	       "and none of them belongs to a value without quotes",
	       "delimiter: ;"),
	 .read = read_delimiter},
	{.name = "quote",
	 WORDS(BYTE, "'\"'", "the byte around values that contain delimiters, quotes or line ends",
	       "quote: \"'\""),
	 .read = read_byte,
	 SLOT(quote)},
	{.name = "quotes",
	 WORDS(CHOICE, "strict",
	       "`strict`: RFC 4180; `lenient`: a quote that is not around a whole value is text, and a "
	       "row is one line; `none`: quotes are text",
	       "quotes: lenient"),
	 .read = read_choice,
	 SLOT(quotes),
	 CHOICES(quote_rules)},
	{.name = "escapes",
	 WORDS(CHOICE, "none",
	       "a backslash makes the next byte text (`plain`), or also a control byte by the letters "
	       "of `mysql` or `postgres`; an unquoted \\N is null",
	       "escapes: mysql"),
	 .read = read_choice,
	 SLOT(escapes),
	 CHOICES(escape_rules)},
	{.name = "widths",
	 WORDS(NUMBERS, NULL,
	       "columns of a fixed width, in characters; the last one has the rest of the line; "
	       "saltmill removes blanks around values",
	       "widths: [8, 30, 12]"),
	 .read = read_widths},
	{.name = "pairs",
	 WORDS(BOOL, "false",
	       "values are KEY=VALUE, as in logfmt; `columns` has the keys to read, and `delimiter` "
	       "is between pairs",
	       "pairs: true"),
	 .read = read_bool,
	 SLOT(pairs)},
	{.name = "comment",
	 WORDS(BYTE, NULL, "skip lines that begin with this byte", "comment: \"#\""),
	 .read = read_comment},
	{.name = "skip_matching",
	 WORDS(TEXT, NULL, "a regular expression (PCRE2); saltmill filters rows whose text matches",
	       "skip_matching: \"^TRAILER\""),
	 .read = read_skip_matching},
	{.name = "trim",
	 WORDS(CHOICE, "false",
	       "remove spaces and tabs around values: `true` outside of quotes, `all` inside too",
	       "trim: true"),
	 .read = read_choice,
	 SLOT(trim),
	 CHOICES(trims)},
	{.name = "missing",
	 WORDS(CHOICE, "reject",
	       "a row with fewer values than columns: `reject` it, or `null` for the missing values",
	       "missing: null"),
	 .read = read_choice,
	 SLOT(missing),
	 CHOICES(missings)},
	{.name = "extra",
	 WORDS(CHOICE, "reject",
	       "a row with more values than columns: `reject` it, accept it if the rest is "
	       "empty, `ignore` the rest, or `last`: the last column has the rest of the line, "
	       "with its delimiters",
	       "extra: empty"),
	 .read = read_choice,
	 SLOT(extra),
	 CHOICES(extras)},
	{.name = "thousands",
	 WORDS(SIGN, NULL, "the character between groups of three digits", "thousands: \".\""),
	 .read = read_number_sign,
	 SLOT(thousands)},
	{.name = "decimal",
	 WORDS(SIGN, "\".\"", "the character before a number's fraction", "decimal: \",\""),
	 .read = read_number_sign,
	 SLOT(decimal)},
	{.name = "minus",
	 WORDS(CHOICE, "front",
	       "the form of negative numbers: -12, or also 12- (`trailing`) or (12) "
	       "(`parentheses`)",
	       "minus: trailing"),
	 .read = read_choice,
	 SLOT(minus),
	 CHOICES(minuses)},
	{.name = "encoding",
	 WORDS(TEXT, "utf-8", "the character set of the files; `iconv --list` prints the names",
	       "encoding: cp1252"),
	 .read = read_text_encoding},
	{.name = "empty",
	 WORDS(CHOICE, "null", "an unquoted empty value is null or the text \"\"", "empty: value"),
	 .read = read_empty}, /* read before null, which uses it */
	{.name = "null",
	 WORDS(TEXTS, "[\"\"]",
	       "unquoted spellings of null; \"\" is always null, unless `empty: value`",
	       "null: [NA, \"-\"]"),
	 .read = read_csv_nulls},
	{.name = "quoted_nulls",
	 WORDS(BOOL, "false", "whether a quoted spelling is null too", "quoted_nulls: true"),
	 .read = read_bool,
	 SLOT(quoted_nulls)},
	{.name = "max_row",
	 WORDS(SIZE, "16M", "the size limit of a row; a longer row ends the run", "max_row: 64M"),
	 .read = read_size,
	 SLOT(max_row_bytes),
	 .min = 1,
	 .max = 2048 * MIB},
};
static const struct schema csv_schema = SCHEMA("csv", csv_keys);

static int check_csv_bytes(struct reader *r, const struct node *n, const struct csv_source *c)
{
	const struct node *byte = node_get(n, "delimiter"), *comment = node_get(n, "comment");

	if ((c->delimiter == c->quote && c->quotes != QUOTES_NONE) || strchr("\r\n", c->delimiter))
		return fault(
			r, byte ? byte->pos : n->pos,
			"delimiter: found the quote, a line end or NUL, expected another byte");
	if (strchr("\r\n", c->quote) || (c->trim && strchr(" \t", c->quote)))
		return fault(
			r, node_get(n, "quote")->pos,
			"quote: found a line end, NUL or a space that `trim` removes, expected another byte");
	if (c->has_comment &&
	    (c->comment == c->delimiter || c->comment == c->quote || strchr("\r\n", c->comment)))
		return fault(r, comment->pos,
			     "comment: found the delimiter, the quote, a line end or NUL, expected "
			     "another byte");
	return RC_OK;
}

int check_number_signs(struct reader *r, const struct node *n, const struct csv_source *c)
{
	const struct node *at = node_get(n, "thousands");

	if (at && strcmp(c->thousands, c->decimal ? c->decimal : ".") == 0)
		return fault(
			r, at->pos,
			"thousands: found `%s`, which is the decimal sign too, expected different ones",
			c->thousands);
	return RC_OK;
}

/* Check keys that exclude each other. */
static int check_csv_form(struct reader *r, const struct node *n, const struct csv_source *c)
{
	const struct node *widths = node_get(n, "widths"), *pairs = node_get(n, "pairs");

	if (widths && c->pairs)
		return fault(r, pairs->pos, "found `widths` and `pairs`, expected one of them");
	if (widths && c->columns && c->ncolumns != c->nwidths)
		return fault(r, widths->pos,
			     "widths: found %zu widths, expected %zu, one for each of `columns`",
			     c->nwidths, c->ncolumns);
	if (c->pairs && !c->columns)
		return fault(r, pairs->pos,
			     "pairs: found no `columns`, expected the keys to read, such as "
			     "`columns: [ts, level, msg]`");
	if (c->extra == EXTRA_LAST && (c->quotes == QUOTES_STRICT || c->nwidths || c->pairs))
		return fault(r, node_get(n, "extra")->pos,
			     "extra: found `last` with %s, expected `quotes: none` or `quotes: "
			     "lenient`, because the last column has the rest of a line",
			     c->nwidths ? "`widths`"
			     : c->pairs ? "`pairs`"
					: "`quotes: strict`");
	return RC_OK;
}

static int check_csv(struct reader *r, const struct node *n, const struct csv_source *c)
{
	const struct node *header = node_get(n, "header");

	if (c->columns && c->header && !c->replace)
		return fault(
			r, header->pos,
			"found `columns` and `header: true`, expected one of them, or `header: replace`, with which `columns` renames the header's columns");
	if (c->by_name && (!c->header || c->replace))
		return fault(
			r, header->pos,
			"found `columns: by_name` without names in a header, expected `header: "
			"true` or {find: [name]}");
	if (!c->columns && !c->header)
		return fault(r, header->pos,
			     "found `header: false` alone, expected `columns: [a, b]` too");
	int rc = check_csv_bytes(r, n, c);
	if (rc == RC_OK)
		rc = check_csv_form(r, n, c);
	return rc ? rc : check_number_signs(r, n, c);
}

static int read_csv(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	static const char *empty[] = {""};
	struct job *job = slot;

	(void)key;
	job->source = SOURCE_CSV;
	job->csv = (struct csv_source){.header = true,
				       .delimiter = ',',
				       .quote = '"',
				       .nulls = empty,
				       .nnulls = 1,
				       .max_row_bytes = 16 * MIB};
	const struct node *packed = node_get(n, "compression");
	if (n->kind == NODE_SCALAR && !node_is_nothing(n))
		return fault(
			r, n->pos,
			"csv: found `%.60s`, expected a mapping; write `csv: {files: [%.60s]}`",
			n->text, n->text);
	if (packed)
		return fault(r, packed->pos,
			     "compression: found `%.60s`, expected no such key, because the bytes "
			     "of a file show its compression",
			     packed->kind == NODE_SCALAR ? packed->text : "");
	int rc = read_preset(r, n, "csv", &csv_schema);
	if (rc == RC_OK)
		rc = read_mapping(r, n, &csv_schema, &job->csv);
	return rc ? rc : check_csv(r, n, &job->csv);
}

static const struct key block_keys[] = {
	{.name = "files",
	 WORDS(TEXTS, NULL, "files that contain their schema; paths, patterns, folders, \"-\"",
	       "files: [events.avro]"),
	 .read = read_files},
	PARTITIONS_KEY,
	{.name = "max_block",
	 WORDS(SIZE, "256M",
	       "the size limit of a block or record batch, compressed or not; a larger block ends the run",
	       "max_block: 1G"),
	 .read = read_size,
	 SLOT(max_row_bytes),
	 .min = 1,
	 .max = 4096 * MIB},
};

static const struct schema avro_schema = SCHEMA("avro", block_keys);
static const struct schema arrow_schema = SCHEMA("arrow", block_keys);

/* Read a source of files with a schema. By default no text in these files means null. */
static int read_blocks(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct job *job = slot;
	bool avro = strcmp(key->name, "avro") == 0;

	job->source = avro ? SOURCE_AVRO : SOURCE_ARROW;
	job->kafka.format = KAFKA_JSON;
	job->csv = (struct csv_source){.delimiter = ',',
				       .quote = '"',
				       .quoted_nulls = true,
				       .empty_is_value = true,
				       .max_row_bytes = 256 * MIB};
	return read_mapping(r, n, avro ? &avro_schema : &arrow_schema, &job->csv);
}

static const struct key source_keys[] = {
	{.name = "csv",
	 WORDS(MAPPING, NULL, "delimited text", "csv: {files: [ratings.csv]}"),
	 INNER(&csv_schema),
	 .read = read_csv},
	{.name = "json",
	 WORDS(MAPPING, NULL, "JSON objects, one per line or in documents",
	       "json: {files: [events.jsonl]}"),
	 INNER(&json_schema),
	 .read = read_json},
	{.name = "avro",
	 WORDS(MAPPING, NULL, "Avro object container files", "avro: {files: [events.avro]}"),
	 INNER(&avro_schema),
	 .read = read_blocks},
	{.name = "arrow",
	 WORDS(MAPPING, NULL, "Arrow IPC streams and files", "arrow: {files: [events.arrows]}"),
	 INNER(&arrow_schema),
	 .read = read_blocks},
	{.name = "kafka",
	 WORDS(MAPPING, NULL, "messages of Kafka topics",
	       "kafka: {brokers: \"k1:9092\", topic: clicks, format: json}"),
	 INNER(&kafka_schema, &dialect_schema),
	 .read = read_kafka}};
const struct schema source_schema = SCHEMA("source", source_keys);

/* Refuse a file name, or the keys of `csv`, in place of the source. */
static int refuse_source(struct reader *r, const struct node *n)
{
	static const char *const parquet[] = {"parquet", "orc", "excel", "xlsx", "xml"};
	const struct node *files = node_get(n, "files");

	if (n->kind == NODE_SCALAR && !node_is_nothing(n))
		return fault(r, n->pos,
			     "source: found `%.60s`, expected a mapping; write `source: {csv: "
			     "{files: [%.60s]}}`",
			     n->text, n->text);
	files = files ? files : node_get(n, "file");
	if (files || node_get(n, "format"))
		return fault(r, n->keys[0]->pos,
			     "source: found `%.60s`, expected the form of the files first; write "
			     "`source: {csv: {files: [%.60s]}}`",
			     n->keys[0]->text,
			     files && files->kind == NODE_SCALAR ? files->text
			     : files && files->count		 ? files->items[0]->text
								 : "events.csv");
	for (size_t i = 0; i < sizeof parquet / sizeof *parquet; i++)
		if (node_get(n, parquet[i]))
			return fault(r, n->keys[0]->pos,
				     "source: found `%s`, which saltmill does not read, expected "
				     "csv, json, avro, arrow or kafka; `saltmill init FILE` prints "
				     "a command that converts the file",
				     parquet[i]);
	return RC_OK;
}

int read_source(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	(void)key;
	size_t given = 0;
	int rc = refuse_source(r, n);

	if (rc)
		return rc;
	for (size_t i = 0; i < source_schema.nkeys; i++)
		given += n->kind == NODE_MAPPING && node_get(n, source_keys[i].name) != NULL;
	if (given > 1)
		return fault(r, n->pos, "source: found `%s` and `%s`, expected one of them",
			     n->keys[0]->text, n->keys[1]->text);
	rc = read_mapping(r, n, &source_schema, slot);
	if (rc == RC_OK && n->count == 0)
		rc = fault(r, n->pos,
			   "source lacks the key `csv`, `json`, `avro`, `arrow` or `kafka`");
	return rc;
}

static int check_columns_of(struct reader *r, const struct field *f, const struct name_index *known)
{
	const struct csv_source *c = &r->job->csv;

	for (size_t k = 0; k < f->ncolumns; k++) {
		if (r->job->source == SOURCE_KAFKA && f->columns[k][0] == '$')
			continue;
		if (column_origin(r->job, f->columns[k]) != ORIGIN_COLUMN)
			continue;
		if (!names_find(known, f->columns[k]))
			return unknown_name(r, f->pos, "column", f->columns[k], c->columns,
					    c->ncolumns);
	}
	return RC_OK;
}

int check_columns(struct reader *r)
{
	const struct csv_source *c = &r->job->csv;
	struct name_index known = {0};
	int rc = RC_OK;

	for (size_t i = 0; c->columns && i < c->ncolumns; i++)
		names_add(&known, c->columns[i]);
	for (size_t i = 0; c->columns && i < r->job->nfields && rc == RC_OK; i++)
		rc = check_columns_of(r, &r->job->fields[i], &known);
	names_release(&known);
	return rc;
}
