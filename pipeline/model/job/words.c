/* words.c - the tables of keys as documentation (job_words.h) */
#include "job.h"

#include "sections.h"

struct schema_walk {
	void (*see)(void *ctx, const struct job_key *key);
	void *ctx;
	struct buf path, form; /* `path` ends with a NUL only in calls of see() */
	const struct schema *seen[64];
	size_t nseen;
};

static const char *const simple_forms[] = {
	[FORM_UNSAID] = "",
	[FORM_TEXT] = "a text",
	[FORM_TEXTS] = "a text, or a list of texts",
	[FORM_NUMBERS] = "a list of whole numbers",
	[FORM_SIZE] = "a size like 64K, 256M, 10G",
	[FORM_DURATION] = "a time like 90s, 15m, 24h, 30d, or forever",
	[FORM_BOOL] = "true or false",
	[FORM_BYTE] = "one byte: a character or '\\xHH'",
	[FORM_SIGN] = "one character",
	[FORM_ESCAPED] = "a text, with '\\xHH' for any byte",
	[FORM_HEX] = "pairs of hex digits",
	[FORM_QUESTION] = "a condition on fields, as in `key ranges --where`",
	[FORM_FIELD] = "the name of a field",
	[FORM_FIELDS] = "the names of fields",
	[FORM_TABLE] = "the name of a table listed above this one",
	[FORM_CODES] = "a mapping of names to values, or a file's path",
	[FORM_ATTRIBUTE] = "a value as in HBase",
	[FORM_PROPERTIES] = "a mapping of names to values",
	[FORM_MAPPING] = "a mapping",
	[FORM_NAMED] = "a mapping, by name",
	[FORM_LIST] = "a list",
	[FORM_EITHER] = "a text, or a mapping",
	[FORM_CHOICE] = "",
};

static void append_names(struct buf *out, const char *(*name)(const void *of, size_t i),
			 const void *of, size_t n)
{
	buf_append_str(out, "one of ");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s%s", i ? ", " : "", name(of, i));
}

static const char *word_of_choice(const void *of, size_t i)
{
	return ((const struct key *)of)->choices[i].name;
}

static const char *word_of_type(const void *of, size_t i)
{
	(void)of;
	return field_type_name((enum field_type)i);
}

static const char *word_of_encoding(const void *of, size_t i)
{
	(void)of;
	return encodings[i].name;
}

static void append_form(struct buf *out, const struct key *k)
{
	uint64_t max = k->max ? k->max : UINT32_MAX;

	switch (k->words.form) {
	case FORM_CHOICE:
		if (k->nchoices)
			append_names(out, word_of_choice, k, k->nchoices);
		else
			buf_append_str(out, "one word");
		break;
	case FORM_TYPE: append_names(out, word_of_type, NULL, FIELD_TYPES); break;
	case FORM_ENCODING: append_names(out, word_of_encoding, NULL, ENCODINGS); break;
	case FORM_NUMBER:
		buf_printf(out, "a whole number from %llu to %llu", (unsigned long long)k->min,
			   (unsigned long long)max);
		break;
	case FORM_RATIO:
		buf_printf(out, "a number from %llu to %llu", (unsigned long long)k->min,
			   (unsigned long long)max);
		break;
	case FORM_LEVEL:
		buf_printf(out, "auto, or a whole number from %llu to %llu",
			   (unsigned long long)k->min, (unsigned long long)max);
		break;
	case FORM_UNSAID:
	case FORM_TEXT:
	case FORM_TEXTS:
	case FORM_NUMBERS:
	case FORM_SIZE:
	case FORM_DURATION:
	case FORM_BOOL:
	case FORM_BYTE:
	case FORM_SIGN:
	case FORM_ESCAPED:
	case FORM_HEX:
	case FORM_QUESTION:
	case FORM_FIELD:
	case FORM_FIELDS:
	case FORM_TABLE:
	case FORM_CODES:
	case FORM_ATTRIBUTE:
	case FORM_PROPERTIES:
	case FORM_MAPPING:
	case FORM_NAMED:
	case FORM_LIST:
	case FORM_EITHER: buf_append_str(out, simple_forms[k->words.form]); break;
	}
}

/* Return true if this is the first call for the schema. */
static bool take(struct schema_walk *w, const struct schema *s)
{
	for (size_t i = 0; i < w->nseen; i++)
		if (w->seen[i] == s)
			return false;
	if (w->nseen < sizeof w->seen / sizeof w->seen[0])
		w->seen[w->nseen++] = s;
	return true;
}

static void walk_schema(struct schema_walk *w, const struct schema *s, unsigned depth);

static void walk_key(struct schema_walk *w, const struct schema *s, const struct key *k,
		     unsigned depth)
{
	size_t path = w->path.len;

	buf_printf(&w->path, "%s%s", path ? "." : "", k->name);
	size_t end = w->path.len;
	buf_append(&w->path, "", 1);
	w->form.len = 0;
	append_form(&w->form, k);
	buf_append(&w->form, "", 1);
	const struct job_key told = {.path = (const char *)w->path.ptr,
				     .name = k->name,
				     .of = s->what,
				     .form = (const char *)w->form.ptr,
				     .standard = k->words.standard,
				     .sentence = k->words.sentence,
				     .example = k->words.example,
				     .depth = depth,
				     .required = k->required};
	w->see(w->ctx, &told);
	w->path.len = end;
	if (k->words.form == FORM_LIST)
		buf_append_str(&w->path, "[]");
	if (k->words.form == FORM_NAMED || k->words.form == FORM_PROPERTIES)
		buf_append_str(&w->path, ".NAME");
	for (const struct schema *const *i = k->inner; i && *i; i++)
		if (take(w, *i))
			walk_schema(w, *i, depth + 1);
	w->path.len = path;
}

static void walk_schema(struct schema_walk *w, const struct schema *s, unsigned depth)
{
	for (size_t i = 0; i < s->nkeys; i++)
		walk_key(w, s, &s->keys[i], depth);
}

void job_words(void (*see)(void *ctx, const struct job_key *key), void *ctx)
{
	struct schema_walk w = {.see = see, .ctx = ctx};

	walk_schema(&w, &job_schema, 0);
	buf_release(&w.path);
	buf_release(&w.form);
}
