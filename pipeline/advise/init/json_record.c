/*
 * json_record.c - find the record in a text of JSON: escapes of nginx, pairs of bulk requests,
 * envelopes of Kafka Connect, and lists whose items are the events
 */
#include <ctype.h>
#include <jansson.h>

#include "sniff_parts.h"
#include "source.h"

#define EVENTS_LEAST 2	/* items in a list of events, on average */
#define ITEMS_LEAST  8	/* the same, for a list with any name */
#define DIGITS_SURE  18 /* digits of a whole number that fits 63 bits */

/* --- the text --- */

/* Return the length of the number at `i`, or 0. Sets `*whole` if it has only a sign and digits. */
static size_t number_len(struct bytes text, size_t i, bool *whole)
{
	size_t n = 0, plain = 0;

	if (text.ptr[i] != '-' && !isdigit(text.ptr[i]))
		return 0;
	for (; i + n < text.len && memchr("+-.0123456789eE", text.ptr[i + n], 15); n++)
		plain += !memchr("+.eE", text.ptr[i + n], 4);
	*whole = plain == n;
	return n;
}

/* Write each long whole number as a text, because Jansson reads 63 bits. */
static void quote_long_numbers(struct bytes text, struct buf *out)
{
	bool quoted = false, whole = false;

	for (size_t i = 0, n; i < text.len; i += n) {
		uint8_t c = text.ptr[i];

		n = quoted ? 0 : number_len(text, i, &whole);
		if (n > DIGITS_SURE && whole) {
			buf_printf(out, "\"%.*s\"", (int)n, (const char *)text.ptr + i);
			continue;
		}
		if (!n)
			n = c == '\\' && i + 1 < text.len ? 2 : 1;
		buf_append(out, text.ptr + i, n);
		quoted = quoted != (c == '"');
	}
}

json_t *json_parse(struct bytes text)
{
	json_error_t fault;
	json_t *v = json_loadb((const char *)text.ptr, text.len, JSON_ALLOW_NUL, &fault);

	if (v || json_error_code(&fault) != json_error_numeric_overflow)
		return v;
	struct buf plain = {0};
	quote_long_numbers(text, &plain);
	v = json_loadb((const char *)plain.ptr, plain.len, JSON_ALLOW_NUL, &fault);
	buf_release(&plain);
	return v;
}

static int hex_at(const uint8_t *p)
{
	char digits[3] = {(char)p[0], (char)p[1], 0};

	return isxdigit(p[0]) && isxdigit(p[1]) ? (int)strtoul(digits, NULL, 16) : -1;
}

/* Write each \xHH as JSON has it. Bytes of several make a character. */
static void put_plain(struct bytes text, struct buf *out)
{
	for (size_t i = 0; i < text.len; i++) {
		bool escape = text.ptr[i] == '\\' && i + 1 < text.len;
		int byte = escape && text.ptr[i + 1] == 'x' && i + 3 < text.len
				   ? hex_at(text.ptr + i + 2)
				   : -1;

		if (byte < 0) {
			buf_put(out, text.ptr[i]);
			if (escape)
				buf_put(out, text.ptr[++i]);
			continue;
		}
		if (byte < 0x20)
			buf_printf(out, "\\u%04x", (unsigned)byte);
		else
			buf_printf(out, byte == '"' || byte == '\\' ? "\\%c" : "%c", byte);
		i += 3;
	}
}

static json_t *parse_hex(struct bytes text)
{
	struct buf plain = {0};

	put_plain(text, &plain);
	json_t *v = json_parse(buf_bytes(&plain));
	buf_release(&plain);
	return v;
}

/* Return the document and the metadata of a pair as one object, or NULL. */
static json_t *parse_pair(struct bytes text)
{
	const uint8_t *end = memchr(text.ptr, '\n', text.len);
	size_t len = end ? (size_t)(end - text.ptr) : text.len;
	json_t *action = json_parse(bytes_of(text.ptr, len));
	json_t *document = end ? json_parse(bytes_of(end + 1, text.len - len - 1)) : json_object();
	const char *name;
	json_t *meta;

	json_object_foreach(action, name, meta)
	{
		json_object_update_missing(document, meta);
		json_object_set_new(document, "_op", json_string(name));
	}
	json_decref(action);
	return document;
}

