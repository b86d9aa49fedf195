/*
 * cmd_key.c - implements `saltmill key`, which converts fields to row keys, and row keys to fields
 *
 * With `-`, each line of standard input is a JSON object of fields, a row key, or (`--where -`) a
 * query. If a line is invalid, the command prints the error and skips it. The exit status is then
 * 3, or 1 if all lines are invalid.
 */
#include "cmd_key.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/reports.h"
#include "key_qualifier.h"
#include "mem.h"
#include "bytes.h"

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
	const struct cell_spec *column = NULL;
	int rc = d->args->qualifier ? key_qualifier_build(g, &d->keys, &column, &key, err)
				    : key_values_build(g, &d->keys, &key, err);

	if (rc == RC_OK && column) {
		bytes_escape(out, bytes_str(d->table->schema.families[column->family].name));
		buf_put(out, ':');
	}
	if (rc == RC_OK && d->hex)
		bytes_hex(out, buf_bytes(&key));
	else if (rc == RC_OK)
		bytes_escape(out, buf_bytes(&key));
	if (rc == RC_OK)
		buf_put(out, '\n');
	buf_release(&key);
	return rc;
}

/* Sets a field to a JSON value, converted to text. */
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
		return error_set(
			err, RC_CONFIG,
			"%s: found another JSON value, expected a text, a number, true or false; "
			"put an unsigned number above 9223372036854775807 in quotes",
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
			       object ? "found another value" : fault.text);
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

static int encode_operands(struct key_desk *d, size_t n, char **operands, struct buf *out,
			   struct error *err)
{
	struct key_values g;
	int rc = RC_OK;

	key_values_open(&g, &d->job, &d->forms);
	for (size_t i = 0; rc == RC_OK && i < n; i++)
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
		bytes_unescape_utf8(key, text);
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

/* --- lines of standard input --- */

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

/* Reads standard input line by line, and prints each result at once. */
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

static int run_encode(struct key_desk *d, size_t n, char **operands, struct buf *out)
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

static int run_decode(struct key_desk *d, size_t n, char **operands, struct buf *out)
{
	struct counts c = {0};
	int status = EXIT_DONE;

	if (n == 1 && !strcmp(operands[0], "-"))
		status = take_lines(d, decode_line, &c, out);
	for (size_t i = 0; i < n && strcmp(operands[i], "-") != 0; i++)
		take_line(d, decode_line, bytes_str(operands[i]), 0, &c, out);
	if (out->len)
		status = command_print("key decode", out);
	return status ? status : tally(&c);
}

static int open_desk(struct key_desk *d, struct error *err)
{
	const struct arguments *a = d->args;
	int rc = job_load(&d->job, a->operand[1], err);

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
	const char *where = arena_strndup(&a, line.ptr, line.len);
	int rc = strlen(where) == line.len
			 ? key_ranges_print(d, where, out, err)
			 : error_set(err, RC_CONFIG, "found a NUL byte, expected a query");

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

static int run_verb(struct key_desk *d, const char *verb, size_t n, char **operands,
		    struct buf *out)
{
	if (strcmp(verb, "ranges") == 0)
		return run_ranges(d, out);
	return strcmp(verb, "encode") == 0 ? run_encode(d, n, operands, out)
					   : run_decode(d, n, operands, out);
}

static int run(struct arguments *a)
{
	struct key_desk d = {.args = a, .hex = a->form == KEY_HEX, .json = a->run.json};
	struct buf out = {0};
	struct error err;
	const char *verb = a->operand[0];
	bool ranges = strcmp(verb, "ranges") == 0;

	if (strcmp(verb, "encode") != 0 && strcmp(verb, "decode") != 0 && !ranges)
		return arguments_refuse(a,
					"found `%.200s`, expected encode, decode or ranges before "
					"the job, such as `saltmill key encode JOB FIELD=VALUE`",
					verb);
	if (a->noperands < 3 && !ranges)
		return arguments_refuse(a,
					"found no %s, expected at least one, or - for standard "
					"input",
					strcmp(verb, "encode") == 0 ? "FIELD=VALUE" : "KEY");
	int status = open_desk(&d, &err)
			     ? command_fail("key", &err)
			     : run_verb(&d, verb, a->noperands - 2, a->operand + 2, &out);
	close_desk(&d);
	buf_release(&out);
	return status;
}

const struct command key_command = {
	.name = "key",
	.usage = "encode JOB FIELD=VALUE...|- | decode JOB KEY...|- | ranges JOB [DIR...] --where "
		 "TEXT",
	.summary = "convert fields to row keys, row keys to fields, and a query to the scans that "
		   "answer it",
	.least = 2,
	.most = ANY_NUMBER,
	.run = run,
	.decides =
		"ranges checks the parts of the row key in order. Conditions with = and `in` fix "
		"a part. The first part with another condition becomes a range and is the last "
		"one used. If the query fixes the fields of a salt, key computes the bucket. "
		"Otherwise, each bucket has a range. Other conditions become HBase filters. The "
		"ranges contain every matching row; `exact` means that they contain no other "
		"row. If you give DIR, ranges prints how many bytes a scan reads from these "
		"loads or plans.",
	.operands = {{"-", "read standard input; each line is a JSON object of fields, or a key"},
		     {"DIR...",
		      "for ranges: loads or plans of the table, to compute the bytes that a scan "
		      "reads"}},
	.statuses = "0 done; 1 failed, or no line is valid; 2 wrong usage, job file or query; 3 "
		    "some lines are invalid",
	.examples = {"saltmill key encode conf/calls.yaml --table calls_salted phone=13812345678 "
		     "'at=2013-06-28 15:06:26'",
		     "saltmill key ranges conf/ratings.yaml --where \"userId = 1\" --format java"}};
