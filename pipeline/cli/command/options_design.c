/* options_design.c - options of the commands that design row keys */
#include <stdlib.h>
#include <unistd.h>

#include "mem.h"
#include "options.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyz"

/* Adds a question. The next word may be its rate. */
static int take_ask(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	struct design_arguments *d = slot;

	(void)o, (void)err;
	d->asks = mem_grow(d->asks, d->nasks, sizeof *d->asks);
	d->asks[d->nasks++] = (struct design_ask){.text = text};
	return RC_OK;
}

/* Returns true if the word has the form of a rate and names no file, such as 10/year or -5/s. */
static bool is_like_rate(const char *word)
{
	size_t digits = strspn(word, "+-.0123456789"), unit = strspn(word + digits, "kKMGT");
	const char *per = word + digits + unit;

	return digits && *per == '/' && per[1] && !per[1 + strspn(per + 1, LETTERS)] &&
	       access(word, F_OK) != 0;
}

static bool take_ask_rate(const char *word, void *slot)
{
	struct design_arguments *d = slot;
	double rate;

	/* a bad rate is no file: the question's error names it */
	if (!design_rate(word, &rate) && !is_like_rate(word))
		return false;
	d->asks[d->nasks - 1].rate = word;
	return true;
}

/* Reads a number such as 10M or 1.5G, with powers of 1000. */
static int take_rows(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	static const char units[] = "kMGT";
	double *rows = slot;
	char *end;

	*rows = strtod(text, &end);
	const char *unit = *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
	for (const char *u = units; unit && u <= unit; u++)
		*rows *= 1000;
	if (end == text || !(*rows >= 1) || *rows > 1e18 || (*end && (!unit || end[1])))
		return option_refuse(o, text, err, "a number like 500k, 10M or 1G, at least 1");
	return RC_OK;
}

static int take_rate(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	return design_rate(text, slot)
		       ? RC_OK
		       : option_refuse(o, text, err, "a rate like 5000/s, 5k/s, 20/min or 3/d");
}

/* clang-format off */
const struct cli_option options_design[] = {
	{"ask", 0, "QUESTION [RATE]", "design compare init", take_ask, AT(design),
	 .help = "a question with ? for values, like \"owner = ? and created between ? and ? + 1d\" "
	 "1000/s, or \"owner = ? latest 20\" (default rate: 1/s); repeat --ask for more questions",
	 .second = take_ask_rate},
	{"key", 0, "COLUMN,...", "init", take_text, AT(key),
	 .help = "make the row key from these columns, in this order (default: init chooses)",
	 .without = "ask"},
	{"full", 0, NULL, "init", take_flag, AT(full),
	 .help = "prove the job with the whole file (default: with the first 64 MiB, decoded)"},
	{"servers", 0, "N", "design compare", take_number, AT(design.servers),
	 .help = "the number of RegionServers", .standard = "8", .least = 1, .most = 10000},
	{"hotspot", 0, NULL, "plan", take_flag, AT(hotspot),
	 .help = "replay the events in the order of their arrival: the regions and servers that they "
	 "write over time", .without = "from"},
	{"servers", 0, "N", "plan", take_number, AT(design.servers),
	 .help = "with --hotspot: the number of RegionServers", .standard = "8", .least = 1,
	 .most = 10000, .with = "hotspot"},
	{"writes", 0, "RATE", "plan", take_rate, AT(design.writes),
	 .help = "with --hotspot: rows written, like 5000/s (default: the rate of the events); a window "
	 "is a minute of writes, at least 200 events", .with = "hotspot"},
	{"rows", 0, "N", "design compare", take_rows, AT(design.rows),
	 .help = "the rows that the tables keep, like 1G (default: those of the events, or a year of "
	 "--writes)"},
	{"rows", 0, "N", "plan", take_rows, AT(design.rows),
	 .help = "print what the row keys cost for so many rows, like 10M, and the number of regions"},
	{"writes", 0, "RATE", "design compare", take_rate, AT(design.writes),
	 .help = "rows written, like 5000/s (default: the rate of the events)"},
	{"grow", 0, NULL, "design compare", take_choice, AT(design.grow),
	 .help = "what a higher rate means: more entities, or more events of each entity",
	 .standard = "entities", CHOICES({"entities", 0}, {"time", 1})},
	{"tables", 0, "N", "design", take_number, AT(design.tables),
	 .help = "the most tables of a design", .standard = "3", .least = 1,
	 .most = DESIGN_TABLES_MOST},
	{"constants", 0, "FILE", "design compare", take_text, AT(design.constants),
	 .help = "JSON with the seconds of the model, as the `constants` of design.json: seek_s, "
	 "block_s, row_s, get_s, write_row_s and write_byte_s"},
	{"calibrate", 0, NULL, "design", take_flag, AT(design.calibrate),
	 .help = "measure the seconds of the model on the cluster of --hbase, with a table of 16 MB "
	 "that design drops again", .with = "hbase", .without = "constants"},
	{"queries", 0, "FILE", "check compare", take_text, AT(design.queries),
	 .help = "questions with their limits, as `design -o DIR` writes them to queries.yaml"},
	{"update", 0, NULL, "check", take_flag, AT(design.update),
	 .help = "write the measured figures to the file of --queries", .with = "queries"},
	{0}
};
/* clang-format on */
