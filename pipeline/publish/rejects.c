/*
 * rejects.c - rejected events, kept until the load is done, written in input order
 *
 * Each worker appends finished JSON lines to a spool of its own (an unlinked temporary file) and
 * keeps 24 bytes a line in memory.  When the workers have ended the entries are sorted by seq and
 * the lines copied in that order, so rejects.jsonl is the same for any number of threads.  Finished
 * lines are spooled, not the events, because nothing then needs decoding when they are written;
 * only the few that go into messages (rejects_nth) are parsed again.
 */
#include "publish.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "text.h"

enum { SPOOL_BUFFER = 1 << 16, MAX_WORKERS = 1 << 16 };

struct entry {
	uint64_t seq;
	uint64_t worker : 16, at : 48; /* where the line starts in that worker's spool */
	uint64_t len;                  /* with its line end */
};
_Static_assert(sizeof(struct entry) == 24, "the memory a rejected line takes");

struct entries {
	struct entry *item;
	size_t count, cap;
};

struct reasons {
	struct reject_reason *item;
	size_t count;
	struct arena names;
};

struct spool {
	int fd;
	uint64_t bytes;  /* all lines so far, those in buf included */
	struct buf buf;  /* the tail, not yet written */
	struct entries entries;
	struct reasons reasons;
};

struct rejects {
	struct spool *spools;
	unsigned workers;
	_Atomic uint64_t count;
	bool sealed; /* the workers ended: all is in the two below */
	struct entries all;
	struct reasons reasons;
};

int rejects_new(struct rejects **out, const char *temp_dir, unsigned workers, struct error *err)
{
	*out = NULL;
	if (workers > MAX_WORKERS)
		return error_set(err, RC_LIMIT, "%u workers asked for, %d is the limit", workers,
				 MAX_WORKERS);
	struct rejects *r = mem_calloc(1, sizeof *r);
	r->spools = mem_calloc(workers, sizeof *r->spools);
	for (; r->workers < workers; r->workers++) {
		int fd = io_open_temp(temp_dir, err);
		if (fd < 0) {
			rejects_free(r);
			return err->code;
		}
		r->spools[r->workers].fd = fd;
	}
	*out = r;
	return RC_OK;
}

static void reasons_release(struct reasons *rs)
{
	mem_free(rs->item);
	arena_release(&rs->names);
}

void rejects_free(struct rejects *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->workers; i++) {
		struct spool *s = &r->spools[i];
		close(s->fd);
		buf_release(&s->buf);
		mem_free(s->entries.item);
		reasons_release(&s->reasons);
	}
	reasons_release(&r->reasons);
	mem_free(r->all.item);
	mem_free(r->spools);
	mem_free(r);
}

static void reasons_add(struct reasons *rs, const char *reason, uint64_t count)
{
	size_t i = 0;
	while (i < rs->count && strcmp(rs->item[i].reason, reason) != 0)
		i++;
	if (i == rs->count) {
		rs->item = mem_realloc(rs->item, (rs->count + 1) * sizeof *rs->item);
		rs->item[rs->count++] = (struct reject_reason){
			.reason = arena_strdup(&rs->names, reason)};
	}
	rs->item[i].count += count;
}

/* name: the bytes as text, or name_base64 where they are not UTF-8; null where there are none. */
static void set_bytes(json_t *object, const char *name, struct bytes v)
{
	json_t *text = v.ptr ? json_stringn((const char *)v.ptr, v.len) : json_null();
	if (text) {
		json_object_set_new(object, name, text);
		return;
	}
	struct buf coded = {0};
	char *coded_name = mem_format("%s_base64", name);
	text_base64(&coded, v);
	json_object_set_new(object, coded_name, json_stringn((const char *)coded.ptr, coded.len));
	mem_free(coded_name);
	buf_release(&coded);
}

/* All of a message, so that it can be replayed from here. */
static void set_message(json_t *line, const struct message *m)
{
	json_object_set_new(line, "topic", text_json(bytes_str(m->topic)));
	json_object_set_new(line, "partition", json_integer(m->partition));
	json_object_set_new(line, "offset", json_integer(m->offset));
	if (m->timestamp_ms >= 0)
		json_object_set_new(line, "timestamp", json_integer(m->timestamp_ms));
	set_bytes(line, "key", m->key);
	if (!m->nheaders)
		return;
	json_t *headers = json_array();
	for (size_t i = 0; i < m->nheaders; i++) {
		json_t *header = json_object();
		json_object_set_new(header, "name", text_json(bytes_str(m->headers[i].name)));
		set_bytes(header, "value", m->headers[i].value);
		json_array_append_new(headers, header);
	}
	json_object_set_new(line, "headers", headers);
}

static json_t *line_json(const struct reject_line *l)
{
	const struct reject *why = l->why;
	struct bytes raw = l->raw;
	json_t *line = json_object();
	json_object_set_new(line, "reason", text_json(bytes_str(why->reason)));
	json_object_set_new(line, "field", why->field ? text_json(bytes_str(why->field)) : json_null());
	if (l->message) {
		set_message(line, l->message);
	} else {
		json_object_set_new(line, "file", text_json(bytes_str(l->file)));
		json_object_set_new(line, "line", json_integer((json_int_t)l->line));
		json_object_set_new(line, "offset", json_integer((json_int_t)l->offset));
		if (!raw.ptr)
			raw = bytes_str("");
	}
	json_object_set_new(line, "detail", text_json(bytes_str(why->detail)));
	set_bytes(line, "raw", raw);
	return line;
}

