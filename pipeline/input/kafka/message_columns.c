/*
 * message_columns.c - make the columns of a message, first from the value, then from the metadata
 *
 * Make only columns that a field uses. From JSON, extract only the fields' paths.
 */
#include "input/message_columns.h"

#include <stdio.h>

#include "input/csv.h"
#include "mem.h"
#include "registry.h"

enum beside {
	BESIDE_KEY,
	BESIDE_TOPIC,
	BESIDE_PARTITION,
	BESIDE_OFFSET,
	BESIDE_TIMESTAMP,
	BESIDE_VALUE,
	BESIDE_HEADER
};

#define HEADER	   "$header."
#define WIRE_BYTES 5

static const char *const beside_names[] = {"$key",	 "$topic", "$partition", "$offset",
					   "$timestamp", "$value", HEADER "NAME"};

struct decoding {
	const struct job *job;
	const char **columns;
	size_t ncolumns, nvalues; /* the first nvalues are columns of the value */
	enum beside *beside;	  /* sources of the other columns */
	bool headers;
	/* for json, true if a path begins with an array index, so that a message may be an array */
	bool arrays;
	struct json_paths *paths;
	/* registry for values in its wire format, NULL if values have another format */
	struct registry *registry;
	struct arena arena;
};

struct decoder {
	const struct decoding *plan;
	struct column *columns;
	struct json_scratch scratch;
	struct csv_reader csv;
	struct buf line; /* a copy of a csv value with spare bytes after it */
	struct avro_decoder *avro;
	bool has_schema; /* true if `schema` and `avro_plan` are those of the last value */
	uint32_t schema;
	const struct avro_plan *avro_plan;
	char numbers[3][24]; /* partition, offset, timestamp as text */
};

/* --- columns that the fields need --- */

static bool beside_kind(const char *name, enum beside *kind)
{
	for (size_t i = 0; i < BESIDE_HEADER; i++)
		if (strcmp(name, beside_names[i]) == 0) {
			*kind = (enum beside)i;
			return true;
		}
	*kind = BESIDE_HEADER;
	return strncmp(name, HEADER, strlen(HEADER)) == 0 && name[strlen(HEADER)];
}

static bool has_paths(const struct job *job)
{
	return job->kafka.format == KAFKA_JSON || job->kafka.format == KAFKA_AVRO;
}

static int bad_name(const struct job *job, const struct field *f, const char *name,
		    const char *expected, struct error *err)
{
	return error_set(err, RC_CONFIG, "%s:%u:%u: field `%s`: found `%.80s`, expected %s",
			 job->path, f->pos.line, f->pos.column, f->name, name, expected);
}

static bool add_column(struct decoding *d, const char *name)
{
	for (size_t i = 0; i < d->ncolumns; i++)
		if (strcmp(d->columns[i], name) == 0)
			return false;
	d->columns[d->ncolumns++] = name;
	return true;
}

static size_t count_names(const struct job *job)
{
	size_t n = job->csv.ncolumns;

	for (size_t i = 0; i < job->nfields; i++)
		n += job->fields[i].ncolumns;
	return n;
}

static int add_paths(struct decoding *d, const struct field *f, struct error *err)
{
	for (size_t k = 0; k < f->ncolumns; k++) {
		if (f->columns[k][0] == '$' ||
		    column_origin(d->job, f->columns[k]) != ORIGIN_COLUMN)
			continue;
		if (d->job->kafka.format == KAFKA_RAW)
			return bad_name(
				d->job, f, f->columns[k],
				"one of $key $topic $partition $offset $timestamp $value $header.NAME, the "
				"only columns of format raw",
				err);
		if (has_paths(d->job))
			add_column(d, f->columns[k]);
	}
	return RC_OK;
}

static int add_beside(struct decoding *d, const struct field *f, struct error *err)
{
	for (size_t k = 0; k < f->ncolumns; k++) {
		enum beside kind;

		if (f->columns[k][0] != '$' ||
		    column_origin(d->job, f->columns[k]) != ORIGIN_COLUMN)
			continue;
		if (d->job->source != SOURCE_KAFKA)
			return bad_name(
				d->job, f, f->columns[k],
				"a path, $file, $line or $row (a key of that name: [\"$...\"])",
				err);
		if (!beside_kind(f->columns[k], &kind))
			return bad_name(d->job, f, f->columns[k],
					"one of $key $topic $partition $offset $timestamp $value "
					"$header.NAME (a JSON key of that name: [\"$...\"])",
					err);
		if (add_column(d, f->columns[k]))
			d->beside[d->ncolumns - 1] = kind;
		d->headers = d->headers || kind == BESIDE_HEADER;
	}
	return RC_OK;
}

