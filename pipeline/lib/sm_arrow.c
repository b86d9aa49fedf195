/*
 * sm_arrow.c - cells as a stream of Arrow record batches
 *
 * A batch has one allocation for each buffer, and its consumer uses these buffers as they are. The
 * values are copied once, from the decoded block.
 */
#include <errno.h>

#include "arrow_stream.h"
#include "lib.h"
#include "mem.h"

#define USUAL_ROWS 65536
#define MOST_BYTES (256u << 20) /* a column of more bytes ends its batch */

enum cell_column { ROW, FAMILY, QUALIFIER, TIMESTAMP, TYPE, VALUE, TAGS, COLUMNS };

static const struct {
	const char *name, *format;
	size_t width; /* of a number; 0 means binary */
} columns[COLUMNS] = {
	[ROW] = {"row", "z", 0},
	[FAMILY] = {"family", "z", 0},
	[QUALIFIER] = {"qualifier", "z", 0},
	[TIMESTAMP] = {"timestamp", "tsm:UTC", sizeof(int64_t)},
	[TYPE] = {"type", "C", sizeof(uint8_t)},
	[VALUE] = {"value", "z", 0},
	[TAGS] = {"tags", "z", 0},
};

struct arrow_stream {
	struct sm_reader *reader;
	size_t rows;	  /* of a batch */
	size_t ncolumns;  /* without TAGS if the file has none */
	size_t at, count; /* the next cell of reader->cells, and their number */
};

/* --- the schema --- */

struct schema_memory {
	struct ArrowSchema column[COLUMNS];
	struct ArrowSchema *list[COLUMNS];
};

static void release_column_schema(struct ArrowSchema *s)
{
	s->release = NULL;
}

static void release_schema(struct ArrowSchema *s)
{
	for (int64_t i = 0; i < s->n_children; i++)
		if (s->children[i]->release)
			s->children[i]->release(s->children[i]);
	mem_free(s->private_data);
	s->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	const struct arrow_stream *a = stream->private_data;
	struct schema_memory *m = mem_try_calloc(1, sizeof *m);

	*out = (struct ArrowSchema){0};
	if (!m)
		return ENOMEM;
	for (size_t i = 0; i < a->ncolumns; i++) {
		m->column[i] = (struct ArrowSchema){.format = columns[i].format,
						    .name = columns[i].name,
						    .release = release_column_schema};
		m->list[i] = &m->column[i];
	}
	*out = (struct ArrowSchema){.format = "+s",
				    .name = "",
				    .n_children = (int64_t)a->ncolumns,
				    .children = m->list,
				    .release = release_schema,
				    .private_data = m};
	return 0;
}

/* --- batches --- */

struct batch_memory {
	struct ArrowArray column[COLUMNS];
	struct ArrowArray *list[COLUMNS];
	/* of a column: no bitmap of nulls; offsets and bytes, or numbers */
	const void *buffers[COLUMNS][3];
	struct buf offsets[COLUMNS], data[COLUMNS];
	const void *none[1];
	size_t n;
	_Atomic size_t users; /* arrays that have no release yet */
};

static void free_batch(struct batch_memory *m)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		buf_release(&m->offsets[i]);
		buf_release(&m->data[i]);
	}
	mem_free(m);
}

/* A consumer may keep a column without its batch, so the last of them frees the memory. */
static void release_array(struct ArrowArray *a)
{
	struct batch_memory *m = a->private_data;

	for (int64_t i = 0; i < a->n_children; i++)
		if (a->children[i]->release)
			a->children[i]->release(a->children[i]);
	a->release = NULL;
	if (--m->users == 0)
		free_batch(m);
}

static bool add_bytes(struct batch_memory *m, enum cell_column c, struct sm_bytes v)
{
	int32_t end = (int32_t)(m->data[c].len + v.len);

	return buf_try_append(&m->data[c], v.ptr, v.len) &&
	       buf_try_append(&m->offsets[c], &end, sizeof end);
}

static bool add_cell(struct batch_memory *m, const struct sm_cell *c)
{
	uint8_t type = (uint8_t)c->type;

	m->n++;
	return add_bytes(m, ROW, c->row) && add_bytes(m, FAMILY, c->family) &&
	       add_bytes(m, QUALIFIER, c->qualifier) && add_bytes(m, VALUE, c->value) &&
	       add_bytes(m, TAGS, c->tags) &&
	       buf_try_append(&m->data[TIMESTAMP], &c->timestamp, sizeof c->timestamp) &&
	       buf_try_append(&m->data[TYPE], &type, sizeof type);
}

