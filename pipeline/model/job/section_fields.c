/*
 * Fields give the type and format of an event's values. A name that the job uses but does not list
 * is text from the column of that name. So most jobs list few fields.
 */
#include "sections.h"

static const struct choice units[] = {{"s", TIME_S},
				      {"ms", TIME_MS},
				      {"us", TIME_US},
				      {"ns", TIME_NS}};

static const struct choice cases[] = {{"lower", LETTERS_LOWER}, {"upper", LETTERS_UPPER}};

static int read_zone(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *name;
	int rc = read_text(r, n, key, &name);

	if (rc == RC_OK && zone_load(slot, name, &r->job->arena, r->err))
		rc = error_prefix(r->err, "%s:%u:%u: ", r->job->path, n->pos.line, n->pos.column);
	return rc;
}

static int read_field_nulls(struct reader *r, const struct node *n, const struct key *key,
			    void *slot)
{
	struct field *f = slot;

	return read_nulls(r, n, key, &f->nulls, &f->nnulls);
}

static int read_near(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct field *f = slot;

	f->year_rule = YEAR_NEAR;
	return read_text(r, n, key, &f->year_near);
}

static const struct key near_keys[] = {
	{.name = "near",
	 WORDS(TEXT, NULL, "take the year that puts the date nearest to this day",
	       "year: {near: 2026-01-03}"),
	 .read = read_near,
	 .required = true}};
static const struct schema near_schema = SCHEMA("year", near_keys);

/* Accepts 2026, {near: 2026-01-03} or file. */
static int read_year(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const struct key number = {.name = key->name, .min = 1, .max = 9999};
	struct field *f = slot;

	if (n->kind == NODE_MAPPING)
		return read_mapping(r, n, &near_schema, f);
	if (n->kind != NODE_SCALAR || strcmp(n->text, "file") != 0) {
		f->year_rule = YEAR_GIVEN;
		return read_number(r, n, &number, &f->year);
	}
	f->year_rule = YEAR_OF_FILE;
	if (r->job->source == SOURCE_KAFKA)
		return fault(r, n->pos,
			     "year: found `file`, expected a year or {near: 2026-01-03}, because "
			     "messages have no file name");
	return RC_OK;
}