/* Find the first field that uses a column, for error messages. */
static const struct field *asking(const struct job *job, const char *column)
{
	for (size_t i = 0; i < job->nfields; i++)
		for (size_t k = 0; k < job->fields[i].ncolumns; k++)
			if (strcmp(job->fields[i].columns[k], column) == 0)
				return &job->fields[i];
	return &job->fields[0];
}

static int compile_paths(struct decoding *d, struct error *err)
{
	size_t bad;

	if (!has_paths(d->job))
		return RC_OK;
	int rc = json_paths_new(&d->paths, d->columns, d->nvalues, &d->job->csv.json, &bad, err);
	if (rc && bad == d->nvalues) {
		error_prefix(err, "%s: source.json.", d->job->path);
	} else if (rc) {
		const struct field *f = asking(d->job, d->columns[bad]);

		error_prefix(err, "%s:%u:%u: field `%s`: ", d->job->path, f->pos.line,
			     f->pos.column, f->name);
	}
	return rc;
}

int decoding_new(struct decoding **out, const struct job *job, struct error *err)
{
	struct decoding *d = mem_calloc(1, sizeof *d);
	size_t n = count_names(job) + 1;
	int rc = RC_OK;

	d->job = job;
	d->columns = arena_alloc(&d->arena, n * sizeof *d->columns);
	d->beside = arena_alloc(&d->arena, n * sizeof *d->beside);
	for (size_t i = 0; job->kafka.format == KAFKA_CSV && i < job->csv.ncolumns; i++)
		add_column(d, job->csv.columns[i]);
	for (size_t i = 0; rc == RC_OK && i < job->nfields; i++)
		rc = add_paths(d, &job->fields[i], err);
	d->nvalues = d->ncolumns;
	for (size_t i = 0; i < d->nvalues; i++)
		d->arrays = d->arrays || (d->columns[i][0] == '[' && d->columns[i][1] >= '0' &&
					  d->columns[i][1] <= '9');
	for (size_t i = 0; rc == RC_OK && i < job->nfields; i++)
		rc = add_beside(d, &job->fields[i], err);
	if (rc == RC_OK)
		rc = compile_paths(d, err);
	const struct typed_columns columns = {.job = job, .names = d->columns, .paths = d->paths};
	if (rc == RC_OK && job->kafka.registry.url)
		rc = registry_open(&d->registry, &columns, err);
	if (rc) {
		decoding_free(d);
		return rc;
	}
	*out = d;
	return RC_OK;
}

void decoding_free(struct decoding *d)
{
	if (!d)
		return;
	registry_close(d->registry);
	json_paths_free(d->paths);
	arena_release(&d->arena);
	mem_free(d);
}

const char *const *decoding_columns(const struct decoding *d, size_t *n)
{
	*n = d->ncolumns;
	return d->columns;
}

const struct json_paths *decoding_paths(const struct decoding *d)
{
	return d->paths;
}

bool decoding_headers(const struct decoding *d)
{
	return d->headers;
}

/* --- one message --- */

struct decoder *decoder_new(const struct decoding *plan)
{
	struct decoder *d = mem_calloc(1, sizeof *d);
	const struct csv_source *csv = &plan->job->csv;

	d->plan = plan;
	d->columns = mem_calloc(plan->ncolumns + 1, sizeof *d->columns);
	csv_open(&d->csv, csv, false);
	csv_expect(&d->csv, plan->nvalues, 0);
	if (plan->registry)
		d->avro = avro_decoder_new(plan->nvalues);
	return d;
}

void decoder_free(struct decoder *d)
{
	if (!d)
		return;
	avro_decoder_free(d->avro);
	csv_close(&d->csv);
	json_scratch_release(&d->scratch);
	buf_release(&d->line);
	mem_free(d->columns);
	mem_free(d);
}

