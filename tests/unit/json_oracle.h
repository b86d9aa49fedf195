/*
 * json_oracle.h - checks that json_extract and jansson accept the same texts and find the same
 * values
 *
 * For test_input_json.c and fuzz_json.c. The oracle omits texts that only jansson refuses, which
 * have numbers out of range or NUL in a key. It also omits texts with a NUL byte, because jansson
 * ends the text at this byte.
 */
#ifndef SALTMILL_TEST_JSON_ORACLE_H
#define SALTMILL_TEST_JSON_ORACLE_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/input/json.h"

static const char *const oracle_paths[] = {"a",	     "a.b",    "a.b.c",	  "a[0]",
					   "a[1].b", "[0]",    "[1].a",	  "[2][0]",
					   "b",	     "[\"\"]", "['x.y']", "\xc3\xa9"};
#define ORACLE_PATHS (sizeof oracle_paths / sizeof *oracle_paths)

/* The same paths, parsed by hand into keys, or '#n' for an index. */
static const char *const oracle_steps[ORACLE_PATHS][4] = {
	{"a"},	     {"a", "b"},   {"a", "b", "c"}, {"a", "#0"}, {"a", "#1", "b"}, {"#0"},
	{"#1", "a"}, {"#2", "#0"}, {"b"},	    {""},	 {"x.y"},	   {"\xc3\xa9"}};

static json_t *oracle_find(json_t *root, const char *const *steps)
{
	for (int i = 0; i < 4 && steps[i] && root; i++)
		root = steps[i][0] == '#' ? json_array_get(root, (size_t)(steps[i][1] - '0'))
					  : json_object_get(root, steps[i]);
	return root;
}

static bool oracle_same(const struct column *c, json_t *want)
{
	const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL;

	if (!want || json_is_null(want))
		return c->absent;
	if (c->absent || c->quoted != (bool)json_is_string(want))
		return false;
	if (c->quoted)
		return c->len == json_string_length(want) &&
		       memcmp(c->ptr, json_string_value(want), c->len) == 0;
	json_t *got = json_loadb((const char *)c->ptr, c->len, flags, NULL);
	bool same = got && json_equal(got, want);
	json_decref(got);
	return same;
}

/* Returns NULL if both agree, or a text that names the difference. */
static const char *oracle_differs(const struct json_paths *p, struct json_scratch *s,
				  struct bytes text)
{
	const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL;
	struct column columns[ORACLE_PATHS];
	struct json_fault fault = {0};
	json_error_t why;
	bool fine = json_extract(p, s, text, columns, &fault);
	json_t *root = json_loadb((const char *)text.ptr, text.len, flags, &why);
	const char *differs = NULL;

	if (text.len && memchr(text.ptr, 0, text.len)) {
		json_decref(root);
		return fine ? "a NUL byte was taken" : NULL;
	}
	if (!root && (json_error_code(&why) == json_error_numeric_overflow ||
		      json_error_code(&why) == json_error_null_byte_in_key))
		return NULL;
	if (fine != (root != NULL))
		differs = fine ? "jansson refuses it" : fault.expected;
	if (!fine && fault.at > text.len)
		differs = "a fault behind the end";
	for (size_t i = 0; fine && !differs && i < ORACLE_PATHS; i++)
		if (!oracle_same(&columns[i], oracle_find(root, oracle_steps[i])))
			differs = oracle_paths[i];
	json_decref(root);
	return differs;
}

#endif