static const struct key keys[] = {
	{.name = "type",
	 WORDS(TYPE, "text", "the type of the values; a value of another type makes the event bad",
	       "type: u32"),
	 .read = read_field_type,
	 .offset = offsetof(struct field, type)},
	{.name = "unit",
	 WORDS(CHOICE, NULL,
	       "for times in numbers: seconds, milliseconds, microseconds or nanoseconds since 1970",
	       "unit: s"),
	 .read = read_choice,
	 .offset = offsetof(struct field, unit),
	 CHOICES(units)},
	{.name = "format",
	 WORDS(TEXT, NULL, "for times in text: iso8601, or the letters of strptime",
	       "format: \"%Y-%m-%d %H:%M:%S\""),
	 .read = read_text,
	 .offset = offsetof(struct field, format)},
	{.name = "zone",
	 WORDS(TEXT, "UTC", "for times in text without an offset: the time zone",
	       "zone: Europe/Berlin"),
	 .read = read_zone,
	 .offset = offsetof(struct field, zone)},
	{.name = "year",
	 WORDS(EITHER, NULL,
	       "the year of times without one in the format: a number, `file` (nearest to the last "
	       "date in the file's path) or {near: DAY}",
	       "year: 2026"),
	 INNER(&near_schema),
	 .read = read_year},
	{.name = "from",
	 WORDS(EITHER, "the field's name",
	       "the column, path or $name to read, or several with texts between them",
	       "from: [day, \" \", time]"),
	 INNER(&piece_schema),
	 .read = read_from},
	{.name = "first",
	 WORDS(TEXTS, NULL, "columns, paths or $names; the value is the first that is not null",
	       "first: [after.id, before.id]"),
	 .read = read_first},
	{.name = "join",
	 WORDS(TEXT, "\" \"", "the text between several columns", "join: \";\""),
	 .read = read_join},
	{.name = "match",
	 WORDS(TEXT, NULL,
	       "a regular expression (PCRE2): the value is what its group matches, or the "
	       "whole match; no match makes the event bad",
	       "match: '^(\\S+) '"),
	 .read = read_match},
	{.name = "substring",
	 WORDS(NUMBERS, NULL,
	       "[from, length] in characters; -1 is the last character; without a length, the rest",
	       "substring: [1, 4]"),
	 .read = read_substring},
	{.name = "case",
	 WORDS(CHOICE, NULL, "change all letters to lower or upper case", "case: upper"),
	 .read = read_case,
	 CHOICES(cases)},
	{.name = "map",
	 WORDS(CODES, NULL,
	       "texts to replace, here or in a CSV file of FROM,TO lines; an unlisted text makes "
	       "the event bad, unless the job has `otherwise`",
	       "map: {A: 1, B: 2}"),
	 .read = read_map},
	{.name = "otherwise",
	 WORDS(EITHER, NULL, "the replacement for a text that is not in `map`, or {keep: true}",
	       "otherwise: 0"),
	 INNER(&keep_schema),
	 .read = read_otherwise},
	{.name = "null",
	 WORDS(TEXTS, "the source's", "spellings of null in this field", "null: [0000-00-00]"),
	 .read = read_field_nulls},
	{.name = "default",
	 WORDS(TEXT, NULL, "the text that replaces a null", "default: 0"),
	 .read = read_any_text,
	 .offset = offsetof(struct field, fallback)},
	{.name = "codes",
	 WORDS(CODES, NULL,
	       "a number for each name, here or in a file of NAME,CODE lines; sets the type to "
	       "code, unless the type is u32 or u64",
	       "codes: {DE: 1, AT: 2}"),
	 .read = read_codes},
	{.name = "unknown",
	 WORDS(TEXT, NULL, "a name whose code replaces every name that is not in `codes`",
	       "unknown: AT"),
	 .read = read_unknown},
	{.name = "scale",
	 WORDS(NUMBER, NULL,
	       "for decimals: digits after the point; a value with more digits makes the event bad",
	       "scale: 2"),
	 .read = read_number,
	 .offset = offsetof(struct field, scale),
	 .max = 18},
	{.name = "expect",
	 WORDS(MAPPING, NULL, "rules for the values; an event that breaks a rule is bad",
	       "expect: {not_null: true, min: 0}"),
	 INNER(&expect_schema),
	 .read = read_expect},
};
const struct schema field_schema = SCHEMA("a field", keys);

/* Count the conversions of the time format that have one of these letters. */
static size_t count_letters(const char *format, const char *letters)
{
	size_t n = 0;

	for (const char *p = strchr(format, '%'); p && p[1]; p = strchr(p + 2, '%'))
		n += strchr(letters, p[1]) != NULL;
	return n;
}

/* Return true if the time format contains a conversion with one of these letters. */
static bool format_has(const char *format, const char *letters)
{
	return count_letters(format, letters) > 0;
}

/* Check letters that are easily confused: %m and %M, %S and %s. */
static int check_letters(struct reader *r, const struct node *at, const char *format)
{
	bool month = format_has(format, "mbBhDFcxj"), minute = format_has(format, "MRTcXr");
	bool hour = format_has(format, "HIklRTcXr");

	if (!minute && count_letters(format, "m") > 1)
		return fault(r, at->pos,
			     "format: found %%m, the month, twice, expected %%M for the minute");
	if (!month && format_has(format, "dM") && (!hour || count_letters(format, "M") > 1))
		return fault(r, at->pos,
			     "format: found %%M, the minute, and no month, expected %%m");
	if (format_has(format, "s") && format_has(format, "YyHM"))
		return fault(r, at->pos,
			     "format: found %%s, the seconds since 1970, expected %%S for the "
			     "second");
	return RC_OK;
}

