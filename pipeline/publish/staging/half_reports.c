/* half_reports.c - see half_reports.h */
#include "half_reports.h"

#include "shape.h"

enum { REAL_DIGITS = 17 };

static const struct shape_member map_region_members[] = {
	{.key = "region", INDEX, AT(map_region, region)},
	{.key = "records", COUNT, AT(map_region, records)},
	{.key = "pieces", COUNT, AT(map_region, pieces)},
	{.key = "offset", COUNT, AT(map_region, offset)},
	{.key = "bytes", COUNT, AT(map_region, bytes)},
};
SHAPE(map_region, map_region_members);

static const struct shape_member map_table_members[] = {
	{.key = "name", TEXT, AT(map_table, name)},
	{.key = "filtered", COUNT, AT(map_table, filtered)},
	{.key = "regions",
	 LIST,
	 AT(map_table, regions),
	 .items = &map_region_shape,
	 .count_at = AT(map_table, nregions)},
};
SHAPE(map_table, map_table_members);

static const struct shape_member map_members[] = {
	{.key = "program", TEXT, AT(map_report, program)},
	{.key = "plan", DIGEST, AT(map_report, plan)},
	{.key = "path", TEXT, AT(map_report, path)},
	{.key = "columns",
	 LIST,
	 AT(map_report, columns),
	 .items = &manifest_column_shape,
	 .count_at = AT(map_report, ncolumns),
	 .optional = true},
	{.key = "number", COUNT, AT(map_report, number)},
	{.key = "size", COUNT, AT(map_report, size)},
	{.key = "head", COUNT, AT(map_report, head)},
	{.key = "head_lines", COUNT, AT(map_report, head_lines)},
	{.key = "from", COUNT, AT(map_report, from)},
	{.key = "to", COUNT, AT(map_report, to)},
	{.key = "first", COUNT, AT(map_report, first)},
	{.key = "end", COUNT, AT(map_report, end)},
	{.key = "lines", COUNT, AT(map_report, lines)},
	{.key = "seqs", COUNT, AT(map_report, seqs)},
	{.key = "line_base", COUNT, AT(map_report, line_base)},
	{.key = "head_read", FLAG, AT(map_report, head_read)},
	{.key = "whole", FLAG, AT(map_report, whole)},
	{.key = "last", FLAG, AT(map_report, last)},
	{.key = "digest", DIGEST, AT(map_report, digest)},
	{.key = "read", COUNT, AT(map_report, read)},
	{.key = "rejected", COUNT, AT(map_report, rejected)},
	{.key = "blank_lines", COUNT, AT(map_report, blank_lines)},
	{.key = "newest_ms", MILLIS, AT(map_report, newest_ms)},
	{.key = "reasons",
	 LIST,
	 AT(map_report, reasons),
	 .items = &reject_reason_shape,
	 .count_at = AT(map_report, nreasons)},
	{.key = "tables",
	 LIST,
	 AT(map_report, tables),
	 .items = &map_table_shape,
	 .count_at = AT(map_report, ntables)},
};
SHAPE(map_report, map_members);

static const struct shape_member slice_members[] = {
	{.key = "slice", COUNT, AT(reduce_slice, slice)},
	{.key = "records", COUNT, AT(reduce_slice, records)},
};
SHAPE(reduce_slice, slice_members);

static const struct shape_member collision_members[] = {
	{.key = "row", ROW_KEY, AT(reduce_collision, row)},
	{.key = "lost", COUNT, AT(reduce_collision, lost)},
	{.key = "kept", COUNT, AT(reduce_collision, kept)},
};
SHAPE(reduce_collision, collision_members);

static const struct shape_member reduce_region_members[] = {
	{.key = "region", INDEX, AT(reduce_region, region)},
	{.key = "rows", COUNT, AT(reduce_region, rows)},
	{.key = "cells", COUNT, AT(reduce_region, cells)},
	{.key = "cells_deduplicated", COUNT, AT(reduce_region, cells_deduplicated)},
	{.key = "loaded", COUNT, AT(reduce_region, loaded)},
	{.key = "deduplicated", COUNT, AT(reduce_region, deduplicated)},
	{.key = "collision",
	 PART,
	 AT(reduce_region, collision),
	 .items = &reduce_collision_shape,
	 .optional = true},
	{.key = "slices",
	 LIST,
	 AT(reduce_region, slices),
	 .items = &reduce_slice_shape,
	 .count_at = AT(reduce_region, nslices)},
	{.key = "files",
	 LIST,
	 AT(reduce_region, files),
	 .items = &manifest_file_shape,
	 .count_at = AT(reduce_region, nfiles)},
};
SHAPE(reduce_region, reduce_region_members);

