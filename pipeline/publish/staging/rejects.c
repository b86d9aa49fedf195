/*
 * rejects.c - keep rejected events until the load ends, and write them in input order
 *
 * Each worker adds finished JSON lines to a sorter, under the event's seq. The sorter keeps some
 * lines in memory and the others in unlinked temporary files. The sorter returns all lines in input
 * order, so rejects.jsonl does not depend on the number of threads.
 *
 * saltmill writes a finished line without parsing. It parses again only the few lines that go into
 * messages (rejects_nth).
 */
#include "publish.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "io.h"
#include "job.h"
#include "mem.h"
#include "run.h"
#include "sorter.h"

enum {
	MEMORY_BYTES = 4 << 20,
	RUN_BYTES = 512 << 10,
	LINE_KEPT = 64 << 10,
	MAX_WORKERS = 1 << 16,
	KEY_BYTES = 9
};

struct reasons {
	struct reject_reason *item;
	size_t count;
	struct arena names;
};

struct spool {
	struct buf line; /* the last line */
	struct reasons reasons;
};

struct rejects {
	struct budget budget;
	struct sorter *lines;
	struct spool *spools;
	unsigned workers;
	_Atomic uint64_t count, uncovered; /* all rejects, and those that no `max_share` covers */
	const struct job *job;		   /* the job whose fields have `max_share`; may be NULL */
	_Atomic uint64_t *broken;	   /* by field: events that `max_share` covers */
	bool sorted, counted;		   /* set after the workers end */
	struct reasons reasons;
};

/*
 * Check that the folder accepts files. The sorter would notice a problem only when memory is full.
 */
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
	mem_free(r->broken);
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
		rs->item = mem_grow(rs->item, rs->count, sizeof *rs->item);
		rs->item[rs->count++] =
			(struct reject_reason){.reason = arena_strdup(&rs->names, reason)};
	}
	rs->item[i].count += count;
}

static const struct form_member reject_members[] = {
	{"reason", FORM_TEXT, IN(reject_view, reason),
	 "word for the reason: bad_number, null_value, too_long..."},
	{"field", FORM_TEXT, IN(reject_view, field),
	 "field of the job; null means that the whole event is bad", FORM_OR_NULL},
	{"topic", FORM_TEXT, IN(reject_view, topic), "Kafka: topic of the message", FORM_IF_ANY},
	{"partition", FORM_INT32, IN(reject_view, partition), "Kafka: partition of the message",
	 FORM_IF, IF(reject_view, of_topic)},
	{"file", FORM_TEXT, IN(reject_view, file), "file of the event", FORM_IF_ANY},
	{"line", FORM_COUNT, IN(reject_view, line), "line of the event, from 1", FORM_IF,
	 IF(reject_view, is_line)},
	{"event", FORM_COUNT, IN(reject_view, event),
	 "number of the event in its block, from 1, if the file has blocks", FORM_IF_ANY},
	{"block", FORM_COUNT, IN(reject_view, block), "number of the event's block, from 1",
	 FORM_IF_ANY},
	{"offset", FORM_INT, IN(reject_view, offset),
	 "byte in the decompressed file or block, or offset of the message"},
	{"timestamp", FORM_INT, IN(reject_view, timestamp),
	 "Kafka: timestamp of the message, in ms since 1970", FORM_IF, IF(reject_view, has_time)},
	{"key", FORM_BASE64, IN(reject_view, key), "Kafka: key of the message", FORM_IF,
	 IF(reject_view, of_topic)},
	{"headers", FORM_LIST, IN(reject_view, headers), "Kafka: headers of the message",
	 FORM_IF_ANY, ITEMS(reject_view, message_header_form, nheaders)},
	{"detail", FORM_TEXT, IN(reject_view, detail), "found value and expected value"},
	{"raw", FORM_BASE64, IN(reject_view, raw),
	 "unchanged event; null means a message without a value"},
};
const struct form reject_form =
	NAMED_FORM(reject_view, reject_members, "rejects", "a line of rejects.jsonl");

static struct reject_view view_of(const struct reject_line *l)
{
	const struct message *m = l->message;
	struct reject_view v = {.reason = l->why->reason,
				.field = l->why->field,
				.detail = l->why->detail};

	if (m) {
		v.of_topic = true;
		v.topic = m->topic;
		v.partition = m->partition;
		v.offset = m->offset;
		v.has_time = m->timestamp_ms >= 0;
		v.timestamp = m->timestamp_ms;
		v.key = m->key;
		v.headers = m->headers;
		v.nheaders = m->nheaders;
		v.raw = l->raw;
		return v;
	}
	v.file = l->file;
	v.is_line = !l->block;
	v.line = l->line;
	v.event = l->block ? l->line : 0;
	v.block = l->block;
	v.offset = (int64_t)l->offset;
	v.raw = l->raw.ptr ? l->raw : bytes_str("");
	return v;
}

static int read_line(struct reject_view *v, struct bytes text, struct arena *a, struct error *err)
{
	*v = (struct reject_view){0};
	return form_parse(&reject_form, v, text, "rejects.jsonl", "a rejected event", a, err);
}