/*
 * Check the year of a format. Returns RC_CONFIG if the year is missing, or if it is both in the
 * format and in the job.
 */
static int check_year(struct reader *r, const struct node *at, const struct field *f)
{
	bool written = format_has(f->format, "YysFD") || strcmp(f->format, TIME_ISO8601) == 0;

	struct buf ours = {0};
	if (!written && strptime_of_java(&ours, f->format)) {
		int rc = fault(r, at->pos,
			       "format: found the pattern `%.60s`, expected letters of strptime; "
			       "write `format: \"%.80s\"`",
			       f->format, (const char *)ours.ptr);
		buf_release(&ours);
		return rc;
	}
	buf_release(&ours);
	if (!written && value_fix("format", f->format))
		return expected(r, at, "format", "`iso8601` or letters of strptime");
	if (!written && f->year_rule == YEAR_WRITTEN)
		return fault(
			r, at->pos,
			"format: found `%.60s` without a year, expected %%Y, %%y or %%s in it, or "
			"the key `year`: `year: 2026`, `year: {near: 2026-01-03}`, `year: file` "
			"(the date in the file's name)",
			f->format);
	if (written && f->year_rule != YEAR_WRITTEN)
		return fault(r, at->pos,
			     "found `year` and a year in the format `%.60s`, expected one of them",
			     f->format);
	return RC_OK;
}

static int check_format(struct reader *r, const struct node *at, const struct field *f)
{
	for (const char *p = f->format; *p; p++) {
		if (*p != '%')
			continue;
		p++;
		if (*p == 0 || !strchr(TIME_LETTERS, *p))
			return fault(r, at->pos,
				     "format: found `%%%.1s`, expected `iso8601`, or %% and one of "
				     "the letters %s",
				     p, TIME_LETTERS);
	}
	if (format_has(f->format, "Ilr") != format_has(f->format, "pr"))
		return fault(r, at->pos,
			     "format: found one of %%I and %%p, expected both (or %%H, 0 to 23)");
	int rc = check_letters(r, at, f->format);
	return rc ? rc : check_year(r, at, f);
}

static int check_time(struct reader *r, const struct node *n, const struct field *f)
{
	const struct node *unit = node_get(n, "unit"), *format = node_get(n, "format");
	const struct node *zone = node_get(n, "zone"), *year = node_get(n, "year");

	if (!unit && !format && f->unit == TIME_OF_SOURCE)
		return year ? fault(r, year->pos, "found `year` without `format`, expected none")
			    : RC_OK;
	if (!unit && !format)
		return fault(r, n->pos,
			     "time field `%.60s` lacks its form, expected `unit: s` (or ms, us, ns "
			     "since "
			     "1970) or `format: \"%%Y-%%m-%%d %%H:%%M:%%S\"` (or iso8601)",
			     f->name);
	if (unit && format)
		return fault(r, unit->pos, "found `unit` and `format`, expected one of them");
	if (unit && zone)
		return fault(
			r, zone->pos,
			"found `zone` with `unit`, expected none, because seconds since 1970 are the same in every zone");
	if (unit && year)
		return fault(r, year->pos, "found `year` with `unit`, expected none");
	if (unit)
		return RC_OK;
	if (zone && format_has(f->format, "zZs"))
		return fault(
			r, zone->pos,
			"found `zone` with %%z, %%Z or %%s in the format, expected one of them");
	return check_format(r, format, f);
}

