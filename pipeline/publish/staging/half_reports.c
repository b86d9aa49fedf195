/* half_reports.c - read and write the reports of map, reduce and digest (half_reports.h) */
#include "half_reports.h"

#include "shared_forms.h"

static const struct form_member map_region_members[] = {
	{"region", FORM_SIZE, IN(map_region, region), "number of the region, from 0"},
	{"records", FORM_COUNT, IN(map_region, records), "number of rows for this region"},
	{"pieces", FORM_COUNT, IN(map_region, pieces),
	 "number of sorted pieces in the file `runs`"},
	{"offset", FORM_COUNT, IN(map_region, offset),
	 "offset of the first piece in the file `runs`"},
	{"bytes", FORM_COUNT, IN(map_region, bytes), "size of all pieces of the region"},
	{"digest", FORM_INT, IN(map_region, digest), "number that identifies the rows"},
};
static const struct form map_region_form = FORM(map_region, map_region_members);

static const struct form_member map_table_members[] = {
	{"name", FORM_TEXT, IN(map_table, name),
	 "name of the table, with the namespace if it has one"},
	{"filtered", FORM_COUNT, IN(map_table, filtered),
	 "number of events without a cell for this table"},
	{"regions", FORM_LIST, IN(map_table, regions), "regions that have rows, in order",
	 ITEMS(map_table, map_region_form, nregions)},
};
static const struct form map_table_form = FORM(map_table, map_table_members);

static const struct form_member map_members[] = {
	{"program", FORM_TEXT, IN(map_report, program), "version of saltmill"},
	{"plan", FORM_DIGEST, IN(map_report, plan), "identity of the plan"},
	{"path", FORM_TEXT, IN(map_report, path), "path of the input"},
	{"columns", FORM_LIST, IN(map_report, columns), "columns of the input's schema",
	 FORM_IF_ANY, ITEMS(map_report, manifest_column_form, ncolumns)},
	{"number", FORM_COUNT, IN(map_report, number),
	 "number of the input among all inputs, from 0"},
	{"size", FORM_COUNT, IN(map_report, size), "size of the input"},
	{"head", FORM_COUNT, IN(map_report, head), "number of bytes before the first row"},
	{"head_lines", FORM_COUNT, IN(map_report, head_lines),
	 "number of line ends before the first row"},
	{"from", FORM_COUNT, IN(map_report, from), "offset of the first requested byte"},
	{"to", FORM_COUNT, IN(map_report, to),
	 "offset of the first byte after the requested bytes"},
	{"first", FORM_COUNT, IN(map_report, first), "offset of the first byte of the read rows"},
	{"end", FORM_COUNT, IN(map_report, end), "offset of the first byte after the read rows"},
	{"lines", FORM_COUNT, IN(map_report, lines), "number of line ends in the read rows"},
	{"seqs", FORM_COUNT, IN(map_report, seqs),
	 "number of sequence numbers from this input to the next input"},
	{"line_base", FORM_COUNT, IN(map_report, line_base),
	 "number of line ends before `first`, where the count of lines starts"},
	{"head_read", FORM_FLAG, IN(map_report, head_read), "true if `head` is known"},
	{"whole", FORM_FLAG, IN(map_report, whole),
	 "true if the map read the whole file, not a slice"},
	{"last", FORM_FLAG, IN(map_report, last), "true if no row is after `end`"},
	{"quote", FORM_TEXT, IN(map_report, quote), "CSV: the quote character", FORM_IF_ANY},
	{"digest", FORM_DIGEST, IN(map_report, digest),
	 "digest of the whole file, or XXH3-128 of the read rows of a slice"},
	{"summed", FORM_FLAG, IN(map_report, summed), "true if `sum` has all chunks of the slice"},
	{"sum", FORM_DIGEST, IN(map_report, sum),
	 "sum of the digests of the chunks of 1 MiB that begin in the slice"},
	{"before", FORM_DIGEST, IN(map_report, before),
	 "XXH3-128 of bytes that the previous slice read, too"},
	{"after", FORM_DIGEST, IN(map_report, after),
	 "XXH3-128 of bytes that the next slice read, too"},
	{"read", FORM_COUNT, IN(map_report, read), "number of events"},
	{"rejected", FORM_COUNT, IN(map_report, rejected), "number of rejected events"},
	{"blank_lines", FORM_COUNT, IN(map_report, blank_lines), "number of skipped blank lines"},
	{"rejected_lines", FORM_COUNT, IN(map_report, rejected_lines),
	 "number of line ends inside rejected events", FORM_IF_ANY},
	{"filtered_lines", FORM_COUNT, IN(map_report, filtered_lines),
	 "number of line ends inside events that no table takes", FORM_IF_ANY},
	{"finer_times", FORM_COUNT, IN(map_report, finer_times),
	 "times with digits after the microseconds", FORM_IF_ANY},
	{"finer_seq", FORM_COUNT, IN(map_report, finer_seq),
	 "number of the event with the first such time", FORM_IF_ANY},
	{"finer_field", FORM_COUNT, IN(map_report, finer_field),
	 "number of its field in the job, from 0", FORM_IF_ANY},
	{"newest_ms", FORM_INT, IN(map_report, newest_ms),
	 "newest cell timestamp, in ms since 1970; 0 means no cell"},
	{"reasons", FORM_LIST, IN(map_report, reasons),
	 "reasons of the rejects, most frequent first",
	 ITEMS(map_report, reject_reason_form, nreasons)},
	{"tables", FORM_LIST, IN(map_report, tables), "tables in the order of the job",
	 ITEMS(map_report, map_table_form, ntables)},
};
const struct form map_report_form =
	NAMED_FORM(map_report, map_members, "map-report", "report.json of a map");

