/*
 * cmd_key.c - `saltmill key encode|decode|ranges JOB`: fields to row keys and back
 *
 * One key, or a stream of them: with `-` each line of standard input is a JSON object of fields, a
 * key, or (`--where -`) a question.  A line that cannot be done is told and left out; the exit
 * status is then 3, or 1 if there was no other.
 */
#include "cmd_key.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/reports.h"
#include "key_values.h"
#include "mem.h"
#include "bytes.h"

enum { OPT_TABLE = 500, OPT_WHERE, OPT_FORM, OPT_LIMIT };

struct counts {
	uint64_t good, bad;
};

static int tally(const struct counts *c)
{
	return !c->bad ? EXIT_DONE : c->good ? EXIT_REJECTS : EXIT_FAILED;
}

/* --- encode --- */

static int encode_given(struct key_desk *d, const struct key_values *g, struct buf *out,
			struct error *err)
{
	struct buf key = {0};
	int rc = key_values_build(g, &d->keys, &key, err);

	if (rc == RC_OK && d->hex)
		bytes_hex(out, buf_bytes(&key));
	else if (rc == RC_OK)
		bytes_escape(out, buf_bytes(&key));
	if (rc == RC_OK)
		buf_put(out, '\n');
	buf_release(&key);
	return rc;
}

/* A JSON value as the text of a field. */
static int give_json(struct key_values *g, const char *name, const json_t *v, struct error *err)
{
	struct buf text = {0};

	if (json_is_string(v))
		buf_append(&text, json_string_value(v), json_string_length(v));
	else if (json_is_integer(v))
		buf_printf(&text, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_real(v))
		buf_printf(&text, "%.17g", json_real_value(v));
	else if (json_is_boolean(v))
		buf_append_str(&text, json_is_true(v) ? "true" : "false");
	else
		return error_set(err, RC_CONFIG,
				 "%s: expected a text, a number, true or false (an unsigned number "
				 "above 9223372036854775807 in quotes)",
				 name);
	int rc = key_values_give(g, bytes_str(name), buf_bytes(&text), err);
	buf_release(&text);
	return rc;
}

static int encode_line(struct key_desk *d, struct bytes line, struct buf *out, struct error *err)
{
	json_error_t fault;
	struct key_values g;
	int rc = RC_OK;
	json_t *object =
		json_loadb((const char *)line.ptr, line.len, JSON_REJECT_DUPLICATES, &fault);

	if (!json_is_object(object)) {
		rc = error_set(err, RC_CONFIG, "expected a JSON object: %s",
			       object ? "this is none" : fault.text);
		json_decref(object);
		return rc;
	}
	const char *name;
	json_t *v;
	key_values_open(&g, &d->job, &d->forms);
	json_object_foreach(object, name, v) if (rc == RC_OK) rc = give_json(&g, name, v, err);
	if (rc == RC_OK)
		rc = encode_given(d, &g, out, err);
	key_values_close(&g);
	json_decref(object);
	return rc;
}

static int encode_operands(struct key_desk *d, int n, char **operands, struct buf *out,
			   struct error *err)
{
	struct key_values g;
	int rc = RC_OK;

	key_values_open(&g, &d->job, &d->forms);
	for (int i = 0; rc == RC_OK && i < n; i++)
		rc = key_values_take(&g, operands[i], err);
	if (rc == RC_OK)
		rc = encode_given(d, &g, out, err);
	key_values_close(&g);
	return rc;
}

/* --- decode --- */

static int take_key(const struct key_desk *d, struct bytes text, struct buf *key, struct error *err)
{
	char copy[2 * 32767 + 1];

	key->len = 0;
	if (!d->hex) {
		bytes_unescape(key, text);
		return RC_OK;
	}
	if (text.len >= sizeof copy || text.len % 2)
		return error_set(err, RC_CONFIG, "expected an even number of hex digits");
	for (size_t i = 0; i < text.len; i++) {
		int c = text.ptr[i];

		copy[i] = (char)(c >= 'A' && c <= 'F' ? c + 32 : c);
	}
	copy[text.len] = 0;
	uint8_t *to = buf_reserve(key, text.len / 2 + 1);
	if (!bytes_unhex(to, text.len / 2, copy))
		return error_set(err, RC_CONFIG, "expected hex digits");
	key->len = text.len / 2;
	return RC_OK;
}

static int decode_line(struct key_desk *d, struct bytes line, struct buf *out, struct error *err)
{
	struct arena a = {0};
	struct buf key = {0};
	const struct key_schema *s = &d->keys.schema;
	struct key_piece *pieces = arena_alloc(&a, (s->nsteps + 1) * sizeof *pieces);
	int rc = take_key(d, line, &key, err);

	if (rc == RC_OK)
		rc = key_decode(s, &d->forms, buf_bytes(&key), &a, pieces, err);
	if (rc == RC_OK)
		key_report(out, &d->keys, buf_bytes(&key), pieces, d->json);
	buf_release(&key);
	arena_release(&a);
	return rc;
}

/* --- both --- */

typedef int do_line(struct key_desk *d, struct bytes line, struct buf *out, struct error *err);

static void take_line(struct key_desk *d, do_line *one, struct bytes line, uint64_t number,
		      struct counts *c, struct buf *out)
{
	struct error err;
	char shown[84];

	if (one(d, line, out, &err) == RC_OK) {
		c->good++;
		return;
	}
	c->bad++;
	text_quote(shown, 80, line);
	if (number)
		command_say("key", "line %llu: %s", (unsigned long long)number, err.msg);
	else
		command_say("key", "%s: %s", shown, err.msg);
}

