/* Tests that in the table of options, each command exists and has no option twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "pipeline/cli/command/options.h"

/* Checks that each word of the list is a command or, in `with` and `without`, an option of the
 * command. */
static void each_word(const struct cli_option *o, const char *list,
		      bool (*is_known)(const char *word))
{
	char word[40];

	for (const char *at = list; *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		assert_true(n < sizeof word);
		memcpy(word, at, n);
		word[n] = 0;
		if (!is_known(word))
			fail_msg("%s: `%s` is unknown", option_name(o).text, word);
		at += n;
	}
}

static bool is_command(const char *word)
{
	return command_find(word) != NULL;
}

static bool is_option(const char *word)
{
	for (const struct cli_option *const *t = option_tables; *t; t++)
		for (const struct cli_option *o = *t; o->name || o->letter; o++)
			if (o->name && strcmp(o->name, word) == 0)
				return true;
	return false;
}

static void names_are_known(void **state)
{
	size_t rows = 0;

	(void)state;
	for (const struct cli_option *const *t = option_tables; *t; t++)
		for (const struct cli_option *o = *t; o->name || o->letter; o++, rows++) {
			each_word(o, o->of ? o->of : "", is_command);
			each_word(o, o->with ? o->with : "", is_option);
			each_word(o, o->without ? o->without : "", is_option);
			assert_true(o->read != NULL);
			assert_true(!o->choices || !o->argument);
		}
	assert_true(rows > 100);
}

static void no_command_has_one_twice(void **state)
{
	(void)state;
	for (const struct command *const *c = commands; *c; c++) {
		struct option_place at = {0}, after;
		const struct cli_option *o, *p;

		while ((o = option_next(&at, *c, false)))
			for (after = at; (p = option_next(&after, *c, false));) {
				bool same = o->name && p->name && strcmp(o->name, p->name) == 0;

				if (same || (o->letter && o->letter == p->letter))
					fail_msg("%s has %s twice", (*c)->name,
						 option_name(o).text);
			}
	}
}

/* The parser accepts each default, and --help works without any option. */
static void defaults_are_read(void **state)
{
	(void)state;
	for (const struct command *const *c = commands; *c; c++) {
		struct arguments a = {.command = *c};
		struct option_place at = {0};
		const struct cli_option *o;
		struct error err;

		while ((o = option_next(&at, *c, false)))
			if (o->standard && o->read(o, o->standard, (char *)&a + o->slot, &err))
				fail_msg("%s %s: %s", (*c)->name, o->name, err.msg);
		arguments_release(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_known),
		cmocka_unit_test(no_command_has_one_twice),
		cmocka_unit_test(defaults_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
