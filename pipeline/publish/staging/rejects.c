/*
 * rejects.c - rejected events, kept until the load ends and written in input order
 *
 * Each worker puts finished JSON lines, with the event's seq as the key, into a sorter. The sorter
 * keeps a few in memory and the rest in unlinked temporary files, and returns them in input order.
 * So rejects.jsonl is the same for any number of threads. Finished lines are kept instead of
 * events, because they need no decoding when they are written. Only the few lines in messages
 * (rejects_nth) are parsed again.
 */
#include "publish.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "sorter.h"
#include "json_text.h"

enum { MEMORY_BYTES = 4 << 20, RUN_BYTES = 512 << 10, LINE_KEPT = 64 << 10, MAX_WORKERS = 1 << 16 };

struct reasons {
	struct reject_reason *item;
	size_t count;
	struct arena names;
};

struct spool {
	struct buf line; /* the last one */
	struct reasons reasons;
};

struct rejects {
	struct budget budget;
	struct sorter *lines;
	struct spool *spools;
	unsigned workers;
	_Atomic uint64_t count;
	bool sorted, counted; /* set after the workers end */
	struct reasons reasons;
};

/* Does the folder accept files? The sorter would notice only when memory is full. */
static int try_folder(const char *dir, struct error *err)
{
	int fd = io_open_temp(dir, err);

	if (fd < 0)
		return err->code;
	close(fd);
	return RC_OK;
}

int rejects_new(struct rejects **out, const char *temp_dir, struct budget *quota, unsigned workers,
		struct error *err)
{
	*out = NULL;
	if (workers > MAX_WORKERS)
		return error_set(err, RC_LIMIT, "found %u workers, expected at most %d", workers,
				 MAX_WORKERS);
	int rc = try_folder(temp_dir, err);
	if (rc)
		return rc;
	struct rejects *r = mem_calloc(1, sizeof *r);
	r->budget.limit = MEMORY_BYTES;
	r->spools = mem_calloc(workers, sizeof *r->spools);
	r->workers = workers;
	struct sorter_options so = {.budget = &r->budget,
				    .temp_dir = temp_dir,
				    .threads = workers,
				    .run_bytes = RUN_BYTES,
				    .quota = quota};
	r->lines = sorter_new(&so);
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
		buf_release(&r->spools[i].line);
		reasons_release(&r->spools[i].reasons);
	}
	sorter_free(r->lines);
	reasons_release(&r->reasons);
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
		rs->item[rs->count++] =
			(struct reject_reason){.reason = arena_strdup(&rs->names, reason)};
	}
	rs->item[i].count += count;
}

/* name: the bytes as text, or name_base64 if they are not UTF-8; null if there are none. */
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

/* Write all of a message, so that it can be replayed from the line. */
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
	json_object_set_new(line, "field",
			    why->field ? text_json(bytes_str(why->field)) : json_null());
	if (l->message) {
		set_message(line, l->message);
	} else {
		json_object_set_new(line, "file", text_json(bytes_str(l->file)));
		json_object_set_new(line, l->block ? "event" : "line",
				    json_integer((json_int_t)l->line));
		if (l->block)
			json_object_set_new(line, "block", json_integer((json_int_t)l->block));
		json_object_set_new(line, "offset", json_integer((json_int_t)l->offset));
		if (!raw.ptr)
			raw = bytes_str("");
	}
	json_object_set_new(line, "detail", text_json(bytes_str(why->detail)));
	set_bytes(line, "raw", raw);
	return line;
}

/* Put the line into the sorter. */
static int keep_line(struct rejects *r, unsigned worker, uint64_t seq, struct error *err)
{
	struct spool *s = &r->spools[worker];
	uint8_t key[8];

	put_be64(key, seq);
	struct record record = {.key = bytes_of(key, sizeof key),
				.secondary = key,
				.seq = seq,
				.payload = buf_bytes(&s->line)};
	int rc = run_builder_add(sorter_builder(r->lines, worker), &record, err);
	if (s->line.cap > LINE_KEPT)
		buf_release(&s->line);
	return rc;
}

int rejects_add(struct rejects *r, unsigned worker, const struct reject_line *l, struct error *err)
{
	struct spool *s = &r->spools[worker];

	s->line.len = 0;
	json_t *line = line_json(l);
	bool ok = text_dump(&s->line, line, JSON_COMPACT);
	json_decref(line);
	if (!ok)
		return error_set(err, RC_LIMIT, "out of memory for a rejected line of %s", l->file);
	buf_put(&s->line, '\n');
	int rc = keep_line(r, worker, l->seq, err);
	reasons_add(&s->reasons, l->why->reason, 1);
	atomic_fetch_add(&r->count, 1);
	return rc;
}

int rejects_restore(struct rejects *r, struct bytes text, const char *file, uint64_t add_lines,
		    struct error *err)
{
	struct spool *s = &r->spools[0];
	json_error_t bad;
	json_int_t line;
	const char *reason;
	json_t *json = json_loadb((const char *)text.ptr, text.len, JSON_ALLOW_NUL, &bad);

