/*
 * row_rig.h - a job of one table built by hand, for the tests of pipeline/load/row
 *
 * Include it after cmocka.h.
 */
#ifndef SALTMILL_TEST_ROW_RIG_H
#define SALTMILL_TEST_ROW_RIG_H

#include <stdlib.h>

#include "row.h"

#define MAX 12

/* A table over at most MAX fields. Each test sets the members that it needs. */
struct rig {
	struct job job;
	struct field fields[MAX];
	struct key_part key[MAX];
	struct cell_spec cells[MAX];
	struct key_part qualifiers[MAX];
	struct family families[2];
	struct job_table table;
	const char *names[MAX];
	const char *nulls[2];
	struct row_plan *plan;
	struct row_encoder *encoder;
	struct record record;
	struct reject why;
	struct error err;
	size_t batched; /* events that went through row_encode_batch */
};

static inline void rig_init(struct rig *r)
{
	memset(r, 0, sizeof *r);
	r->nulls[0] = "";
	r->nulls[1] = "NULL";
	r->families[0].name = "f";
	r->families[1].name = "gg";
	r->table.schema = (struct table){.name = "t", .families = r->families, .nfamilies = 2};
	r->table.rowkey = r->key;
	r->table.cells = r->cells;
	r->table.timestamp_constant = true;
	r->table.timestamp_ms = 77;
	r->job = (struct job){.path = "job.yml",
			      .fields = r->fields,
			      .tables = &r->table,
			      .ntables = 1};
	r->job.csv.nulls = r->nulls;
	r->job.csv.nnulls = 2;
}

static inline size_t add_field(struct rig *r, const char *name, enum field_type type)
{
	size_t i = r->job.nfields++;

	r->fields[i] = (struct field){.name = name, .type = type, .unit = TIME_S};
	r->names[i] = name;
	return i;
}

static inline struct key_part *add_part(struct rig *r, enum part_kind kind)
{
	struct key_part *p = &r->key[r->table.nrowkey++];

	p->kind = kind;
	p->terminator = NO_TERMINATOR;
	return p;
}

static inline struct key_part *add_key(struct rig *r, size_t field, enum encode_as as)
{
	struct key_part *p = add_part(r, PART_FIELD);

	p->field = field;
	p->as = as;
	return p;
}

static inline struct key_part *add_const(struct rig *r, const char *text)
{
	struct key_part *p = add_part(r, PART_CONST);

	p->constant = bytes_str(text);
	return p;
}

static inline struct cell_spec *add_cell(struct rig *r, const char *qualifier, size_t field,
					 enum encode_as as)
{
	size_t i = r->table.ncells++;

	r->qualifiers[i] = (struct key_part){.kind = PART_CONST,
					     .terminator = NO_TERMINATOR,
					     .constant = bytes_str(qualifier)};
	r->cells[i] = (struct cell_spec){.qualifier = &r->qualifiers[i],
					 .nqualifier = 1,
					 .qualifier_constant = true,
					 .kind = VALUE_FIELD,
					 .field = field,
					 .as = as};
	return &r->cells[i];
}

static inline struct cell_spec *add_wide(struct rig *r, size_t by, enum encode_as by_as,
					 size_t field)
{
	struct cell_spec *c = add_cell(r, "", field, AS_TEXT);

	c->qualifier->kind = PART_FIELD;
	c->qualifier->field = by;
	c->qualifier->as = by_as;
	c->qualifier_constant = false;
	return c;
}

static inline int rig_plan(struct rig *r)
{
	int rc = row_plan_new(&r->plan, &r->job, r->names, r->job.nfields, &r->err);

	if (rc == RC_OK)
		r->encoder = row_encoder_new(r->plan);
	return rc;
}

static inline void rig_start(struct rig *r)
{
	if (rig_plan(r))
		fail_msg("%s", r->err.msg);
}

static inline void rig_release(struct rig *r)
{
	row_encoder_free(r->encoder);
	row_plan_free(r->plan);
}

static inline int encode_columns(struct rig *r, const struct column *columns)
{
	struct event ev = {.columns = columns, .ncolumns = r->job.nfields, .seq = 42};

	return row_encode(r->encoder, &ev, &r->record, &r->why);
}

/* Rows in one text. Only the padding that readers may touch follows the text. */
struct rig_rows {
	uint8_t *text;
	uint16_t *marks;
	struct event_rows rows;
};

/* Joins the columns into rows. The bytes between fields are digits, so that a read past a field's
 * end shows in its number. */
static inline void rig_rows_init(struct rig_rows *out, const struct bytes *fields, size_t n,
				 size_t ncolumns, bool crlf)
{
	size_t bytes = EVENT_ROOM_BYTES, at = 0, start = 0;

	for (size_t i = 0; i < n * ncolumns; i++)
		bytes += fields[i].len + 1 + crlf;
	*out = (struct rig_rows){.text = malloc(bytes),
				 .marks = malloc((1 + n * (ncolumns + crlf)) * sizeof *out->marks)};
	uint16_t *mark = out->marks;
	memset(out->text, '7', bytes);
	*mark++ = UINT16_MAX;
	out->rows = (struct event_rows){.text = out->text,
					.ends = mark,
					.n = n,
					.seq = 42,
					.ncolumns = ncolumns,
					.stride = ncolumns + crlf};
	for (size_t i = 0; i < n * ncolumns; i++) {
		if (fields[i].len)
			memcpy(out->text + at, fields[i].ptr, fields[i].len);
		at += fields[i].len;
		*mark++ = (uint16_t)at++;
		if ((i + 1) % ncolumns)
			continue;
		if (at - 1 - start > out->rows.longest)
			out->rows.longest = at - 1 - start;
		if (crlf)
			*mark++ = (uint16_t)at++;
		start = at;
	}
	assert_true(at < UINT16_MAX);
}

