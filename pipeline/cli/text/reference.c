/* reference.c - prints the keys of the job file as pages (reference.h) */
#include "cli/reference.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "mem.h"

/* --- for a terminal --- */

static void line(struct buf *out, unsigned indent, const char *before, const char *text)
{
	buf_printf(out, "%*s%s%s\n", (int)indent, "", before, text);
}

static void see_key(struct buf *out, const struct job_key *k, unsigned indent)
{
	line(out, indent, "", k->sentence);
	line(out, indent, k->required ? "required; " : "", k->form);
	if (k->standard)
		line(out, indent, "default: ", k->standard);
	line(out, indent, "example: ", k->example);
}

static void see_line(void *ctx, const struct job_key *k)
{
	unsigned indent = 2 * k->depth;

	buf_printf(ctx, "%*s%s\n", (int)indent, "", k->name);
	see_key(ctx, k, indent + 8);
}

void reference_text(struct buf *out)
{
	buf_append_str(out, "The job file is YAML with these keys.\n\n");
	job_words(see_line, out);
}

struct reference_search {
	struct buf *out;
	const char *name;
	size_t found;
};

static bool ends_so(const char *path, const char *name)
{
	size_t len = strlen(path), n = strlen(name);

	if (n > len || strcmp(path + len - n, name) != 0)
		return false;
	return n == len || path[len - n - 1] == '.';
}

static void see_match(void *ctx, const struct job_key *k)
{
	struct reference_search *s = ctx;

	if (!ends_so(k->path, s->name))
		return;
	buf_printf(s->out, "%s%s (%s)\n", s->found ? "\n" : "", k->path, k->of);
	see_key(s->out, k, 8);
	s->found++;
}

size_t reference_key(struct buf *out, const char *name)
{
	struct reference_search s = {.out = out, .name = name};

	job_words(see_match, &s);
	return s.found;
}

struct key_names {
	const char *wanted;
	char *near;
};

static void see_near(void *ctx, const struct job_key *k)
{
	struct key_names *s = ctx;

	const char *const both[] = {k->name, s->near};
	const char *near = near_miss(s->wanted, both, s->near ? 2 : 1);

	if (near != k->name)
		return;
	mem_free(s->near);
	s->near = mem_strdup(k->name);
}

char *reference_near(const char *name)
{
	struct key_names s = {.wanted = name};

	job_words(see_near, &s);
	return s.near;
}

/* --- pages: the keys of one mapping in one table --- */

struct kept_reference {
	char *path, *name, *of, *form, *standard, *sentence, *example;
	bool required, told;
};

struct pages {
	struct arena arena;
	struct kept_reference *key;
	size_t n;
};

static void keep(void *ctx, const struct job_key *k)
{
	struct pages *p = ctx;

	p->key = mem_grow(p->key, p->n, sizeof *p->key);
	p->key[p->n++] = (struct kept_reference){
		.path = arena_strdup(&p->arena, k->path),
		.name = arena_strdup(&p->arena, k->name),
		.of = arena_strdup(&p->arena, k->of),
		.form = arena_strdup(&p->arena, k->form),
		.standard = k->standard ? arena_strdup(&p->arena, k->standard) : NULL,
		.sentence = arena_strdup(&p->arena, k->sentence),
		.example = arena_strdup(&p->arena, k->example),
		.required = k->required,
	};
}

static void release(struct pages *p)
{
	mem_free(p->key);
	arena_release(&p->arena);
}

static size_t parent_length(const struct kept_reference *k)
{
	size_t len = strlen(k->path), own = strlen(k->name);

	return len > own ? len - own - 1 : 0;
}

/*
 * Returns true if two keys belong to the same mapping. Such keys have the same parent path and kind
 * of part.
 */
static bool beside(const struct kept_reference *a, const struct kept_reference *b)
{
	size_t len = parent_length(a);

	return len == parent_length(b) && strncmp(a->path, b->path, len) == 0 &&
	       strcmp(a->of, b->of) == 0;
}

/* Appends the text of a table cell. */
static void append_cell(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_printf(out, *text == '|' ? "\\%c" : "%c", *text);
}

static void append_code(struct buf *out, const char *text)
{
	buf_append_str(out, "`");
	append_cell(out, text);
	buf_append_str(out, "`");
}