/* Check the codes, and set the field's type to code. */
static int check_codes(struct reader *r, const struct node *n, struct field *f)
{
	const struct node *type = node_get(n, "type"), *unknown = node_get(n, "unknown");

	bool whole = f->type == FIELD_U32 || f->type == FIELD_U64;

	if (f->codes && type && f->type != FIELD_CODE && !whole)
		return fault(r, type->pos,
			     "type: found %s with `codes`, expected code, u32, u64 or no type",
			     field_type_name(f->type));
	if (f->codes && type && whole && node_get(n, "map"))
		return fault(r, type->pos, "found `codes` and `map`, expected one of them");
	if (f->codes && type && whole)
		map_codes(r, f);
	else if (f->codes)
		f->type = FIELD_CODE;
	if (f->type == FIELD_CODE && !f->codes)
		return fault(
			r, n->pos,
			"code field `%.60s` lacks `codes`: `{NAME: 1, OTHER: 2}`, or a file with one "
			"NAME,CODE per line",
			f->name);
	if (unknown && !node_get(n, "codes"))
		return fault(r, unknown->pos, "found `unknown` without `codes`, expected both");
	return RC_OK;
}

static int check_field(struct reader *r, const struct node *n, struct field *f)
{
	static const char *const of_time[] = {"unit", "format", "zone", "year"};
	int rc = check_codes(r, n, f);

	if (rc)
		return rc;
	if (node_get(n, "first") && (node_get(n, "from") || node_get(n, "join")))
		return fault(r, node_get(n, "first")->pos,
			     "found `first` with `%s`, expected one of them",
			     node_get(n, "from") ? "from" : "join");
	if (node_get(n, "join") && f->ncolumns < 2)
		return fault(
			r, node_get(n, "join")->pos,
			"found `join` for one column, expected `from: [a, b]` with two or more");
	if (f->type == FIELD_DECIMAL && !node_get(n, "scale"))
		return fault(
			r, n->pos,
			"decimal field `%.60s` lacks `scale`, expected the number of digits after the point, such as 2 for cents",
			f->name);
	if (f->type != FIELD_DECIMAL && node_get(n, "scale"))
		return fault(r, node_get(n, "scale")->pos,
			     "found `scale` in a field of type %s, expected it only with type: "
			     "decimal",
			     field_type_name(f->type));
	if (f->type == FIELD_TIME)
		return check_time(r, n, f);
	for (size_t i = 0; i < sizeof of_time / sizeof *of_time; i++)
		if (node_get(n, of_time[i]))
			return fault(r, node_get(n, of_time[i])->pos,
				     "found `%s` in a field of type %s, expected it only with "
				     "type: time",
				     of_time[i], field_type_name(f->type));
	return RC_OK;
}

/* Take the unit of times from the source, because a source with a schema defines that unit. */
static void take_source_times(const struct job *job, const struct node *n, struct field *f)
{
	bool schema = job->source == SOURCE_AVRO || job->source == SOURCE_ARROW ||
		      (job->source == SOURCE_KAFKA && job->kafka.format == KAFKA_AVRO);

	if (schema && f->type == FIELD_TIME && !node_get(n, "unit") && !node_get(n, "format"))
		f->unit = TIME_OF_SOURCE;
}

int read_fields(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	(void)slot;
	if (n->kind != NODE_MAPPING)
		return expected(r, n, key->name, "a mapping of field names");
	keep_written(r, n, &r->job->written_fields);
	for (size_t i = 0; i < n->count; i++) {
		const struct key name_key = {.name = "field name"};
		const char *name;
		int rc = read_text(r, n->keys[i], &name_key, &name);

		if (rc)
			return rc;
		struct field *f = field_add(r, name, n->keys[i]->pos);
		if (n->items[i]->kind == NODE_SCALAR) /* userId: u32 */
			rc = read_field_type(r, n->items[i], &keys[0], &f->type);
		else
			rc = read_mapping(r, n->items[i], &field_schema, f);
		if (rc == RC_OK)
			take_source_times(r->job, n->items[i], f);
		if (rc == RC_OK)
			rc = check_field(r, n->items[i], f);
		if (rc)
			return rc;
	}
	return RC_OK;
}
