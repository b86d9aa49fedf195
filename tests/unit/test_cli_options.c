/*
 * The table of options is the only description of an option. This test adds rows to the table. The
 * program parses the rows by the rules of getopt_long(3). They appear in the help, the manual page
 * and the three completions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/cli/command/help.h"
#include "pipeline/cli/command/options.h"

/* --- the test's program: two commands and seven options --- */

static const struct command plant = {.name = "plant",
				     .usage = "FILE",
				     .summary = "plant it",
				     .least = 1,
				     .most = 2,
				     .decides = "It decides so.",
				     .statuses = "0 done",
				     .examples = {"saltmill plant a", "saltmill plant b"}};
static const struct command other = {.name = "other",
				     .usage = "",
				     .summary = "do something else",
				     .statuses = "0 done",
				     .examples = {"saltmill other", "saltmill other --quiet"}};
const struct command *const commands[] = {&plant, &other, NULL};

const struct cli_option options_load[] = {
	{"depth", 'd', "N", "plant", take_number, AT(min_rows), .help = "the depth of the hole",
	 .standard = "7", .least = 1, .most = 99},
	{"shape", 0, NULL, "plant", take_choice, AT(format), .help = "the shape's name",
	 CHOICES({"round", 4}, {"square", 9})},
	{"bed", 0, "DIR", "plant", take_text, AT(output), .help = "the bed [of [flowers]]",
	 .with = "depth"},
	{"label", 0, "[=FILE]", "plant", take_text, AT(job), .help = "a label", .without = "shape"},
	{"drop-it", 0, NULL, "plant", take_flag, AT(drop), .help = "drop it"},
	{"share", 0, "N|P%", "plant", take_limit, AT(max_rejects), .help = "a share"},
	{"quiet", 0, NULL, "plant", take_flag, AT(tune), .help = "plant silently"},
	{"quiet", 0, NULL, "other", take_flag, AT(run.quiet), .help = "print less",
	 .anywhere = true},
	{"verbose", 0, NULL, "other", take_flag, AT(pack), .help = "print more", .anywhere = true},
	{0}};
const struct cli_option *const option_tables[] = {options_load, NULL};

/* --- parsing --- */

/* Parses the words after the command's name and drops messages. */
static int given(struct arguments *a, const struct command *c, const char *line)
{
	static char words[400], *argv[20];
	int argc = 0, kept = dup(STDERR_FILENO);

	snprintf(words, sizeof words, "%s %s", c->name, line);
	for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	*a = (struct arguments){.command = c};
	assert_non_null(freopen("/dev/null", "w", stderr));
	int rc = arguments_read(a, argc, argv);
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	return rc;
}

static void refused(const char *line)
{
	struct arguments a;

	if (given(&a, &plant, line) != RC_CONFIG)
		fail_msg("`%s` was accepted", line);
	arguments_release(&a);
}

static void forms(void **state)
{
	static const char *const lines[] = {"x --depth=42", "--depth 42 x",  "x -d42",
					    "-d 42 x",	    "--dep 42 -- x", "x --depth 5 -d 42"};
	struct arguments a;

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		assert_int_equal(given(&a, &plant, lines[i]), RC_OK);
		assert_int_equal(a.min_rows, 42);
		assert_int_equal(a.noperands, 1);
		assert_string_equal(a.operand[0], "x");
		assert_true(arguments_given(&a, "depth"));
		arguments_release(&a);
	}
	assert_int_equal(given(&a, &plant, "-- --depth -d"), RC_OK);
	assert_int_equal(a.noperands, 2);
	assert_string_equal(a.operand[0], "--depth");
	assert_int_equal(a.min_rows, 7); /* the default */
	assert_false(arguments_given(&a, "depth"));
	arguments_release(&a);
}