static void append_row(struct buf *out, const struct kept_reference *k)
{
	buf_printf(out, "| `%s` | ", k->name);
	append_cell(out, k->sentence);
	buf_append_str(out, " | ");
	append_cell(out, k->form);
	buf_append_str(out, " | ");
	if (k->required)
		buf_append_str(out, "required");
	else if (k->standard)
		append_code(out, k->standard);
	buf_append_str(out, " | ");
	append_code(out, k->example);
	buf_append_str(out, " |\n");
}

static void append_group(struct buf *out, struct pages *p, size_t first)
{
	const struct kept_reference *k = &p->key[first];
	size_t len = parent_length(k);

	if (len)
		buf_printf(out, "\n## %s: `%.*s`\n\n", k->of, (int)len, k->path);
	else
		buf_append_str(out, "\n## The file\n\n");
	buf_append_str(out, "| key | what | value | default | example |\n|---|---|---|---|---|\n");
	for (size_t i = first; i < p->n; i++)
		if (!p->key[i].told && beside(k, &p->key[i])) {
			append_row(out, &p->key[i]);
			p->key[i].told = true;
		}
}

void reference_markdown(struct buf *out)
{
	struct pages p = {0};

	buf_append_str(
		out,
		"# The job file\n\nThis page lists every key of a job file. `saltmill help job "
		"--format markdown` prints it, and\n`make check` compares the two. `saltmill help "
		"KEY` explains one key. `saltmill help job --format\njson-schema` prints a schema "
		"for editors (yaml-language-server). The jobs in this folder are\nexamples. The "
		"comment at the head of each job lists queries that its row keys support.\n\nIn a "
		"path, `[]` is an item of a list, and `NAME` is any name.\n");
	job_words(keep, &p);
	for (size_t i = 0; i < p.n; i++)
		if (!p.key[i].told)
			append_group(out, &p, i);
	release(&p);
}

void reference_roff(struct buf *out, const char *text)
{
	bool begins = true;

	for (; *text; text++) {
		if (begins && (*text == '.' || *text == '\''))
			buf_append_str(out, "\\&");
		begins = *text == '\n';
		switch (*text) {
		case '\\': buf_append_str(out, "\\e"); break;
		case '-': buf_append_str(out, "\\-"); break;
		case '`': buf_append_str(out, "\\(ga"); break;
		case '^': buf_append_str(out, "\\(ha"); break;
		case '~': buf_append_str(out, "\\(ti"); break;
		case '\'': buf_append_str(out, "\\(aq"); break;
		default: buf_append(out, text, 1); break;
		}
	}
}

static void see_roff(void *ctx, const struct job_key *k)
{
	struct buf *out = ctx;

	buf_append_str(out, ".TP\n.B ");
	reference_roff(out, k->path);
	buf_append_str(out, "\n");
	reference_roff(out, k->sentence);
	buf_append_str(out, ".\n.br\n");
	reference_roff(out, k->required ? "Required; " : "");
	reference_roff(out, k->form);
	if (k->standard) {
		buf_append_str(out, "; default ");
		reference_roff(out, k->standard);
	}
	buf_append_str(out, ".\n.br\nExample: ");
	reference_roff(out, k->example);
	buf_append_str(out, "\n");
}

void reference_man(struct buf *out)
{
	buf_append_str(out, ".TH SALTMILL\\-JOB 5 \"\" saltmill\n.SH NAME\nsaltmill\\-job \\- the "
			    "job file of saltmill\n.SH DESCRIPTION\nA job file is YAML. It names "
			    "the input, describes the fields of an event, and lists the tables.\n"
			    "In a path, [] is an item of a list, and NAME is "
			    "any name.\n.SH KEYS\n");
	job_words(see_roff, out);
	buf_append_str(out, ".SH SEE ALSO\n.BR saltmill (1)\n");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct kept_reference *)a)->name,
		      ((const struct kept_reference *)b)->name);
}

void reference_names(struct buf *out)
{
	struct pages p = {0};

	job_words(keep, &p);
	qsort(p.key, p.n, sizeof *p.key, by_name);
	for (size_t i = 0; i < p.n; i++)
		if (i == 0 || strcmp(p.key[i].name, p.key[i - 1].name) != 0)
			buf_printf(out, "%s\n", p.key[i].name);
	release(&p);
}
