/*
 * schema_rows.c - read Avro and Arrow files, which have a schema with the types of their values
 *
 * The source of a load reads the schema first, and then the values.
 */
#include <stdio.h>

#include "sniff_parts.h"
#include "source.h"

static const char *format_of(const char *file)
{
	char head[8] = {0};

	FILE *f = strcmp(file, "-") == 0 ? NULL : fopen(file, "rb");
	size_t n = f ? fread(head, 1, sizeof head, f) : 0;
	if (f)
		fclose(f);
	if (n >= 4 && memcmp(head, "Obj\1", 4) == 0)
		return "avro";
	if (n == 8 && (memcmp(head, "ARROW1", 6) == 0 || memcmp(head, "\xff\xff\xff\xff", 4) == 0))
		return "arrow";
	return NULL;
}

bool schema_known(const char *file)
{
	return format_of(file) != NULL;
}

struct looking {
	struct columns *columns;
	uint64_t bytes;
	bool whole;
};

static int take_event(void *ctx, const struct event *event, struct reject *why)
{
	struct looking *look = ctx;

	(void)why;
	for (size_t i = 0; i < event->ncolumns; i++) {
		const struct column *c = &event->columns[i];

		if (!c->absent)
			column_see(look->columns, &look->columns->column[i],
				   bytes_of(c->ptr, c->len), c->quoted);
		look->bytes += c->len + 1;
	}
	look->columns->rows++;
	look->whole = look->bytes <= SNIFF_BYTES;
	return look->whole ? RC_OK : RC_END;
}

static void open_job(const struct columns *c, struct job *job)
{
	*job = (struct job){.path = "init",
			    .source = strcmp(c->schema, "avro") ? SOURCE_ARROW : SOURCE_AVRO};
	job->csv.max_row_bytes = UINT64_C(256) << 20;
}

/* Add a column for each value of the schema. */
static int read_schema(struct columns *c, const char *file, struct error *err)
{
	struct job job;

	open_job(c, &job);
	const struct input input = {.files = &file, .nfiles = 1};
	const struct source_options options = {.job = &job, .input = &input};
	const struct schema_value *values;
	struct source *source;
	int rc = source_open(&source, &options, err);
	if (rc)
		return rc;
	size_t n = source_schema_values(source, &values, &c->left_out);
	for (size_t i = 0; i < n; i++) {
		size_t before = c->n;
		struct sniffed *s = columns_add(c, bytes_str(values[i].path));

		if (c->n == before)
			continue; /* the name occurs twice */
		s->own = values[i].type;
		s->own_scale = values[i].scale;
		s->local = values[i].local;
	}
	source_close(source);
	return RC_OK;
}

static int read_values(struct columns *c, const char *file, bool *whole, struct error *err)
{
	struct looking look = {.columns = c, .whole = true};
	const struct source_sink sink = {.ctx = &look, .event = take_event};
	struct job job;

	open_job(c, &job);
	job.nfields = c->n;
	job.fields = arena_alloc(&c->arena, (c->n + 1) * sizeof *job.fields);
	for (size_t i = 0; i < c->n; i++)
		job.fields[i] =
			(struct field){.name = c->column[i].name,
				       .columns = (const char **)&c->column[i].name,
				       .ncolumns = 1,
				       .type = c->column[i].own == FIELD_BYTES ? FIELD_BYTES
									       : FIELD_TEXT};
	const struct input input = {.files = &file, .nfiles = 1};
	const struct source_options options = {.job = &job, .input = &input};
	int rc = source_read_once(&options, &sink, err);

	*whole = look.whole;
	return rc;
}

int schema_look(struct columns *c, const char *file, bool *whole, struct error *err)
{
	c->schema = format_of(file);
	c->json = true;
	int rc = read_schema(c, file, err);
	if (rc == RC_OK && c->n == 0)
		rc = error_set(err, RC_DATA,
			       "%s: found no value in the schema that a field can read, expected a "
			       "number, a text, a time or bytes; convert one column first",
			       file);
	return rc ? rc : read_values(c, file, whole, err);
}

static bool is_whole(enum field_type type)
{
	return type == FIELD_I64 || type == FIELD_U32 || type == FIELD_U64;
}

/*
 * Use the type of the schema, except for times that the schema declares as numbers or texts. A text
 * is never a null, because the schema has its own nulls.
 */
void schema_decide(struct columns *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct sniffed *s = &c->column[i];
		bool is_time = s->type == FIELD_TIME;
		bool other =
			(is_whole(s->own) && is_time && s->unit) ||
			(s->own == FIELD_TEXT && is_time && s->format) ||
			(s->own == FIELD_TEXT && (s->type == FIELD_UUID || s->type == FIELD_IP));

		s->has_nulls = s->values < c->rows;
		if (other)
			continue;
		s->type = s->own;
		s->scale = s->own_scale;
		s->format = s->unit = NULL;
		s->note = s->local ? "UTC; for another zone add `zone: Europe/Berlin`" : NULL;
		if (s->own == FIELD_TIME && !is_time)
			s->oldest_ms = -1; /* unknown, so the time may not fit into a key */
	}
}
