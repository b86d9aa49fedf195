/* options_load.c - options of the commands that read events */
#include <stdlib.h>
#include <string.h>

#include "input_options.h"
#include "options.h"

#define SLICES_MOST 1000000u

/*
 * Reads digits up to the byte `end`. If `or_nothing` is true, there may be no digits. Returns NULL
 * if the text has another form.
 */
static const char *parse_part(const char *p, char end, bool or_nothing, uint64_t *out)
{
	size_t digits = strspn(p, "0123456789");

	if (p[digits] != end || digits > 18 || (digits == 0 && !or_nothing))
		return NULL;
	if (digits > 0)
		*out = strtoull(p, NULL, 10);
	return p + digits + (end != 0);
}

/*
 * Parses "0-1000000", "=0-1000000", "0=70-1000000" or "3/8", which means part 3 of 8. Returns false
 * if the text has another form.
 */
static bool slice_parse(struct source_slice *out, const char *text)
{
	uint64_t part = 0, parts = 0;
	const char *p = parse_part(text, '/', false, &part);

	*out = (struct source_slice){.to = UINT64_MAX, .exact = strchr(text, '=') != NULL};
	if (p && parse_part(p, 0, false, &parts) && part >= 1 && part <= parts &&
	    parts <= SLICES_MOST) {
		out->part = (unsigned)part;
		out->parts = (unsigned)parts;
		return true;
	}
	p = out->exact ? parse_part(text, '=', true, &out->from) : text;
	p = p ? parse_part(p, '-', false, out->exact ? &out->row : &out->from) : NULL;
	if (*text == '=')
		out->from = out->row;
	return p && parse_part(p, 0, true, &out->to) &&
	       (out->exact ? out->from <= out->row : out->from <= out->to);
}

#define PUBLISHERS "load unite stream replay"
#define PARTIAL	   "load plan map" /* these commands can read a part of one input */

/* Reads "7" or "7-12". The range includes both ends. */
static int take_regions(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	struct arguments *a = slot;
	size_t digits = strspn(text, "0123456789");
	char *end = NULL;

	a->first_region = a->last_region = strtoull(text, &end, 10);
	if (digits && *end == '-' && strspn(end + 1, "0123456789"))
		a->last_region = strtoull(end + 1, &end, 10);
	if (!digits || *end || a->last_region >= UINT32_MAX || a->first_region > a->last_region)
		return option_refuse(o, text, err, "a region like 7, or regions like 7-12");
	return RC_OK;
}

static int take_share(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	struct source_slice *share = slot;

	if (!slice_parse(share, text) || share->parts == 0)
		return option_refuse(o, text, err, "K/N, the K-th of N shares");
	return RC_OK;
}

static int take_sample(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	char *end;
	double share = strtod(text, &end);

	if (*end == '%' && end[1] == 0)
		share /= 100;
	else if (*end)
		share = 0;
	if (!(share > 0 && share <= 1))
		return option_refuse(o, text, err, "a share like 5%% or 0.05");
	*(double *)slot = share;
	return RC_OK;
}

static int take_factor(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	char *end;
	double factor = strtod(text, &end);

	if (*end || end == text || !(factor >= 1 && factor <= 1e9))
		return option_refuse(o, text, err, "a number from 1, like 2 or 1.5");
	*(double *)slot = factor;
	return RC_OK;
}

static int take_halves(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	(void)o;
	return folders_add(slot, text, err);
}

static int take_slice(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	if (!slice_parse(slot, text))
		return option_refuse(o, text, err,
				     "bytes A-B of the file, =A-B if a row begins at A, or K/N, "
				     "the K-th of N parts (at most %u)",
				     SLICES_MOST);
	return RC_OK;
}