/* Return the value of a member with the member's name as _key, or NULL. */
static json_t *parse_member(struct bytes text)
{
	struct buf object = {0};
	json_t *record = NULL, *v;
	const char *name;

	buf_put(&object, '{');
	buf_append(&object, text.ptr, text.len);
	buf_put(&object, '}');
	json_t *all = json_parse(buf_bytes(&object));
	json_object_foreach(all, name, v)
	{
		record = json_is_object(v) ? json_object() : NULL;
		json_object_set_new(record, "_key", json_string(name));
		json_object_update(record, v);
	}
	json_decref(all);
	buf_release(&object);
	return record;
}

json_t *json_record(const struct json_form *form, struct bytes text)
{
	return form->layout == JSON_BULK      ? parse_pair(text)
	       : form->layout == JSON_MEMBERS ? parse_member(text)
	       : form->hex_escapes	      ? parse_hex(text)
					      : json_parse(text);
}

json_t *json_record_find(struct json_form *form, struct bytes text)
{
	json_t *v = json_record(form, text);

	if (!v && !form->hex_escapes && text.len && memmem(text.ptr, text.len, "\\x", 2)) {
		v = parse_hex(text);
		form->hex_escapes = v != NULL;
	}
	return v;
}

/* --- envelopes --- */

const json_t *json_body(const struct json_form *form, const json_t *record)
{
	const json_t *inner = form->unwrap ? json_object_get(record, form->unwrap) : NULL;

	return json_is_object(inner) ? inner : record;
}

bool json_is_envelope(const json_t *record)
{
	return json_object_size(record) == 2 && json_object_get(record, "schema") &&
	       json_is_object(json_object_get(record, "payload"));
}

const json_t *json_changed_row(const json_t *body)
{
	const json_t *after = json_object_get(body, "after");
	const json_t *row = json_is_object(after) ? after : json_object_get(body, "before");
	bool change = json_is_string(json_object_get(body, "op")) &&
		      json_object_get(json_object_get(body, "source"), "connector");

	return change && json_is_object(row) ? row : NULL;
}

void json_note_member(struct columns *c, const char *name)
{
	if (names_find(&c->beside, name))
		return;
	names_add(&c->beside, arena_strdup(&c->arena, name));
	buf_append_str(&c->members, c->members.len ? ", " : "");
	text_utf8(&c->members, bytes_str(name));
}

/* --- a list of events --- */

void json_count_items(struct sniffed *s, const json_t *list)
{
	const json_t *first = json_array_get(list, 0);
	const char *name;
	json_t *v;
	size_t i;

	if (!first)
		return;
	json_array_foreach((json_t *)(uintptr_t)list, i, v)
	{
		s->objects.other = s->objects.other || !json_is_object(v);
		s->objects.items += json_is_object(v);
	}
	s->objects.records += json_is_object(first);
	json_object_foreach((json_t *)(uintptr_t)first, name, v)
	{
		s->objects.timed = s->objects.timed || name_is_time(name);
	}
}

/* Return true if the list is usually a list of events, by its name. */
static bool is_events_name(const char *path)
{
	static const char *const words[] = {"events",	"records", "logs",	   "logevents",
					    "entries",	"rows",	   "readings",	   "measurements",
					    "samples",	"points",  "observations", "datapoints",
					    "messages", "hits",	   "transactions", NULL};

	for (size_t i = 0; words[i]; i++)
		if (name_ends_in(path, words[i]))
			return true;
	return false;
}

bool json_events_find(struct columns *c)
{
	const struct sniffed *list = NULL;

	if (c->form.layout == JSON_BULK || c->form.records || c->form.explode || c->rows < 2)
		return false;
	for (size_t i = 0; i < c->n; i++) {
		if (!c->column[i].objects.items)
			continue;
		if (list)
			return false;
		list = &c->column[i];
	}
	if (!list || list->objects.other || !list->objects.timed || strchr(list->name, '['))
		return false;
	uint64_t least = is_events_name(list->name) ? EVENTS_LEAST : ITEMS_LEAST;
	if (list->objects.records * 10 < c->rows * 9 ||
	    list->objects.items < least * list->objects.records)
		return false;
	struct buf path = {0};
	buf_printf(&path, "%s[]", list->name);
	c->form.explode = arena_strndup(&c->arena, path.ptr, path.len);
	buf_release(&path);
	return true;
}