/* Standard input, a line at a time; what is done is printed as it comes. */
static int take_lines(struct key_desk *d, do_line *one, struct counts *c, struct buf *out)
{
	char *line = NULL;
	size_t cap = 0;
	uint64_t number = 0;
	int status = EXIT_DONE;

	for (ssize_t n; status == EXIT_DONE && (n = getline(&line, &cap, stdin)) >= 0;) {
		n -= n > 0 && line[n - 1] == '\n';
		number++;
		out->len = 0;
		take_line(d, one, bytes_of(line, (size_t)n), number, c, out);
		if (out->len)
			status = command_print("key", out);
	}
	free(line);
	out->len = 0;
	return status;
}

static int run_encode(struct key_desk *d, int n, char **operands, struct buf *out)
{
	struct counts c = {0};
	struct error err;

	if (n == 1 && !strcmp(operands[0], "-")) {
		int status = take_lines(d, encode_line, &c, out);

		return status ? status : tally(&c);
	}
	if (encode_operands(d, n, operands, out, &err))
		return command_fail("key encode", &err);
	return command_print("key encode", out);
}

static int run_decode(struct key_desk *d, int n, char **operands, struct buf *out)
{
	struct counts c = {0};
	int status = EXIT_DONE;

	if (n == 1 && !strcmp(operands[0], "-"))
		status = take_lines(d, decode_line, &c, out);
	for (int i = 0; i < n && strcmp(operands[i], "-") != 0; i++)
		take_line(d, decode_line, bytes_str(operands[i]), 0, &c, out);
	if (out->len)
		status = command_print("key decode", out);
	return status ? status : tally(&c);
}

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct key_arguments *a = ctx;

	if (opt == OPT_LIMIT)
		return parse_count("--limit", arg, INT32_MAX, &a->limit, err);
	if (opt == OPT_TABLE)
		a->table = arg;
	else if (opt == OPT_WHERE)
		a->where = arg;
	else
		a->form = arg;
	return RC_OK;
}

static int open_desk(struct key_desk *d, const struct key_arguments *a, const char *job,
		     struct error *err)
{
	int rc = job_load(&d->job, job, err);

	if (rc == RC_OK)
		rc = job_find_table(&d->job, a->table, &d->table, err);
	if (rc == RC_OK)
		rc = field_forms_open(&d->forms, &d->job, err);
	if (rc == RC_OK)
		key_table_open(&d->keys, &d->job, d->table);
	return rc;
}

static void close_desk(struct key_desk *d)
{
	key_table_close(&d->keys);
	field_forms_close(&d->forms);
	job_release(&d->job);
}

static int ranges_line(struct key_desk *d, struct bytes line, struct buf *out, struct error *err)
{
	struct arena a = {0};
	const char *where = arena_strndup(&a, (const char *)line.ptr, line.len);
	int rc = strlen(where) == line.len
			 ? key_ranges_print(d, where, out, err)
			 : error_set(err, RC_CONFIG, "found a NUL byte, expected a question");

	arena_release(&a);
	return rc;
}

static int run_ranges(struct key_desk *d, struct buf *out)
{
	struct counts c = {0};
	struct error err;

	if (d->args->where && !strcmp(d->args->where, "-")) {
		int status = take_lines(d, ranges_line, &c, out);

		return status ? status : tally(&c);
	}
	if (key_ranges_print(d, d->args->where, out, &err))
		return command_fail("key ranges", &err);
	return command_print("key ranges", out);
}

static int check_form(struct key_desk *d, const struct key_arguments *a, struct error *err)
{
	d->hex = a->form && !strcmp(a->form, "hex");
	if (a->form && !d->hex && strcmp(a->form, "escaped") != 0)
		return error_set(err, RC_CONFIG, "found `%s`, expected escaped or hex", a->form);
	return RC_OK;
}

int cmd_key(int argc, char **argv)
{
	static const struct option own[] = {{"table", required_argument, NULL, OPT_TABLE},
					    {"from", required_argument, NULL, OPT_FORM},
					    {"to", required_argument, NULL, OPT_FORM},
					    {"format", required_argument, NULL, OPT_FORM},
					    {"where", required_argument, NULL, OPT_WHERE},
					    {"limit", required_argument, NULL, OPT_LIMIT},
					    {0}};
	struct run_options o;
	struct key_arguments a = {0};
	struct key_desk d = {0};
	struct buf out = {0};
	struct error err;
	int first, rc = options_parse(argc, argv, &o, own, NULL, take_option, &a, &first), status;

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	int n = argc - first - 2;
	char **operands = argv + first + 2;
	const char *verb = n >= -1 ? argv[first] : "";
	bool encode = !strcmp(verb, "encode"), ranges = !strcmp(verb, "ranges");
	bool decode = !strcmp(verb, "decode");
	if ((!ranges || n < 0) && ((!encode && !decode) || n < 1))
		rc = error_set(&err, RC_CONFIG,
			       "expected `key encode JOB FIELD=VALUE...`, `key decode JOB KEY...` "
			       "(- is standard input) or `key ranges JOB [DIR...] --where TEXT`");
	d.json = o.json;
	d.args = &a;
	a.dirs = operands;
	a.ndirs = n;
	if (rc == RC_OK && !ranges)
		rc = check_form(&d, &a, &err);
	if (rc == RC_OK)
		rc = open_desk(&d, &a, argv[first + 1], &err);
	if (rc)
		status = command_fail("key", &err);
	else if (ranges)
		status = run_ranges(&d, &out);
	else
		status = encode ? run_encode(&d, n, operands, &out)
				: run_decode(&d, n, operands, &out);
	close_desk(&d);
	buf_release(&out);
	return status;
}
