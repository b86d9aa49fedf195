/* origin.c - columns that a row has beside those of its file: $file, $line, $row and partitions */
#include <string.h>

#include "job.h"

static const char *const names[] = {
	[ORIGIN_FILE] = "$file", [ORIGIN_LINE] = "$line", [ORIGIN_ROW] = "$row"};

enum origin column_origin(const struct job *job, const char *name)
{
	if (job->source == SOURCE_KAFKA)
		return ORIGIN_COLUMN;
	for (size_t i = ORIGIN_FILE; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return (enum origin)i;
	for (size_t i = 0; i < job->csv.npartitions; i++)
		if (strcmp(name, job->csv.partitions[i]) == 0)
			return ORIGIN_PARTITION;
	return ORIGIN_COLUMN;
}

bool job_reads(const struct job *job, enum origin origin)
{
	for (size_t i = 0; i < job->nfields; i++)
		for (size_t k = 0; k < job->fields[i].ncolumns; k++)
			if (column_origin(job, job->fields[i].columns[k]) == origin)
				return true;
	return false;
}
