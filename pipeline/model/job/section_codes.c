/*
 * The codes of a field's names, and the numbers of visibility labels. The job has them in a mapping,
 * or in a file with one NAME,CODE in each line.
 */
#include "sections.h"

#include "io.h"
#include "bytes.h"

#define LARGEST_CODES (64u << 20)

static int check_twice(struct reader *r, struct pos at, const char *what, struct codes *c)
{
	const bool labels = strcmp(what, "labels") == 0;
	struct code twice;
	bool same_name;

	if (codes_sort(c, &r->job->arena, &twice, &same_name))
		return RC_OK;
	if (same_name)
		return fault(r, at, "%s: found the name `%.*s` twice, expected it once", what,
			     (int)(twice.name.len < 60 ? twice.name.len : 60),
			     (const char *)twice.name.ptr);
	return fault(r, at,
		     "%s: found the %s %u twice, the second time for `%.*s`, expected another %s",
		     what, labels ? "number" : "code", twice.code,
		     (int)(twice.name.len < 60 ? twice.name.len : 60), (const char *)twice.name.ptr,
		     labels ? "number" : "code, because two names would have one key");
}

static int read_inline(struct reader *r, const struct node *n, const char *what, struct codes *c)
{
	const struct key number = {.name = what, .read = read_number, .max = UINT32_MAX};

	for (size_t i = 0; i < n->count; i++) {
		const struct node *name = n->keys[i];
		uint32_t code;
		int rc = read_number(r, n->items[i], &number, &code);

		if (rc)
			return rc;
		codes_add(c, &r->job->arena, bytes_of(name->text, name->len), code);
	}
	return RC_OK;
}

/* Split at the last comma, because a name may contain commas. */
static bool take_line(struct reader *r, struct bytes line, struct codes *c)
{
	uint64_t code = 0;
	size_t digits = 0;
	const uint8_t *comma = line.len ? memrchr(line.ptr, ',', line.len) : NULL;

	if (!comma)
		return false;
	for (const uint8_t *p = comma + 1; p < line.ptr + line.len; p++, digits++) {
		if (*p < '0' || *p > '9' || code > UINT32_MAX)
			return false;
		code = code * 10 + (uint64_t)(*p - '0');
	}
	size_t len = (size_t)(comma - line.ptr);
	const char *name = arena_strndup(&r->job->arena, line.ptr, len);
	codes_add(c, &r->job->arena, bytes_of(name, len), (uint32_t)code);
	return digits && code <= UINT32_MAX;
}

static int take_lines(struct reader *r, struct pos at, const char *what, const char *path,
		      struct bytes text, struct codes *c)
{
	size_t number = 1;

	for (size_t from = 0; from < text.len; number++) {
		const uint8_t *p = text.ptr + from;
		const uint8_t *end = memchr(p, '\n', text.len - from);
		size_t len = end ? (size_t)(end - p) : text.len - from;

		from += len + 1;
		len -= len && p[len - 1] == '\r';
		if (len && !take_line(r, bytes_of(p, len), c))
			return fault(
				r, at,
				"%s: %s:%zu: found another form, expected NAME,CODE with a whole number up to "
				"4294967295",
				what, path, number);
	}
	return RC_OK;
}

static int read_code_file(struct reader *r, const struct node *n, const struct key *key,
			  struct codes *c)
{
	const char *name;
	struct buf text = {0};
	int rc = read_text(r, n, key, &name);

	if (rc)
		return rc;
	const char *path = job_path(r->job, name);
	if (io_read_file_upto(path, LARGEST_CODES, &text, r->err)) {
		error_prefix(r->err, "%s:%u:%u: %s: ", r->job->path, n->pos.line, n->pos.column,
			     key->name);
		rc = r->err->code = RC_CONFIG;
	}
	if (rc == RC_OK)
		rc = take_lines(r, n->pos, key->name, path, buf_bytes(&text), c);
	if (rc == RC_OK)
		job_digest_add(r->job, buf_bytes(&text));
	buf_release(&text);
	return rc;
}

static int read_numbers(struct reader *r, const struct node *n, const struct key *key,
			const struct codes **out)
{
	struct codes *c = arena_alloc(&r->job->arena, sizeof *c);
	int rc = n->kind == NODE_MAPPING  ? read_inline(r, n, key->name, c)
		 : n->kind == NODE_SCALAR ? read_code_file(r, n, key, c)
					  : expected(r, n, key->name, "{NAME: 1, …}, or a file");

	if (rc)
		return rc;
	if (c->n == 0)
		return fault(r, n->pos, "%s: found no name, expected NAME and CODE", key->name);
	*out = c;
	return check_twice(r, n->pos, key->name, c);
}

int read_codes(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	return read_numbers(r, n, key, &((struct field *)slot)->codes);
}

int read_labels(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct job *job = slot;
	int rc = read_numbers(r, n, key, &job->labels);

	for (size_t i = 0; rc == RC_OK && i < job->labels->n; i++) {
		const struct code *l = &job->labels->by_name[i];

		if (l->code == 0 || l->code > INT32_MAX)
			rc = fault(
				r, n->pos,
				"labels: found the number %u for `%.*s`, expected 1 to 2147483647",
				l->code, (int)(l->name.len < 60 ? l->name.len : 60),
				(const char *)l->name.ptr);
	}
	return rc;
}

int read_unknown(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct field *f = slot;
	const char *name;
	int rc = read_text(r, n, key, &name);

	if (rc)
		return rc;
	if (!f->codes) /* check_codes reports it */
		return RC_OK;
	if (!codes_find(f->codes, bytes_str(name), &f->unknown))
		return fault(
			r, n->pos,
			"unknown: found `%.60s`, expected one of the names under `codes`, because all unknown names get the code of this name",
			name);
	f->has_unknown = true;
	return RC_OK;
}