static void values(void **state)
{
	struct arguments a;

	(void)state;
	assert_int_equal(given(&a, &plant, "x --shape square --drop-it --share 2.5%"), RC_OK);
	assert_int_equal(a.format, 9);
	assert_true(a.drop);
	assert_true(a.max_rejects.is_share && a.max_rejects.share == 0.025);
	arguments_release(&a);
	assert_int_equal(given(&a, &plant, "x --label"), RC_OK);
	assert_null(a.job);
	arguments_release(&a);
	assert_int_equal(given(&a, &plant, "x --label=l --bed b --depth 1 --qui --verbose"), RC_OK);
	assert_string_equal(a.job, "l");
	assert_string_equal(a.output, "b");
	assert_true(a.tune && a.pack && !a.run.quiet); /* the command's own row */
	arguments_release(&a);
}

static void wrong(void **state)
{
	static const char *const lines[] = {"x --depth",
					    "x --depth 0",
					    "x --depth 100",
					    "x --depth 1x",
					    "x --depth -1",
					    "x --depth ",
					    "x --deep 1",
					    "x -x",
					    "x --d 1",
					    "x --shape oval",
					    "x --drop-it=no",
					    "x --share 101%",
					    "x --share some",
					    "x --bed b",
					    "",
					    "x y z",
					    "x --label --shape round"};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		refused(lines[i]);
}

static void other_commands_do_not_take_them(void **state)
{
	struct arguments a;

	(void)state;
	assert_int_equal(given(&a, &other, "--quiet"), RC_OK);
	arguments_release(&a);
	assert_int_equal(given(&a, &other, "--depth 3"), RC_CONFIG);
	arguments_release(&a);
}

/* --- pages --- */

static char *text_of(struct buf *b)
{
	buf_put(b, 0);
	return (char *)b->ptr;
}

static void has(struct buf *b, const char *text)
{
	if (!strstr(text_of(b), text))
		fail_msg("`%s` is not in:\n%s", text, (char *)b->ptr);
	b->len--;
}

static void pages(void **state)
{
	struct buf help = {0}, man = {0}, none = {0};

	(void)state;
	help_command(&help, &plant);
	has(&help, "\nHow it decides:\n  It decides so.\n");
	has(&help, "\n  -d, --depth N           the depth of the hole (default: 7)\n");
	has(&help, "\n  --shape round|square    the shape's name\n");
	has(&help, "\n  --label[=FILE]          a label\n");
	has(&help, "\n  saltmill plant b\n");
	has(&help, "\n  --quiet                 plant silently\n");
	assert_null(strstr(text_of(&help), "--verbose")); /* accepted, but not listed */
	manual_command(&man, &plant);
	has(&man, ".TP\n.B \\-d, \\-\\-depth N\nthe depth of the hole (default: 7)\n");
	has(&man, ".B \\-\\-shape round|square\nthe shape\\(aqs name\n");
	help_command(&none, &other);
	assert_null(strstr(text_of(&none), "--depth"));
	buf_release(&help);
	buf_release(&man);
	buf_release(&none);
}

static void completions(void **state)
{
	struct buf bash = {0}, zsh = {0}, fish = {0};

	(void)state;
	complete_bash(&bash);
	has(&bash, "plant) options=' --depth -d --shape --bed --label --drop-it --share --quiet'");
	has(&bash, "'plant --shape') COMPREPLY=($(compgen -W 'round square' -- \"$word\"))");
	has(&bash, "'plant --bed') COMPREPLY=($(compgen -d -- \"$word\"))");
	complete_zsh(&zsh);
	has(&zsh, "'--depth[the depth of the hole (default\\: 7)]:value: '");
	has(&zsh, "'--shape[the shape'\\''s name]:value:(round square)'");
	has(&zsh, "'--bed[the bed \\[of \\[flowers\\]\\]]:folder:_files -/'");
	has(&zsh, "'--label=-[a label]::file:_files'");
	complete_fish(&fish);
	has(&fish, "-s d -l depth -x -d 'the depth of the hole (default: 7)'");
	has(&fish, "-l shape -x -a 'round square' -d 'the shape\\'s name'");
	buf_release(&bash);
	buf_release(&zsh);
	buf_release(&fish);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms), cmocka_unit_test(values),
		cmocka_unit_test(wrong), cmocka_unit_test(other_commands_do_not_take_them),
		cmocka_unit_test(pages), cmocka_unit_test(completions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