	if (!json || json_unpack(json, "{s:s, s:I}", "reason", &reason, "line", &line) != 0) {
		json_decref(json);
		return error_set(err, RC_DATA, "found a line that no map wrote");
	}
	s->line.len = 0;
	json_object_set_new(json, "file", text_json(bytes_str(file)));
	json_object_set_new(json, "line", json_integer(line + (json_int_t)add_lines));
	bool ok = text_dump(&s->line, json, JSON_COMPACT);
	buf_put(&s->line, '\n');
	reasons_add(&s->reasons, reason, 1);
	uint64_t seq = atomic_fetch_add(&r->count, 1);
	json_decref(json);
	if (!ok)
		return error_set(err, RC_LIMIT, "out of memory for a rejected line of %s", file);
	return keep_line(r, 0, seq, err);
}

uint64_t rejects_count(const struct rejects *r)
{
	return atomic_load(&r->count);
}

static int by_count(const void *a, const void *b)
{
	const struct reject_reason *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->reason, y->reason);
}

/* Add up the workers' counts, once. */
static void count_reasons(struct rejects *r)
{
	if (r->counted)
		return;
	r->counted = true;
	for (unsigned i = 0; i < r->workers; i++) {
		const struct reasons *rs = &r->spools[i].reasons;

		for (size_t k = 0; k < rs->count; k++)
			reasons_add(&r->reasons, rs->item[k].reason, rs->item[k].count);
	}
	if (r->reasons.count)
		qsort(r->reasons.item, r->reasons.count, sizeof *r->reasons.item, by_count);
}

/* Open all lines in input order. */
static int open_lines(struct rejects *r, struct record_iter *lines, struct error *err)
{
	int rc = r->sorted ? RC_OK : sorter_finish(r->lines, err);

	if (rc)
		return rc;
	r->sorted = true;
	return sorter_range(r->lines, bytes_of(NULL, 0), bytes_of(NULL, 0), lines, err);
}

/* "file:line (byte N)", "file: event N in block N (byte N)" or "topic/partition at offset N", then
 * ": reason: field: detail". */
static bool line_sentence(json_t *json, struct buf *sentence)
{
	const char *reason, *detail, *file = NULL, *topic = NULL;
	json_t *field;
	json_int_t line = 0, offset, partition = 0, event = 0, block = 0;

	if (json_unpack(json, "{s:s, s:o, s:s, s:I, s?s, s?I, s?s, s?I, s?I, s?I}", "reason",
			&reason, "field", &field, "detail", &detail, "offset", &offset, "file",
			&file, "line", &line, "topic", &topic, "partition", &partition, "event",
			&event, "block", &block) != 0 ||
	    (!file && !topic))
		return false;
	const char *name = json_string_value(field);
	if (topic)
		buf_printf(sentence, "%s/%lld at offset %lld", topic, (long long)partition,
			   (long long)offset);
	else if (block)
		buf_printf(sentence, "%s: event %lld in block %lld (byte %lld)", file,
			   (long long)event, (long long)block, (long long)offset);
	else
		buf_printf(sentence, "%s:%lld (byte %lld)", file, (long long)line,
			   (long long)offset);
	buf_printf(sentence, ": %s: %s%s%s", reason, name ? name : "", name ? ": " : "", detail);
	return true;
}

static int say_line(struct bytes text, struct buf *sentence, struct error *err)
{
	json_error_t bad;
	json_t *json = json_loadb((const char *)text.ptr, text.len, JSON_ALLOW_NUL, &bad);
	int rc = RC_OK;

	if (!json || !line_sentence(json, sentence))
		rc = error_set(err, RC_IO, "the temporary file of rejected lines was damaged");
	json_decref(json);
	return rc;
}

int rejects_nth(struct rejects *r, uint64_t n, struct buf *sentence, struct error *err)
{
	struct record_iter lines;
	struct record line;

	if (n >= rejects_count(r))
		return RC_END;
	int rc = open_lines(r, &lines, err);
	if (rc)
		return rc;
	rc = lines.next(lines.self, &line, err);
	for (; rc == RC_OK && n > 0; n--)
		rc = lines.next(lines.self, &line, err);
	if (rc == RC_OK)
		rc = say_line(line.payload, sentence, err);
	lines.close(lines.self);
	return rc;
}

const struct reject_reason *rejects_by_reason(struct rejects *r, size_t *n)
{
	count_reasons(r);
	*n = r->reasons.count;
	return r->reasons.item;
}

static int write_lines(struct rejects *r, struct storage_file *o, struct error *err)
{
	struct record_iter lines;
	struct record line;
	int rc = open_lines(r, &lines, err);

	if (rc)
		return rc;
	while ((rc = lines.next(lines.self, &line, err)) == RC_OK &&
	       (rc = storage_add(o, line.payload.ptr, line.payload.len, err)) == RC_OK)
		;
	lines.close(lines.self);
	return rc == RC_END ? RC_OK : rc;
}

int rejects_write(struct rejects *r, struct storage *to, const char *path, uint8_t digest[16],
		  struct error *err)
{
	struct storage_file *o;
	int rc = storage_begin(to, &o, path, 0, err);

	if (rc)
		return rc;
	rc = write_lines(r, o, err);
	if (rc == RC_OK)
		return storage_end(o, digest, err);
	storage_abort(o);
	return rc;
}