static const struct shape_member reduce_table_members[] = {
	{.key = "name", TEXT, AT(reduce_table, name)},
	{.key = "regions",
	 LIST,
	 AT(reduce_table, regions),
	 .items = &reduce_region_shape,
	 .count_at = AT(reduce_table, nregions)},
};
SHAPE(reduce_table, reduce_table_members);

static const struct shape_member reduce_members[] = {
	{.key = "program", TEXT, AT(reduce_report, program)},
	{.key = "plan", DIGEST, AT(reduce_report, plan)},
	{.key = "created_ms", MILLIS, AT(reduce_report, created_ms)},
	{.key = "tables",
	 LIST,
	 AT(reduce_report, tables),
	 .items = &reduce_table_shape,
	 .count_at = AT(reduce_report, ntables)},
};
SHAPE(reduce_report, reduce_members);

static const struct shape_member source_range_members[] = {
	{.key = "first", COUNT, AT(source_range, first)},
	{.key = "end", COUNT, AT(source_range, end)},
	{.key = "digest", DIGEST, AT(source_range, digest)},
};
SHAPE(source_range, source_range_members);

static const struct shape_member source_digest_members[] = {
	{.key = "number", COUNT, AT(source_digest, number)},
	{.key = "path", TEXT, AT(source_digest, path)},
	{.key = "size", COUNT, AT(source_digest, size)},
	{.key = "digest", DIGEST, AT(source_digest, digest)},
	{.key = "parts",
	 LIST,
	 AT(source_digest, parts),
	 .items = &source_range_shape,
	 .count_at = AT(source_digest, nparts)},
};
SHAPE(source_digest, source_digest_members);

static const struct shape_member source_input_members[] = {
	{.key = "path", TEXT, AT(source_input, path)},
	{.key = "size", COUNT, AT(source_input, size)},
};
SHAPE(source_input, source_input_members);

static const struct shape_member source_inputs_members[] = {
	{.key = "inputs",
	 LIST,
	 AT(source_inputs, inputs),
	 .items = &source_input_shape,
	 .count_at = AT(source_inputs, ninputs)},
	{.key = "digests",
	 LIST,
	 AT(source_inputs, digests),
	 .items = &source_digest_shape,
	 .count_at = AT(source_inputs, ndigests),
	 .optional = true},
};
SHAPE(source_inputs, source_inputs_members);

static char *path_in(const char *folder)
{
	return mem_format("%s/report.json", folder);
}

static int write_in(const struct shape *s, const void *object, const char *folder,
		    struct error *err)
{
	char *path = path_in(folder);
	int rc = shape_write(s, object, REAL_DIGITS, path, err);

	mem_free(path);
	return rc;
}

static int read_in(const struct shape *s, void *object, const char *folder, const char *what,
		   struct arena *a, struct error *err)
{
	char *path = path_in(folder);
	int rc = shape_read(s, object, path, what, a, err);

	mem_free(path);
	return rc;
}

int map_report_write(const struct map_report *r, const char *folder, struct error *err)
{
	return write_in(&map_report_shape, r, folder, err);
}

int reduce_report_write(const struct reduce_report *r, const char *folder, struct error *err)
{
	return write_in(&reduce_report_shape, r, folder, err);
}

int map_report_read(struct map_report *r, const char *folder, struct arena *a, struct error *err)
{
	*r = (struct map_report){0};
	return read_in(&map_report_shape, r, folder, "the report of a map", a, err);
}

int reduce_report_read(struct reduce_report *r, const char *folder, struct arena *a,
		       struct error *err)
{
	*r = (struct reduce_report){0};
	return read_in(&reduce_report_shape, r, folder, "the report of a reduce", a, err);
}

void input_digest_format(const struct source_digest *d, struct buf *out)
{
	shape_format(&source_digest_shape, d, REAL_DIGITS, out);
}

int input_list_read(struct source_inputs *l, const char *path, struct arena *a, struct error *err)
{
	*l = (struct source_inputs){0};
	return shape_read(&source_inputs_shape, l, path, "a list of inputs", a, err);
}