static inline void rig_rows_release(struct rig_rows *r)
{
	free(r->text);
	free(r->marks);
}

/* Encodes into out->to, which has exactly the bytes that row_batch_bytes requested. The caller
 * frees it. */
static inline bool encode_rows(struct row_encoder *e, const struct event_rows *rows,
			       struct record_batch *out)
{
	*out = (struct record_batch){.to = malloc(row_batch_bytes(e, 0, rows) + RECORD_SLACK)};
	return row_encode_batch(e, rows, out);
}

/*
 * Encodes one event as rows. Returns true if row_encode_batch takes the batch. r->record is then
 * the first record, in *memory.
 */
static inline bool encode_as_rows(struct rig *r, const char *const *texts, uint8_t **memory)
{
	struct bytes fields[MAX];
	struct rig_rows rows;
	struct record_batch out;

	for (size_t i = 0; i < r->job.nfields; i++)
		fields[i] = bytes_str(texts[i]);
	rig_rows_init(&rows, fields, 1, r->job.nfields, false);
	bool taken = encode_rows(r->encoder, &rows.rows, &out);
	if (taken)
		r->record = record_of_batch(&out, 0, row_secondary_bytes(r->plan, 0));
	rig_rows_release(&rows);
	*memory = out.to;
	return taken;
}

/* Puts each text into its own heap block with `room` bytes of padding, so that a sanitizer sees
 * reads past the padding. The padding contains digits, which must not change the result. */
static inline int encode_texts(struct rig *r, const char *const *texts, size_t room)
{
	struct column columns[MAX] = {0};
	uint8_t *blocks[MAX];

	for (size_t i = 0; i < r->job.nfields; i++) {
		size_t len = strlen(texts[i]);

		blocks[i] = malloc(len + room ? len + room : 1);
		memcpy(blocks[i], texts[i], len);
		memset(blocks[i] + len, '7', room);
		columns[i] = (struct column){.ptr = blocks[i], .len = (uint32_t)len};
	}
	struct event ev = {.columns = columns,
			   .ncolumns = r->job.nfields,
			   .seq = 42,
			   .roomy = room > 0};
	int rc = row_encode(r->encoder, &ev, &r->record, &r->why);
	for (size_t i = 0; i < r->job.nfields; i++)
		free(blocks[i]);
	return rc;
}

static inline void note_outcome(const struct rig *r, int rc, struct buf *out)
{
	out->len = 0;
	if (rc) {
		buf_append_str(out, r->why.reason);
		buf_append_str(out, r->why.field ? r->why.field : "");
		buf_append_str(out, r->why.detail);
		return;
	}
	buf_be64(out, r->record.seq);
	buf_be64(out, r->record.key.len);
	buf_append(out, r->record.key.ptr, r->record.key.len);
	buf_append(out, r->record.secondary, row_secondary_bytes(r->plan, 0));
	buf_append(out, r->record.payload.ptr, r->record.payload.len);
}

#define BATCH_TRIES 40 /* after an unusual event the encoder skips some batches */

/* Encodes the texts without padding, with padding and as a batch. All three results must be equal.
 */
static inline int encode(struct rig *r, const char *const *texts)
{
	struct buf expect = {0}, found = {0};
	bool batch = false;
	uint8_t *memory;
	int rc = encode_texts(r, texts, 0);

	note_outcome(r, rc, &expect);
	for (int i = 0; i <= BATCH_TRIES && !batch; i++) {
		batch = i > 0 && encode_as_rows(r, texts, &memory);
		if (batch)
			note_outcome(r, 0, &found);
		if (i > 0)
			free(memory);
		assert_int_equal(batch ? 0 : encode_texts(r, texts, EVENT_ROOM_BYTES), rc);
		if (!batch)
			note_outcome(r, rc, &found);
		assert_true(bytes_eq(buf_bytes(&found), buf_bytes(&expect)));
	}
	if (batch) /* the rig has freed the record of the batch */
		assert_int_equal(encode_texts(r, texts, EVENT_ROOM_BYTES), rc);
	r->batched += batch;
	buf_release(&expect);
	buf_release(&found);
	return rc;
}

#define ENCODE(r, ...) encode(r, (const char *const[]){__VA_ARGS__})

static inline void encode_ok(struct rig *r, const char *const *texts)
{
	if (encode(r, texts))
		fail_msg("%s: %s", r->why.reason, r->why.detail);
}

#define ENCODE_OK(r, ...) encode_ok(r, (const char *const[]){__VA_ARGS__})

static inline void assert_bytes(struct bytes v, const void *expect, size_t len)
{
	assert_int_equal(v.len, len);
	assert_memory_equal(v.ptr, expect, len);
}

/* The columns are userId,movieId,rating,timestamp, as in conf/ratings.yaml. The movie is also a
 * cell. */
static inline void rig_ratings(struct rig *r, enum encode_as movie_as)
{
	static size_t of[] = {0};

	rig_init(r);
	size_t user = add_field(r, "userId", FIELD_U32), movie = add_field(r, "movieId", FIELD_U32);
	size_t rating = add_field(r, "rating", FIELD_TEXT),
	       ts = add_field(r, "timestamp", FIELD_TIME);
	struct key_part *salt = add_part(r, PART_SALT);
	salt->of = of;
	salt->nof = 1;
	salt->buckets = 16;
	salt->width = 1;
	add_key(r, user, AS_U64);
	add_key(r, ts, AS_REVERSED_MILLIS);
	add_key(r, movie, AS_U32);
	add_cell(r, "r", rating, AS_TEXT);
	add_cell(r, "m", movie, movie_as);
	r->table.timestamp_constant = false;
	r->table.timestamp_field = ts;
	rig_start(r);
}

#endif