/* clang-format off */
const struct cli_option options_load[] = {
	{"output", 'o', "JOB", "init", take_text, AT(output),
	 .help = "write the job to this new file (default: standard output)"},
	{"output", 'o', "DIR", "load unite replay", take_text, AT(output),
	 .help = "publish the load as this new folder, here or in HDFS (webhdfs://HOST:PORT/PATH)"},
	{"output", 'o', "DIR", "merge convert rekey", take_text, AT(output),
	 .help = "publish the load as this new folder"},
	{"output", 'o', "DIR", "stream", take_text, AT(output),
	 .help = "publish the loads in this folder (default: published in the --state folder)"},
	{"output", 'o', "DIR", "map", take_text, AT(output),
	 .help = "write sorted rows, a report and the rejected events to this new folder"},
	{"output", 'o', "DIR", "reduce", take_text, AT(output),
	 .help = "write HFiles and a report to this new folder"},
	{"output", 'o', "DIR", "plan", take_text, AT(output),
	 .help = "write split points and create-table scripts to this new folder"},
	{"output", 'o', "DIR", "design", take_text, AT(output),
	 .help = "write the jobs of the designs, queries.yaml, design.json and design.html into this new folder"},
	{"output", 'o', "FILE", "watch", take_text, AT(output),
	 .help = "write an HTML page with the heat maps to FILE after each window"},
	{"output", 'o', "FILE", "report", take_text, AT(output),
	 .help = "write the page to this file; - writes to standard output", .standard = "report.html"},

	{"rows", 0, "N", "check", take_size, AT(rows),
	 .help = "check the first N rows; for topics, the first N messages of each partition",
	 .standard = "1000", .least = 1, .most = 1000000},
	{"show", 0, "N", "check", take_size, AT(shown),
	 .help = "show N good rows with their fields, row key and cells", .standard = "3", .most = 1000000},

	{"state", 0, "DIR", "stream status loads seek", take_text, AT(state_dir),
	 .help = "the state folder, which records the loaded offsets"},
	{"state", 0, "DIR", "load", take_text, AT(state_dir),
	 .help = "for Kafka: continue where the last load of this state folder ended"},
	{"until", 0, "[TOPIC/]P=OFFSET,...", "load", take_text, AT(until),
	 .help = "for Kafka: end the load before this offset of the partition, like 3=1200"},
	{"state", 0, "DIR", "plan drift", take_text, AT(state_dir),
	 .help = "for Kafka: read the messages that the next load of this state folder would load; "
	 "change nothing"},
	{"ledger", 0, "DIR", "load", take_text, AT(ledger),
	 .help = "skip the files that a load in DIR already contains, and fail if one of them has "
	 "changed; DIR must contain only loads of this job, and -o must be a folder in DIR", .without = "slice state"},
	{"replace", 0, NULL, "load", take_flag, AT(replace),
	 .help = "also load the files whose content changed after their load",
	 .with = "ledger"},
	{"ledger", 0, "DIR", "loads", take_text, AT(ledger),
	 .help = "list the loads in DIR, oldest first, and show which loads are in HBase",
	 .without = "state"},
	{"keep", 0, "N|TIME", "loads", take_keep, AT(keep),
	 .help = "remove loads that are in HBase and older than TIME (like 30d) or than the newest "
	 "N; ledger.json keeps the names and digests of their inputs (default: keep all)",
	 .with = "ledger", .least = 1, .most = UINT32_MAX},
	{"textfile", 0, "FILE", "loads", take_text, AT(textfile),
	 .help = "write gauges of the newest load for the textfile collector of node_exporter",
	 .with = "ledger"},
	{"loaded", 0, "NAME", "loads", take_text, AT(loaded),
	 .help = "mark a load, like 00000042 or p00003/00000042, that reached HBase by other "
                 "means"},
	{"published", 0, "NAME", "loads", take_text, AT(published),
	 .help = "after an interrupted load, record the load as published, if another program "
                 "moved its folder"},
	{"discard", 0, "NAME", "loads", take_text, AT(discard),
	 .help = "after an interrupted load: discard the load, and load its offsets again"},
	{"rebuild", 0, NULL, "loads", take_flag, AT(rebuild),
	 .help = "rebuild a damaged state from the manifests of its loads, in DIR and in FOLDER"},
	{"rejects", 0, "[=FILE]", "replay", take_text, AT(rejects_file),
	 .help = "load these messages (default: rejects.jsonl of the load, which you can repair "
	 "first)"},
	{"job", 0, "JOB", "replay", take_text, AT(job),
	 .help = "use this job file (default: the job file of the load)"},
	{"job", 0, "JOB", "seek", take_text, AT(job),
	 .help = "check the offsets at the brokers of this job (default: the job of the newest "
	 "load)"},

	{"job", 0, "JOB", "watch", take_text, AT(job),
	 .help = "a job with this table, to show row keys as fields"},
	{"max-rejects", 0, "N|P%", "load unite replay", take_limit, AT(max_rejects),
	 .help = "accept at most this many bad events, and publish without them", .standard = "0"},
	{"max-rejects", 0, "N|P%", "stream", take_limit, AT(max_rejects),
	 .help = "accept at most this many bad events in each load", .standard = "1000"},
	{"max-duplicates", 0, "N|P%", PUBLISHERS, take_limit, AT(max_duplicates),
	 .help = "fail if later events overwrite more events than this of a table (default: no "
                 "limit, with a warning above 1%)"},
	{"max-filtered", 0, "N|P%", "load unite", take_limit, AT(max_filtered),
	 .help = "fail if the job filters more events than this for a table (default: no limit)"},
	{"min-rows", 0, "N", "load unite", take_number, AT(min_rows),
	 .help = "fail if a table gets fewer than N rows", .standard = "0"},
	{"previous", 0, "DIR", "load", take_text, AT(previous_dir),
	 .help = "print a warning if input columns differ from the columns of this earlier load"},

	{"plan", 0, "DIR", "load", take_text, AT(plan_dir),
	 .help = "use the split points and settings that `plan -o DIR` wrote",
	 .without = "existing hbase"},
	{"plan", 0, "DIR", "map reduce unite", take_text, AT(plan_dir),
	 .help = "use the split points and settings that `plan -o DIR` wrote; use the same plan "
	 "for the whole load"},
	{"input", 0, "N", "map digest", take_number, AT(number),
	 .help = "the position of the file in the list of all inputs, from 0",
	 .most = SOURCE_FILES_MOST - 1},
	{"pack", 0, NULL, "map", take_flag, AT(pack),
	 .help = "compress the rows, for a slow network"},
	{"unordered", 0, NULL, "map", take_flag, AT(unordered),
	 .help = "another map of this input may read the same rows in another order"},
	{"table", 0, "TABLE", "reduce ddl key get scan", take_text, AT(table),
	 .help = "the table, if the job has several"},
	{"table", 0, "TABLE", "watch", take_text, AT(table),
	 .help = "the table, as `tables` prints it"},
	{"table", 0, "TABLE", "init", take_text, AT(table),
	 .help = "make a job for this table of --hbase, or the name of the table in the job"},
	{"table", 0, "TABLE", "agree", take_text, AT(table),
	 .help = "compare only this table (default: all other tables of the job)"},
	{"table", 0, "TABLE", "diff", take_text, AT(table),
	 .help = "the live table of --hbase; and the table of a load that has several"},
	{"table", 0, "TABLE", "merge convert", take_text, AT(table),
	 .help = "the table of the load, and the table of inputs that have several"},
	{"table", 0, "TABLE", "rekey", take_text, AT(table),
	 .help = "the table of OLD, if it has several"},
	{"region", 0, "I|I-J", "reduce", take_regions, 0,
	 .help = "reduce these regions of the table, counted from 0", .without = "share"},
	{"share", 0, "K/N", "reduce", take_share, AT(share),
	 .help = "reduce the K-th of N shares of all regions (default: all regions)"},
	{"created", 0, "MS", "reduce", take_number, AT(created_ms),
	 .help = "write this creation time into the HFiles (default: the time in the reports of "
                 "all "
	 "maps)",
	 .most = INT64_MAX},
	{"maps", 0, "DIR", "unite digest", take_halves, AT(maps),
	 .help = "the output folder of a map, or a folder with such folders; may be repeated"},
	{"reduces", 0, "DIR", "unite", take_halves, AT(reduces),
	 .help = "the output folder of a reduce, or a folder with such folders; without it, unite "
	 "only checks the maps"},
	{"hfiles", 0, "URI", "reduce", take_text, AT(hfiles),
	 .help = "also send the HFiles to this existing folder of HDFS, which has the same parent "
	 "as the later load; in S3, to a folder in the later load with a name of 16 hexadecimal "
	 "digits"},
	{"hfiles", 0, "URI", "unite", take_text, AT(hfiles),
	 .help = "the folder to which the reduces sent their HFiles; it has the same parent as -o, "
	 "or in S3, it is in -o"},
	{"manifest", 0, "FILE", "unite", take_text, AT(manifest_file),
	 .help = "also write the manifest to this new file of this machine", .without = "loads"},
	{"discard-hfiles", 0, NULL, "unite", take_flag, AT(discard_hfiles),
	 .help = "remove the folder of --hfiles in S3 and publish nothing; fail if -o is a load"},
	{"inputs", 0, "FILE", "unite", take_text, AT(inputs_file),
	 .help = "describe the inputs, if this machine cannot open them: {\"inputs\": [{\"path\", "
	 "\"size\"}...], \"digests\": [...]} in order, with the output of `digest` for sliced "
	 "files"},
	{"totals", 0, NULL, "reduce", take_flag, AT(totals),
	 .help = "report the rows of each region for all slices together; a report then stays "
	 "small after thousands of maps"},
	{"totals", 0, "FILE", "unite", take_text, AT(totals_file),
	 .help = "the sums of the regions of all maps, if their reports have no regions "
	 "(`help schema map-totals`)"},
	{"loads", 0, "DIR", "unite", take_list, AT(loads),
	 .help = "join loads of slices (`load --slice K/N --plan DIR`); fail if two of them have "
	 "the same cell",
	 .without = "plan maps reduces inputs totals"},
	{"max-files", 0, "N", "unite", take_number, AT(max_files),
	 .help = "with --loads: fail if a region and family get more files", .standard = "16",
	 .least = 1, .most = 32},

	{"tune", 0, NULL, "plan", take_flag, AT(tune),
	 .help = "with -o: also choose the settings of `level: auto`, for `load --plan`"},
	{"sample", 0, "SHARE", "plan design compare", take_sample, AT(sample),
	 .help = "read only this share of the input, evenly distributed, like 5%", .standard = "100%"},
	{"save", 0, "FILE", "plan", take_text, AT(save),
	 .help = "write a sketch of the keys to this file, for --from"},
	{"from", 0, "FILE", "plan", take_list, AT(samples),
	 .help = "merge the sketches that --save wrote, instead of reading events; may be "
                 "repeated"},
	{"max-filesize", 0, "SIZE", "drift", take_size, AT(max_filesize),
	 .help = "the size at which HBase splits a region (default: MAX_FILESIZE of the job, or "
	 "10G)",
	 .least = 1},
	{"fail-above", 0, "FACTOR", "drift", take_factor, AT(fail_above),
	 .help = "exit with status 3 if a region gets more than FACTOR times the mean, or if HBase "
		 "would split a region; useful in cron jobs"},

	{"slice", 0, "A-B|=A-B|A=R-B|K/N", PARTIAL, take_slice, AT(slice),
	 .help = "read only the rows that begin in bytes A to B of the file, or in its K-th of N "
	 "parts; write =A-B if a row begins exactly at A, or A=R-B if the first row begins at R"},
	{"columns", 0, "FILE", PARTIAL " unite", take_text, AT(input.columns_file),
	 .help = "read the header line from this file instead of the input"},
	{"name", 0, "PATH", PARTIAL " digest", take_text, AT(feed.name),
	 .help = "the path of the file that standard input (-) contains"},
	{"bytes", 0, "N", PARTIAL " digest", take_number, AT(feed.bytes),
	 .help = "the number of bytes on standard input; fail if standard input has another "
		 "length"},
	{"offset", 0, "O", PARTIAL, take_number, AT(feed.offset),
	 .help = "the position in the file of the first byte on standard input. For a slice A-B, O "
	 "is at most A - 1; for =A-B and A=R-B, O is A. After the last row of the slice, saltmill ignores "
	 "further bytes.",
	 .with = "bytes"},
	{"size", 0, "S", PARTIAL, take_number, AT(feed.size),
	 .help = "the size of the whole file; required for a slice of standard input",
	 .with = "bytes"},
	{0}
};
/* clang-format on */