static const struct form_member totals_members[] = {
	{"tables", FORM_LIST, IN(map_totals, tables), "tables in the order of the job",
	 ITEMS(map_totals, map_table_form, ntables)},
};
const struct form map_totals_form =
	NAMED_FORM(map_totals, totals_members, "map-totals", "the file of unite --totals");

static const struct form_member slice_members[] = {
	{"slice", FORM_COUNT, IN(reduce_slice, slice),
	 "sequence number of the first row of the slice"},
	{"records", FORM_COUNT, IN(reduce_slice, records),
	 "number of rows of the slice in the region"},
	{"digest", FORM_INT, IN(reduce_slice, digest), "number that identifies the rows"},
};
static const struct form slice_form = FORM(reduce_slice, slice_members);

static const struct form_member total_members[] = {
	{"records", FORM_COUNT, IN(region_total, records), "number of rows of all slices"},
	{"digest", FORM_INT, IN(region_total, digest), "number that identifies the rows"},
};
static const struct form total_form = FORM(region_total, total_members);

static const struct form_member collision_members[] = {
	{"row", FORM_KEY, IN(reduce_collision, row), "row key of both rows"},
	{"lost", FORM_COUNT, IN(reduce_collision, lost), "sequence number of the overwritten row"},
	{"kept", FORM_COUNT, IN(reduce_collision, kept), "sequence number of the row to keep"},
};
static const struct form collision_form = FORM(reduce_collision, collision_members);

static const struct form_member reduce_region_members[] = {
	{"region", FORM_SIZE, IN(reduce_region, region), "number of the region, from 0"},
	{"rows", FORM_COUNT, IN(reduce_region, rows), "number of row keys"},
	{"cells", FORM_COUNT, IN(reduce_region, cells), "number of stored cells"},
	{"cells_deduplicated", FORM_COUNT, IN(reduce_region, cells_deduplicated),
	 "number of overwritten cells"},
	{"loaded", FORM_COUNT, IN(reduce_region, loaded), "number of events that became cells"},
	{"deduplicated", FORM_COUNT, IN(reduce_region, deduplicated),
	 "number of overwritten events"},
	{"collision", FORM_PART, IN(reduce_region, collision), "the first overwritten event",
	 FORM_IF_ANY, &collision_form},
	{"cells_hidden", FORM_COUNT, IN(reduce_region, cells_hidden),
	 "stored cells that delete markers hide", FORM_IF_ANY},
	{"hidden", FORM_LIST, IN(reduce_region, hidden),
	 "examples of such cells; `lost` and `kept` "
	 "are their row and that of the marker",
	 FORM_IF_ANY, ITEMS(reduce_region, collision_form, nhidden)},
	{"slices", FORM_LIST, IN(reduce_region, slices), "slices of the input, in order",
	 ITEMS(reduce_region, slice_form, nslices)},
	{"total", FORM_PART, IN(reduce_region, total), "the rows of all slices, after --totals",
	 FORM_IF_ANY, &total_form},
	{"files", FORM_LIST, IN(reduce_region, files), "HFiles, with paths relative to this file",
	 ITEMS(reduce_region, manifest_file_form, nfiles)},
};
static const struct form reduce_region_form = FORM(reduce_region, reduce_region_members);

static const struct form_member reduce_table_members[] = {
	{"name", FORM_TEXT, IN(reduce_table, name),
	 "name of the table, with the namespace if it has one"},
	{"regions", FORM_LIST, IN(reduce_table, regions), "the reduced regions, in order",
	 ITEMS(reduce_table, reduce_region_form, nregions)},
};
static const struct form reduce_table_form = FORM(reduce_table, reduce_table_members);