static int spool_flush(struct spool *s, struct error *err)
{
	const uint8_t *p = s->buf.ptr;
	size_t left = s->buf.len;
	while (left) {
		ssize_t n = write(s->fd, p, left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, "cannot write rejected lines to a temporary file");
		p += n;
		left -= (size_t)n;
	}
	s->buf.len = 0;
	return RC_OK;
}

static void entries_add(struct entries *e, struct entry item)
{
	if (e->count == e->cap) {
		e->cap = e->cap ? e->cap * 2 : 64;
		e->item = mem_realloc(e->item, e->cap * sizeof *e->item);
	}
	e->item[e->count++] = item;
}

int rejects_add(struct rejects *r, unsigned worker, const struct reject_line *l, struct error *err)
{
	struct spool *s = &r->spools[worker];
	size_t before = s->buf.len;
	json_t *line = line_json(l);
	bool ok = text_dump(&s->buf, line, JSON_COMPACT);
	json_decref(line);
	if (!ok)
		return error_set(err, RC_LIMIT, "out of memory for a rejected line of %s", l->file);
	buf_put(&s->buf, '\n');
	uint64_t len = s->buf.len - before;
	entries_add(&s->entries, (struct entry){.seq = l->seq,
						.worker = worker & 0xffff,
						.at = s->bytes & 0xffffffffffff,
						.len = len});
	s->bytes += len;
	reasons_add(&s->reasons, l->why->reason, 1);
	atomic_fetch_add(&r->count, 1);
	return s->buf.len < SPOOL_BUFFER ? RC_OK : spool_flush(s, err);
}

uint64_t rejects_count(const struct rejects *r)
{
	return atomic_load(&r->count);
}

static int by_seq(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

static int by_count(const void *a, const void *b)
{
	const struct reject_reason *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->reason, y->reason);
}

/* Bring the workers' entries and counts together, once. */
static void seal(struct rejects *r)
{
	if (r->sealed)
		return;
	r->sealed = true;
	r->all.item = mem_alloc((size_t)r->count * sizeof *r->all.item);
	for (unsigned i = 0; i < r->workers; i++) {
		struct spool *s = &r->spools[i];
		if (s->entries.count)
			memcpy(r->all.item + r->all.count, s->entries.item,
			       s->entries.count * sizeof *r->all.item);
		r->all.count += s->entries.count;
		mem_free(s->entries.item);
		s->entries = (struct entries){0};
		for (size_t k = 0; k < s->reasons.count; k++)
			reasons_add(&r->reasons, s->reasons.item[k].reason, s->reasons.item[k].count);
	}
	qsort(r->all.item, r->all.count, sizeof *r->all.item, by_seq);
	if (r->reasons.count)
		qsort(r->reasons.item, r->reasons.count, sizeof *r->reasons.item, by_count);
}

/* Replace *out by the line of an entry, its line end included. */
static int read_line(struct rejects *r, const struct entry *e, struct buf *out, struct error *err)
{
	struct spool *s = &r->spools[e->worker];
	int rc = spool_flush(s, err);
	if (rc)
		return rc;
	out->len = 0;
	uint8_t *at = buf_reserve(out, e->len);
	rc = io_pread(s->fd, at, e->len, e->at, "a temporary file of rejected lines", err);
	out->len = rc ? 0 : e->len;
	return rc;
}

/* "file:line (byte N)" or "topic/partition at offset N", then ": reason: field: detail". */
static bool line_sentence(json_t *json, struct buf *sentence)
{
	const char *reason, *detail, *file = NULL, *topic = NULL;
	json_t *field;
	json_int_t line = 0, offset, partition = 0;
	if (json_unpack(json, "{s:s, s:o, s:s, s:I, s?s, s?I, s?s, s?I}", "reason", &reason, "field",
			&field, "detail", &detail, "offset", &offset, "file", &file, "line", &line,
			"topic", &topic, "partition", &partition) != 0 ||
	    (!file && !topic))
		return false;
	const char *name = json_string_value(field);
	if (topic)
		buf_printf(sentence, "%s/%lld at offset %lld", topic, (long long)partition,
			   (long long)offset);
	else
		buf_printf(sentence, "%s:%lld (byte %lld)", file, (long long)line, (long long)offset);
	buf_printf(sentence, ": %s: %s%s%s", reason, name ? name : "", name ? ": " : "", detail);
	return true;
}

int rejects_nth(struct rejects *r, uint64_t n, struct buf *sentence, struct error *err)
{
	seal(r);
	if (n >= r->all.count)
		return RC_END;
	struct buf text = {0};
	int rc = read_line(r, &r->all.item[n], &text, err);
	if (rc) {
		buf_release(&text);
		return rc;
	}
	json_error_t bad;
	json_t *json = json_loadb((const char *)text.ptr, text.len, JSON_ALLOW_NUL, &bad);
	if (!json || !line_sentence(json, sentence))
		rc = error_set(err, RC_IO, "the temporary file of rejected lines was damaged");
	json_decref(json);
	buf_release(&text);
	return rc;
}

const struct reject_reason *rejects_by_reason(struct rejects *r, size_t *n)
{
	seal(r);
	*n = r->reasons.count;
	return r->reasons.item;
}

int rejects_write(struct rejects *r, const char *path, struct error *err)
{
	seal(r);
	struct out_file o;
	int rc = out_open(&o, path, 0, err);
	if (rc)
		return rc;
	struct buf line = {0};
	for (size_t i = 0; !rc && i < r->all.count; i++) {
		rc = read_line(r, &r->all.item[i], &line, err);
		out_write(&o, line.ptr, line.len);
	}
	buf_release(&line);
	if (rc) {
		out_abort(&o);
		return rc;
	}
	return out_finish(&o, err);
}
