/*
 * fuzz_field.c - checks that any text in any type gives an error, or a value that survives printing
 * and reading
 *
 * The first byte chooses the type.
 */
#include "memory_file.h"

#include "field.h"
#include "pattern.h"

static const char *const formats[] = {
	"iso8601",	  "%Y-%m-%d %H:%M:%S",	"%d/%b/%Y:%H:%M:%S %z",
	"%a %b %e %T %Y", "%y%j%H%M",		"%s.%f",
	"%D %r",	  "%A, %d %B %Y %k:%M", "%Y%m%d%H%M%S%f",
	"%l%p %F",	  "%b %d %T",		"%F %T %Z"};
#define FORMATS (sizeof formats / sizeof *formats)
static const enum time_unit units[] = {TIME_S, TIME_MS, TIME_US, TIME_NS};
static const char *const signs[][2] = {{NULL, NULL}, {",", "."}, {NULL, "'"}, {",", "\u202f"}};

static void read_as(const struct field *f, const struct job *job, struct bytes text,
		    locale_t locale, struct value *v, bool must)
{
	struct arena a = {0};
	struct field_form form;
	struct field_scratch s = {.has_file_day = true, .file_day = 20000};
	struct error err;
	struct reject why = {0};

	*v = (struct value){.text = text};
	if (field_form_init(&form, &a, job, f, locale, &err))
		abort();
	int rc = field_read(&form, v, &s, &why);
	if (rc && (must || !why.reason || !memchr(why.detail, 0, sizeof why.detail) ||
		   !strstr(why.detail, "expected")))
		abort();
	v->text.ptr = rc ? NULL : text.ptr; /* free the text of the value */
	field_scratch_release(&s);
	arena_release(&a);
}

/* Return the type of the text that field_text writes. */
static struct field plain(const struct field *f)
{
	struct field p = {.name = f->name, .type = f->type, .scale = f->scale};

	p.format = f->type == FIELD_TIME ? TIME_ISO8601 : NULL;
	return p;
}

static struct field choose(uint8_t c)
{
	struct field f = {.name = "f", .type = FIELD_TIME};

	if (c < 2 * FORMATS) {
		f.format = formats[c % FORMATS];
		f.year_rule = YEAR_OF_FILE;
	} else if (c % 4 == 0) {
		f.unit = units[c / 4 % 4];
	} else {
		f.type = c % 4 == 1   ? FIELD_DECIMAL
			 : c % 4 == 2 ? FIELD_F64
			 : c % 8 == 3 ? FIELD_I64
				      : FIELD_U64;
		f.scale = c % 4 == 1 ? c / 8 % 19 : 0;
	}
	return f;
}

static void expect_back(const struct field *f, const struct value *v, locale_t locale)
{
	struct job none = {0};
	struct field p = plain(f);
	struct buf text = {0};
	struct value again;
	bool of_four_digits = f->type != FIELD_TIME || ((int64_t)v->u >= INT64_C(-62167219200000) &&
							(int64_t)v->u <= TIME_LAST_MS);

	field_text(f, v, &text);
	if (of_four_digits) {
		read_as(&p, &none, buf_bytes(&text), locale, &again, true);
		if (again.u != v->u)
			abort();
	}
	buf_release(&text);
}

static void match(struct bytes pattern, struct bytes text)
{
	struct arena a = {0};
	struct pattern *p;
	struct pattern_scratch s = {0};
	struct error err;
	struct bytes found;
	char *copy = strndup((const char *)pattern.ptr, pattern.len);
	int rc = pattern_new(&p, &a, copy, &err);

	expect_sentence(rc, &err);
	if (rc == RC_OK && pattern_find(p, &s, text, &found) == PATTERN_FOUND &&
	    (found.len > text.len ||
	     (found.len && (found.ptr < text.ptr || found.ptr + found.len > text.ptr + text.len))))
		abort();
	pattern_scratch_release(&s);
	arena_release(&a);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);

	if (size < 1)
		return 0;
	struct job job = {0};
	job.csv.decimal = signs[data[0] / 64][0];
	job.csv.thousands = signs[data[0] / 64][1];
	struct field f = choose(data[0]);
	struct bytes text = bytes_of(data + 1, size - 1);
	struct value v;
	int64_t day;
	char *name = strndup((const char *)text.ptr, text.len);
	if (field_day_of(name, &day) && (day < -25567 || day > 84005)) /* 1900 to 2199 */
		abort();
	free(name);
	const uint8_t *bar = memchr(text.ptr, '|', text.len);
	if (bar && size < 200)
		match(bytes_of(text.ptr, (size_t)(bar - text.ptr)),
		      bytes_of(bar + 1, (size_t)(text.ptr + text.len - bar - 1)));
	read_as(&f, &job, text, locale, &v, false);
	if (v.text.ptr && text.len)
		expect_back(&f, &v, locale);
	freelocale(locale);
	return 0;
}