static const struct form_member reduce_members[] = {
	{"program", FORM_TEXT, IN(reduce_report, program), "version of saltmill"},
	{"plan", FORM_DIGEST, IN(reduce_report, plan), "identity of the plan"},
	{"created_ms", FORM_INT, IN(reduce_report, created_ms),
	 "timestamp in the files, in ms since 1970"},
	{"tables", FORM_LIST, IN(reduce_report, tables), "tables in the order of the job",
	 ITEMS(reduce_report, reduce_table_form, ntables)},
};
const struct form reduce_report_form =
	NAMED_FORM(reduce_report, reduce_members, "reduce-report", "report.json of a reduce");

static const struct form_member range_members[] = {
	{"first", FORM_COUNT, IN(source_range, first), "offset of the first byte of the part"},
	{"end", FORM_COUNT, IN(source_range, end), "offset of the first byte after the part"},
	{"digest", FORM_DIGEST, IN(source_range, digest), "XXH3-128 of the part's bytes"},
};
static const struct form range_form = FORM(source_range, range_members);

static const struct form_member digest_members[] = {
	{"number", FORM_COUNT, IN(source_digest, number),
	 "number of the input among all inputs, from 0"},
	{"path", FORM_TEXT, IN(source_digest, path), "path of the input"},
	{"size", FORM_COUNT, IN(source_digest, size), "size of the input"},
	{"digest", FORM_DIGEST, IN(source_digest, digest),
	 "sum of the XXH3-128 of the input's chunks of 1 MiB"},
	{"parts", FORM_LIST, IN(source_digest, parts), "parts that maps read",
	 ITEMS(source_digest, range_form, nparts)},
};
const struct form digest_form =
	NAMED_FORM(source_digest, digest_members, "digest", "the output of digest");

static const struct form_member input_members[] = {
	{"path", FORM_TEXT, IN(source_input, path), "path of the input"},
	{"size", FORM_COUNT, IN(source_input, size), "size of the input"},
};
static const struct form input_form = FORM(source_input, input_members);

static const struct form_member inputs_members[] = {
	{"inputs", FORM_LIST, IN(source_inputs, inputs), "all inputs, in the order of the load",
	 ITEMS(source_inputs, input_form, ninputs)},
	{"digests", FORM_LIST, IN(source_inputs, digests),
	 "outputs of digest, one for each input that maps read in slices", FORM_IF_ANY,
	 ITEMS(source_inputs, digest_form, ndigests)},
};
const struct form inputs_form =
	NAMED_FORM(source_inputs, inputs_members, "inputs", "the file of unite --inputs");

static char *path_in(const char *folder)
{
	return mem_format("%s/report.json", folder);
}

static int write_in(const struct form *f, const void *object, const char *folder, struct error *err)
{
	char *path = path_in(folder);
	int rc = form_write(f, object, path, err);

	mem_free(path);
	return rc;
}

static int read_in(const struct form *f, void *object, const char *folder, const char *what,
		   struct arena *a, struct error *err)
{
	char *path = path_in(folder);
	int rc = form_read(f, object, path, what, a, err);

	mem_free(path);
	return rc;
}

int map_report_write(const struct map_report *r, const char *folder, struct error *err)
{
	return write_in(&map_report_form, r, folder, err);
}

int reduce_report_write(const struct reduce_report *r, const char *folder, struct error *err)
{
	return write_in(&reduce_report_form, r, folder, err);
}

int map_report_read(struct map_report *r, const char *folder, struct arena *a, struct error *err)
{
	*r = (struct map_report){0};
	return read_in(&map_report_form, r, folder, "the report of a map", a, err);
}

int reduce_report_read(struct reduce_report *r, const char *folder, struct arena *a,
		       struct error *err)
{
	*r = (struct reduce_report){0};
	return read_in(&reduce_report_form, r, folder, "the report of a reduce", a, err);
}

int map_totals_read(struct map_totals *t, const char *path, struct arena *a, struct error *err)
{
	*t = (struct map_totals){0};
	return form_read(&map_totals_form, t, path, "totals of maps", a, err);
}

void input_digest_format(const struct source_digest *d, struct buf *out)
{
	form_put(out, &digest_form, d, FORM_FILE);
}

int input_list_read(struct source_inputs *l, const char *path, struct arena *a, struct error *err)
{
	*l = (struct source_inputs){0};
	return form_read(&inputs_form, l, path, "a list of inputs", a, err);
}