static bool is_full(const struct arrow_stream *a, const struct batch_memory *m)
{
	return m->n >= a->rows || m->data[VALUE].len > MOST_BYTES ||
	       m->data[QUALIFIER].len > MOST_BYTES || m->data[ROW].len > MOST_BYTES ||
	       m->data[TAGS].len > MOST_BYTES;
}

static int fill(struct arrow_stream *a, struct batch_memory *m)
{
	const int32_t zero = 0;
	bool fits = true;
	int rc = SM_OK;

	for (size_t i = 0; fits && i < COLUMNS; i++)
		fits = columns[i].width || buf_try_append(&m->offsets[i], &zero, sizeof zero);
	while (fits && rc == SM_OK && !is_full(a, m)) {
		if (a->at < a->count) {
			fits = add_cell(m, &a->reader->cells[a->at++]);
			continue;
		}
		a->at = a->count = 0;
		rc = lib_next_batch(a->reader, &a->count);
	}
	if (!fits)
		rc = a->reader->ended = error_memory(&a->reader->err, m->n, "a record batch");
	return rc;
}

static void give_batch(const struct arrow_stream *a, struct batch_memory *m, struct ArrowArray *out)
{
	for (size_t i = 0; i < a->ncolumns; i++) {
		bool number = columns[i].width;

		m->buffers[i][1] = number ? m->data[i].ptr : m->offsets[i].ptr;
		/* the format wants an address even if there are no bytes */
		m->buffers[i][2] = m->data[i].ptr ? m->data[i].ptr : (const void *)m;
		m->column[i] = (struct ArrowArray){.length = (int64_t)m->n,
						   .n_buffers = number ? 2 : 3,
						   .buffers = m->buffers[i],
						   .release = release_array,
						   .private_data = m};
		m->list[i] = &m->column[i];
	}
	m->users = a->ncolumns + 1;
	*out = (struct ArrowArray){.length = (int64_t)m->n,
				   .n_buffers = 1,
				   .n_children = (int64_t)a->ncolumns,
				   .buffers = m->none,
				   .children = m->list,
				   .release = release_array,
				   .private_data = m};
}

static int errno_of(int rc)
{
	return rc == RC_MEMORY ? ENOMEM : rc == RC_IO ? EIO : EINVAL;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct arrow_stream *a = stream->private_data;
	struct batch_memory *m = mem_try_calloc(1, sizeof *m);

	*out = (struct ArrowArray){0};
	int rc = m ? fill(a, m) : error_memory(&a->reader->err, sizeof *m, "a record batch");
	if (rc >= SM_OK && m && m->n) {
		give_batch(a, m, out);
		return 0;
	}
	if (m)
		free_batch(m);
	return rc >= SM_OK ? 0 : errno_of(rc);
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	const struct arrow_stream *a = stream->private_data;

	return a->reader->err.msg;
}

static void release_stream(struct ArrowArrayStream *stream)
{
	struct arrow_stream *a = stream->private_data;

	sm_reader_close(a->reader);
	mem_free(a);
	stream->release = NULL;
}

int sm_reader_to_arrow(struct sm_reader *r, struct ArrowArrayStream *out, size_t rows)
{
	struct sm_info info = {.size = sizeof info};
	int rc = sm_reader_info(r, &info);

	if (rc)
		return rc;
	if (rows > INT32_MAX)
		return error_set(&r->err, RC_CONFIG, "rows: found %zu, expected at most %d", rows,
				 INT32_MAX);
	struct arrow_stream *a = mem_try_calloc(1, sizeof *a);
	if (!a)
		return error_memory(&r->err, sizeof *a, "a stream of record batches");
	a->reader = r;
	a->rows = rows ? rows : USUAL_ROWS;
	a->ncolumns = info.flags & SM_TAGS ? COLUMNS : TAGS;
	*out = (struct ArrowArrayStream){.get_schema = get_schema,
					 .get_next = get_next,
					 .get_last_error = get_last_error,
					 .release = release_stream,
					 .private_data = a};
	return SM_OK;
}