static int refuse(struct reject *why, const char *reason)
{
	why->reason = reason;
	why->field = NULL;
	return RC_DATA;
}

/*
 * Reject values that are not objects (or arrays). Such a value cannot contain a field, so the value
 * is a fault, not an event without fields.
 */
static bool check_kind(const struct decoding *plan, struct bytes value, struct json_fault *fault)
{
	size_t at = 0;

	while (at < value.len && strchr(" \t\r\n", value.ptr[at]))
		at++;
	*fault = (struct json_fault){at, plan->arrays ? "an object or an array" : "an object"};
	return value.ptr[at] == '{' || (plan->arrays && value.ptr[at] == '[');
}

static int decode_json(struct decoder *d, struct bytes value, struct reject *why)
{
	struct json_fault fault;

	if (value.len > UINT32_MAX) {
		snprintf(why->detail, sizeof why->detail,
			 "found %zu bytes, expected less than 4 GiB", value.len);
		return refuse(why, "too_long");
	}
	if (json_extract(d->plan->paths, &d->scratch, value, d->columns, &fault) &&
	    check_kind(d->plan, value, &fault))
		return RC_OK;
	if (fault.at < value.len && value.ptr[fault.at] >= 0x20 && value.ptr[fault.at] < 0x7f)
		snprintf(why->detail, sizeof why->detail, "byte %zu: found `%c`, expected %s",
			 fault.at, value.ptr[fault.at], fault.expected);
	else if (fault.at < value.len)
		snprintf(why->detail, sizeof why->detail, "byte %zu: found \\x%02X, expected %s",
			 fault.at, value.ptr[fault.at], fault.expected);
	else
		snprintf(why->detail, sizeof why->detail, "byte %zu: found the end, expected %s",
			 fault.at, fault.expected);
	return refuse(why, "bad_json");
}

static int decode_csv(struct decoder *d, struct bytes value, struct reject *why)
{
	struct csv_row row, more;
	size_t expected = d->plan->nvalues;

	d->line.len = 0;
	buf_reserve(&d->line, value.len + 1 + CSV_SLACK);
	buf_append(&d->line, value.ptr, value.len);
	if (!value.len || !csv_is_end(value.ptr[value.len - 1]))
		buf_put(&d->line, '\n');
	csv_start(&d->csv, d->line.ptr, d->line.len);
	if (!csv_next(&d->csv, &row)) {
		snprintf(why->detail, sizeof why->detail,
			 "found an empty value, expected %zu fields", expected);
		return refuse(why, "field_count");
	}
	if (row.kind != CSV_ROW) {
		snprintf(why->detail, sizeof why->detail,
			 "found %s, expected quotes at both ends of a value, and doubled quotes "
			 "inside it",
			 row.kind == CSV_OPEN ? "no closing quote" : "a stray quote");
		return refuse(why, "bad_quote");
	}
	if (row.ncolumns != expected) {
		snprintf(why->detail, sizeof why->detail, "found %zu field%s, expected %zu",
			 row.ncolumns, row.ncolumns == 1 ? "" : "s", expected);
		return refuse(why, "field_count");
	}
	if (expected)
		memcpy(d->columns, d->csv.columns, expected * sizeof *d->columns);
	if (row.next < d->line.ptr + d->line.len && csv_next(&d->csv, &more)) {
		snprintf(why->detail, sizeof why->detail,
			 "found a second row at byte %zu, expected one row per message",
			 (size_t)(more.start - d->line.ptr));
		return refuse(why, "several_rows");
	}
	return RC_OK;
}

static struct column text_column(struct bytes v)
{
	return (struct column){.ptr = v.ptr,
			       .len = (uint32_t)v.len,
			       .quoted = true,
			       .absent = !v.ptr};
}

static struct column number_column(char *text, int64_t v)
{
	int n = snprintf(text, 24, "%lld", (long long)v);

	return (struct column){.ptr = (const uint8_t *)text, .len = (uint32_t)n};
}

/*
 * Return a header. If several headers have the same name, the last header counts, as in Kafka's own
 * clients.
 */