void rejects_tolerate(struct rejects *r, const struct job *job)
{
	r->job = job;
	r->broken = mem_calloc(job->nfields + 1, sizeof *r->broken);
}

/* Count a reject. Return true if `max_share` of a field covers it. */
static bool is_covered(struct rejects *r, const struct reject_view *v)
{
	const struct field *f = r->job ? job_tolerates(r->job, v->reason, v->field) : NULL;

	if (!f) {
		atomic_fetch_add(&r->uncovered, 1);
		return false;
	}
	atomic_fetch_add(&r->broken[f - r->job->fields], 1);
	return true;
}

uint64_t rejects_counted(const struct rejects *r)
{
	return atomic_load(&r->uncovered);
}

int rejects_check_shares(const struct rejects *r, uint64_t events, struct error *err)
{
	for (size_t i = 0; r->job && i < r->job->nfields; i++) {
		const struct field *f = &r->job->fields[i];
		uint64_t broken = atomic_load(&r->broken[i]);

		if (f->has_share &&
		    broken > event_limit_of(&(struct event_limit){.share = f->max_share,
								  .is_share = true},
					    events))
			return error_set(err, RC_DATA,
					 "field `%.60s`: found %" PRIu64 " of %" PRIu64
					 " events (%.3g%%) that break `expect`, expected at most "
					 "%.6g%% (max_share); saltmill published nothing",
					 f->name, broken, events,
					 100 * (double)broken / (double)events, 100 * f->max_share);
	}
	return RC_OK;
}

/* Add the line to the sorter. The last byte of the key is 1 if `max_share` covers the reject. */
static int keep_line(struct rejects *r, unsigned worker, uint64_t seq, bool covered,
		     struct error *err)
{
	struct spool *s = &r->spools[worker];
	uint8_t key[KEY_BYTES];

	put_be64(key, seq);
	key[KEY_BYTES - 1] = covered;
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
	struct reject_view v = view_of(l);

	s->line.len = 0;
	form_put(&s->line, &reject_form, &v, FORM_FILE_LINE);
	int rc = keep_line(r, worker, l->seq, is_covered(r, &v), err);
	reasons_add(&s->reasons, l->why->reason, 1);
	atomic_fetch_add(&r->count, 1);
	return rc;
}

int rejects_restore(struct rejects *r, struct bytes text, const char *file, uint64_t add_lines,
		    struct error *err)
{
	struct spool *s = &r->spools[0];
	struct reject_view v;
	struct arena a = {0};
	int rc = read_line(&v, text, &a, err);

	if (rc || !v.file || (!v.is_line && !v.block)) {
		arena_release(&a);
		return error_set(err, RC_DATA, "found another line, expected a reject of a map");
	}
	v.file = file;
	v.line += v.is_line ? add_lines : 0;
	s->line.len = 0;
	form_put(&s->line, &reject_form, &v, FORM_FILE_LINE);
	reasons_add(&s->reasons, v.reason, 1);
	bool covered = is_covered(r, &v);
	arena_release(&a);
	return keep_line(r, 0, atomic_fetch_add(&r->count, 1), covered, err);
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

/* Add up the workers' counts. Later calls do nothing. */
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

/*
 * Append a sentence about a reject. The sentence begins with "file:line (byte N)", "file: event N
 * in block N (byte N)" or "topic/partition at offset N", and continues with ": reason: field:
 * detail".
 */
static void put_sentence(struct buf *out, const struct reject_view *v)
{
	if (v->topic)
		buf_printf(out, "%s/%d at offset %" PRId64, v->topic, v->partition, v->offset);
	else if (v->block)
		buf_printf(out, "%s: event %" PRIu64 " in block %" PRIu64 " (byte %" PRId64 ")",
			   v->file, v->event, v->block, v->offset);
	else
		buf_printf(out, "%s:%" PRIu64 " (byte %" PRId64 ")", v->file, v->line, v->offset);
	buf_printf(out, ": %s: %s%s%s", v->reason, v->field ? v->field : "", v->field ? ": " : "",
		   v->detail);
}

static int describe_line(struct bytes text, struct buf *sentence, struct error *err)
{
	struct reject_view v;
	struct arena a = {0};
	int rc = read_line(&v, text, &a, err);

	if (rc == RC_OK && (v.file || v.topic))
		put_sentence(sentence, &v);
	else
		rc = error_set(
			err, RC_IO,
			"found a damaged temporary file of rejected lines; check the disk, and "
			"run the command again");
	arena_release(&a);
	return rc;
}

int rejects_nth(struct rejects *r, uint64_t n, struct buf *sentence, struct error *err)
{
	struct record_iter lines;
	struct record line;
	bool covered;

	if (n >= rejects_counted(r))
		return RC_END;
	int rc = open_lines(r, &lines, err);
	if (rc)
		return rc;
	do {
		rc = lines.next(lines.self, &line, err);
		covered = rc == RC_OK && line.key.ptr[KEY_BYTES - 1];
	} while (rc == RC_OK && (covered || n-- > 0));
	if (rc == RC_OK)
		rc = describe_line(line.payload, sentence, err);
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
