/*
 * option_values.c - prints the name and the argument of an option, and reads arguments (options.h)
 */
#include "options.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bytes.h"

bool word_in(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
			return true;
	return false;
}

struct option_label option_name(const struct cli_option *o)
{
	struct option_label label = {.text = {'-', o->letter}};

	if (o->name)
		snprintf(label.text, sizeof label.text, "--%s", o->name);
	return label;
}

void option_argument(struct buf *out, const struct cli_option *o)
{
	if (o->argument)
		buf_append_str(out, o->argument);
	for (const struct option_choice *c = o->choices; c && !o->argument && c->name; c++)
		buf_printf(out, "%s%s", c == o->choices ? "" : "|", c->name);
}

enum option_kind option_kind(const struct cli_option *o)
{
	static const struct {
		const char *word;
		enum option_kind kind;
	} kinds[] = {{"FILE", OPTION_FILE},
		     {"JOB", OPTION_FILE},
		     {"DIR", OPTION_FOLDER},
		     {"TABLE", OPTION_TABLE},
		     {"HOST", OPTION_HOST}};

	if (o->choices)
		return OPTION_CHOICES;
	if (!o->argument)
		return OPTION_FLAG;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strstr(o->argument, kinds[i].word))
			return kinds[i].kind;
	return OPTION_OTHER;
}

int option_refuse(const struct cli_option *o, const char *text, struct error *err, const char *fmt,
		  ...)
{
	char expected[400];

	va_list args;

	va_start(args, fmt);
	vsnprintf(expected, sizeof expected, fmt, args);
	va_end(args);
	return error_set(err, RC_CONFIG, "%s: found `%.200s`, expected %s", option_name(o).text,
			 text, expected);
}

int take_flag(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	(void)o, (void)text, (void)err;
	*(bool *)slot = true;
	return RC_OK;
}

int take_text(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	(void)o, (void)err;
	*(const char **)slot = text;
	return RC_OK;
}

int take_list(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	(void)o, (void)err;
	folders_add_plainly(slot, text);
	return RC_OK;
}

/* Appends a size in the form that users type, such as "16M". */
static void put_bound(struct buf *out, uint64_t n, bool is_size)
{
	bool mega = is_size && n && n % (1 << 20) == 0;

	buf_printf(out, "%llu%s", (unsigned long long)(mega ? n >> 20 : n), mega ? "M" : "");
}

/*
 * Stores the number in *slot if it is in bounds. If it is not, sets an error that contains the
 * bounds.
 */
static int keep_number(const struct cli_option *o, const char *text, bool is_one, uint64_t n,
		       uint64_t *slot, struct error *err)
{
	bool is_size = o->read == take_size;
	struct buf bounds = {0};

	if (is_one && n >= o->least && (!o->most || n <= o->most)) {
		*slot = n;
		return RC_OK;
	}
	put_bound(&bounds, o->least, is_size);
	if (o->most)
		buf_append_str(&bounds, " to ");
	if (o->most)
		put_bound(&bounds, o->most, is_size);
	option_refuse(o, text, err, "%s from %.*s",
		      is_size ? "a size like 256M," : "a whole number", (int)bounds.len,
		      (const char *)bounds.ptr);
	buf_release(&bounds);
	return RC_CONFIG;
}

int take_number(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	size_t digits = strspn(text, "0123456789");
	bool is_one = digits > 0 && digits < 19 && !text[digits];

	return keep_number(o, text, is_one, is_one ? strtoull(text, NULL, 10) : 0, slot, err);
}

int take_size(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	uint64_t n = 0;
	bool is_one = parse_size(text, &n);

	return keep_number(o, text, is_one, n, slot, err);
}

int take_duration(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	uint64_t seconds;

	if (!parse_duration_s(text, &seconds) || seconds < 1 || seconds > 999999)
		return option_refuse(o, text, err, "a time like 90s or 15m");
	*(unsigned *)slot = (unsigned)seconds;
	return RC_OK;
}

int take_choice(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	struct buf names = {0};
	const struct option_choice *c = o->choices;

	for (; c->name && strcmp(c->name, text) != 0; c++)
		buf_printf(&names, "%s%s",
			   c == o->choices ? ""
			   : c[1].name	   ? ", "
					   : " or ",
			   c->name);
	if (c->name)
		*(unsigned *)slot = c->value;
	else
		option_refuse(o, text, err, "%.*s%s", (int)names.len, (const char *)names.ptr,
			      strcmp(text, "json") == 0 && memmem(names.ptr, names.len, "jsonl", 5)
				      ? "; write `--format jsonl`"
				      : "");
	buf_release(&names);
	return c->name ? RC_OK : RC_CONFIG;
}

int take_limit(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	struct event_limit *limit = slot;
	char *end;

	*limit = (struct event_limit){0};
	if (text[0] >= '0' && text[0] <= '9') {
		limit->share = strtod(text, &end) / 100;
		limit->is_share = *end == '%' && end[1] == 0 && limit->share <= 1;
		if (limit->is_share)
			return RC_OK;
		limit->count = strtoull(text, &end, 10);
		if (*end == 0)
			return RC_OK;
	}
	return option_refuse(o, text, err, "a number of events, or a share like 0.1%%");
}