static struct column header_column(const struct message *m, const char *name)
{
	for (size_t i = m->nheaders; i > 0; i--)
		if (strcmp(m->headers[i - 1].name, name) == 0)
			return text_column(m->headers[i - 1].value);
	return (struct column){.absent = true};
}

static struct column beside_column(struct decoder *d, size_t i, const struct message *m)
{
	switch (d->plan->beside[i]) {
	case BESIDE_KEY: return text_column(m->key);
	case BESIDE_TOPIC: return text_column(bytes_str(m->topic));
	case BESIDE_VALUE: return text_column(m->value);
	case BESIDE_PARTITION: return number_column(d->numbers[0], m->partition);
	case BESIDE_OFFSET: return number_column(d->numbers[1], m->offset);
	case BESIDE_TIMESTAMP:
		if (m->timestamp_ms < 0)
			break;
		return number_column(d->numbers[2], m->timestamp_ms);
	case BESIDE_HEADER: return header_column(m, d->plan->columns[i] + strlen(HEADER));
	}
	return (struct column){.absent = true};
}

/*
 * Read the head of the wire format and advance `*value` past the head. If the schema ID equals the
 * last schema ID, do not query the registry.
 */
static int take_wire(struct decoder *d, struct bytes *value, struct reject *why, struct error *err)
{
	if (value->len < WIRE_BYTES || value->ptr[0] != 0)
		return reject_value(
			why, "bad_wire", NULL,
			bytes_of(value->ptr, value->len < 16 ? value->len : 16),
			"expected byte 0 and a schema ID in 4 bytes (Confluent's wire format)");
	uint32_t id = get_be32(value->ptr + 1);
	*value = bytes_of(value->ptr + WIRE_BYTES, value->len - WIRE_BYTES);
	if (d->has_schema && d->schema == id)
		return RC_OK;
	d->has_schema = false;
	int rc = registry_find(d->plan->registry, id, &d->avro_plan, why, err);
	d->has_schema = rc == RC_OK;
	d->schema = id;
	return rc;
}

static int decode_avro(struct decoder *d, struct bytes value, struct reject *why)
{
	const struct column *columns;
	size_t took;
	const char *fault = avro_decode(d->avro, d->avro_plan, value, &columns, &took);

	if (!fault && took < value.len)
		fault = "bytes after the value";
	if (fault) {
		snprintf(why->detail, sizeof why->detail,
			 "byte %zu: found %s, expected a value of schema %u", took + WIRE_BYTES,
			 fault, d->schema);
		return refuse(why, fault == avro_too_costly ? "too_costly" : "bad_avro");
	}
	if (d->plan->nvalues)
		memcpy(d->columns, columns, d->plan->nvalues * sizeof *columns);
	return RC_OK;
}

static int decode_value(struct decoder *d, struct bytes value, struct reject *why,
			struct error *err)
{
	int rc = d->plan->registry ? take_wire(d, &value, why, err) : RC_OK;

	if (rc)
		return rc;
	switch (d->plan->job->kafka.format) {
	case KAFKA_JSON: return decode_json(d, value, why);
	case KAFKA_AVRO: return decode_avro(d, value, why);
	case KAFKA_CSV: return decode_csv(d, value, why);
	case KAFKA_RAW: break;
	}
	return RC_OK;
}

/* Clear the value's columns for a message without a value, which has only metadata. */
static void leave_out_values(struct decoder *d)
{
	for (size_t i = 0; i < d->plan->nvalues; i++)
		d->columns[i] = (struct column){.absent = true};
}

int decoder_run(struct decoder *d, const struct message *m, const struct column **columns,
		struct reject *why, struct error *err)
{
	const struct decoding *p = d->plan;
	int rc = RC_OK;

	if (m->value.ptr)
		rc = decode_value(d, m->value, why, err);
	else
		leave_out_values(d);
	for (size_t i = p->nvalues; rc == RC_OK && i < p->ncolumns; i++)
		d->columns[i] = beside_column(d, i, m);
	*columns = d->columns;
	return rc;
}

struct json_list decoder_items(const struct decoder *d)
{
	return json_list_of(d->plan->paths, d->columns);
}

bool decoder_next(struct decoder *d, struct json_list *items, struct bytes *item)
{
	return items->list.ptr &&
	       json_list_next(d->plan->paths, &d->scratch, items, d->columns, item);
}
