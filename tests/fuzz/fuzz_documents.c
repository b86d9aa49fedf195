/*
 * fuzz_documents.c - JSON in documents, lists and bulk requests gives the same events in pieces of
 * any size, and as many records as jansson finds
 *
 * The first byte chooses the form, the second byte the size of the small pieces. The rest is the
 * file.
 */
#include <jansson.h>

#include "block_events.h"

static const struct json_form forms[] = {
	{.layout = JSON_DOCUMENTS},
	{.layout = JSON_DOCUMENTS, .records = "[]"},
	{.layout = JSON_DOCUMENTS, .records = "a.l[]", .extended = true},
	{.layout = JSON_DOCUMENTS, .explode = "l[]"},
	{.layout = JSON_DOCUMENTS, .records = "a.l[]", .explode = "m.l[]", .unwrap = "m"},
	{.layout = JSON_BULK, .hex_escapes = true},
	{.layout = JSON_LINES, .explode = "l[]", .extended = true},
	{.layout = JSON_LINES, .unwrap = "m", .hex_escapes = true},
};

enum { FORMS = sizeof forms / sizeof *forms };

/* --- jansson as a second reader --- */

struct counted {
	const struct json_form *form;
	uint64_t records;
	bool fault;
};

static void count_document(struct counted *c, const json_t *document)
{
	const json_t *list = document;

	if (!c->form->records && !json_is_array(document)) {
		c->records++;
		return;
	}
	if (c->form->records && strcmp(c->form->records, "a.l[]") == 0)
		list = json_object_get(json_object_get(document, "a"), "l");
	c->fault = c->fault || !json_is_array(list);
	c->records += json_array_size(list);
}

/*
 * Returns false if jansson refuses the file, or may compare keys in another way (escapes), so it is
 * no second reader of the file.
 */
static bool count_records(struct counted *c, struct bytes file)
{
	const size_t how =
		JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
	const char *p = (const char *)file.ptr, *end = p + file.len;

	if (memmem(p, file.len, "\\u", 2))
		return false;
	for (;;) {
		json_error_t e;

		while (p < end && strchr(" \t\r\n", *p) && *p)
			p++;
		if (p == end)
			return true;
		json_t *document = json_loadb(p, (size_t)(end - p), how, &e);
		if (!document)
			return false;
		/* saltmill needs a space after a number or a word */
		bool bare = !json_is_array(document) && !json_is_object(document);
		count_document(c, document);
		json_decref(document);
		p += e.position;
		if (bare && p < end && !strchr(" \t\r\n", *p))
			return false;
	}
}

/* --- counting the events --- */

static int count_event(void *ctx, const struct event *e, struct reject *why)
{
	(void)e, (void)why;
	++*(uint64_t *)ctx;
	return RC_OK;
}

static int count_reject(void *ctx, const struct rejected *r, struct error *err)
{
	(void)r, (void)err;
	++*(uint64_t *)ctx;
	return RC_OK;
}

static uint64_t events_in(const struct job *job, struct bytes file)
{
	char path[64];
	const char *name = path;
	const struct input input = {.files = &name, .nfiles = 1};
	struct source_options options = {.job = job, .input = &input, .piece_bytes = 100};
	uint64_t n = 0;
	struct source_sink sink = {.ctx = &n, .event = count_event, .reject = count_reject};
	struct source *source;
	struct error err;
	int fd = memory_file(file, path), rc = source_open(&source, &options, &err);

	if (rc == RC_OK) {
		struct source_worker *w = source_worker_new(source);

		while ((rc = source_work(w, &sink, &err)) == RC_OK)
			;
		source_worker_free(w);
		source_close(source);
	}
	close(fd);
	return rc == RC_END ? n : UINT64_MAX;
}

static void compare(const struct job *job, struct bytes file)
{
	struct counted c = {.form = &job->csv.json};
	bool several = c.form->layout != JSON_DOCUMENTS || c.form->explode;

	if (several || !count_records(&c, file))
		return;
	uint64_t events = events_in(job, file);
	if (events == (c.fault ? UINT64_MAX : c.records))
		return;
	fprintf(stderr, "%llu events, %llu records, fault %d\n", (unsigned long long)events,
		(unsigned long long)c.records, c.fault);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *names[] = {"id", "v.x", "l[0]", "l[].i", "m.l[].i", "_op", "_id"};

	enum { N = sizeof names / sizeof *names };
	struct field fields[N] = {0};
	struct job job = {.path = "job",
			  .source = SOURCE_JSON,
			  .kafka = {.format = KAFKA_JSON},
			  .csv = {.delimiter = ',', .quote = '"', .max_row_bytes = BLOCK_MOST},
			  .fields = fields};

	if (size < 2)
		return 0;
	job.csv.json = forms[data[0] % FORMS];
	const char *explode = job.csv.json.explode;
	for (size_t i = 0; i < N; i++) {
		/* a path through the list is a path only with its `explode` */
		if (strstr(names[i], "[]") &&
		    (!explode || strncmp(names[i], explode, strlen(explode)) != 0))
			continue;
		fields[job.nfields++] =
			(struct field){.name = names[i], .columns = &names[i], .ncolumns = 1};
	}
	const struct bytes file = bytes_of(data + 2, size - 2);
	same_in_pieces(&job, 1 + data[1], file);
	compare(&job, file);
	return 0;
}
