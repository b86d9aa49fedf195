/*
 * prove_json.c - compare the columns of a JSON record with those that jansson finds in its text
 *
 * The reader of a load searches the text for the job's paths. jansson reads all of the text, so a
 * value without a column shows, too.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "sniff_parts.h"
#include "source.h"
#include "value_proof.h"

struct json_proof {
	const struct job *job;
	struct name_index names; /* number: the column + 1 */
	struct buf path;
};

struct json_proof *json_proof_new(const struct job *job, const char *const *names, size_t n)
{
	struct json_proof *p = mem_calloc(1, sizeof *p);

	p->job = job;
	for (size_t i = 0; i < n; i++)
		names_add(&p->names, names[i])->number = i + 1;
	return p;
}

void json_proof_free(struct json_proof *p)
{
	if (!p)
		return;
	names_release(&p->names);
	buf_release(&p->path);
	mem_free(p);
}

/* Return true if the column has the value. Numbers and lists may have other spaces and digits. */
static bool same_value(const json_t *v, const struct column *c)
{
	struct bytes t = bytes_of(c->ptr, c->absent ? 0 : c->len);
	json_error_t ignored;

	if (json_is_null(v))
		return c->absent || !t.len || bytes_eq(t, bytes_str("null"));
	if (json_is_string(v))
		return bytes_eq(t, bytes_of(json_string_value(v), json_string_length(v)));
	json_t *found =
		json_loadb((const char *)t.ptr, t.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &ignored);
	bool same = found && (json_is_number(v) ? json_number_value(found) == json_number_value(v)
						: json_equal(found, v));
	json_decref(found);
	return same;
}

/* Compare all values of an object. Return a sentence for the first that differs. */
static const char *compare(struct json_proof *p, const json_t *object, const struct event *ev)
{
	const char *name, *why = NULL;
	json_t *v;
	size_t len = p->path.len;

	json_object_foreach((json_t *)(uintptr_t)object, name, v)
	{
		if (why || !source_path_step(&p->path, bytes_str(name)))
			continue;
		const json_t *plain = p->job->csv.json.extended ? json_typed_value(v) : v;

		buf_put(&p->path, 0);
		const struct name_entry *known = names_find(&p->names, (char *)p->path.ptr);
		p->path.len--;
		if (known)
			why = same_value(plain, &ev->columns[known->number - 1]) ? NULL
										 : known->name;
		else if (json_is_object(plain))
			why = compare(p, plain, ev);
		p->path.len = len;
	}
	return why;
}

const char *json_proof_see(struct json_proof *p, const struct event *ev, struct buf *why)
{
	const struct json_form *form = &p->job->csv.json;
	json_t *v = json_record(form, ev->raw);
	const char *name = NULL;

	why->len = 0;
	p->path.len = 0;
	/* the text of an event is that of its item; a record without items has no such paths */
	buf_append_str(&p->path, form->explode ? form->explode : "");
	if (json_is_object(v))
		name = compare(p, json_body(form, v), ev);
	if (name) {
		const struct column *c = &ev->columns[names_find(&p->names, name)->number - 1];

		buf_append(why, c->ptr, c->absent ? 0 : c->len);
	}
	json_decref(v);
	return name;
}
