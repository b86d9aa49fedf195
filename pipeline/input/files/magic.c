#include "input/magic.h"

struct magic {
	const char *bytes;
	size_t len;
	const char *is, *instead;
};

#define MAGIC(text, is, instead)                                                                   \
	{                                                                                          \
		text, sizeof text - 1, is, instead                                                 \
	}

/*
 * Make a Python command that converts a file to an Arrow stream. `file` is the expression that
 * opens the file. `schema` and `batches` are expressions for its parts.
 */
#define PYTHON(imports, file, schema, batches)                                                     \
	"python3 -c \"import sys, pyarrow as p, " imports "; f = " file                            \
	"; w = p.ipc.new_stream(sys.stdout.buffer, " schema "); [w.write(b) for b in " batches     \
	"]; w.close()\" | saltmill load JOB - -o DIR, with `source: arrow` in the job"

static const struct magic known[] = {
	MAGIC("PAR1", "a Parquet file",
	      PYTHON("pyarrow.parquet as q", "q.ParquetFile('FILE.parquet')", "f.schema_arrow",
		     "f.iter_batches()")),
	MAGIC("ORC", "an ORC file",
	      PYTHON("pyarrow.orc as q", "q.ORCFile('FILE.orc')", "f.schema",
		     "f.read().to_batches()")),
	MAGIC("Obj\1", "an Avro file", "`source: avro` in the job"),
	MAGIC("ARROW1\0\0", "an Arrow file", "`source: arrow` in the job"),
	MAGIC("\xff\xff\xff\xff", "an Arrow stream", "`source: arrow` in the job"),
	MAGIC("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook (xls)",
	      "the sheet saved as CSV"),
	MAGIC("SQLite format 3\0", "a SQLite database",
	      "sqlite3 -header -csv FILE.db 'select * from TABLE' | saltmill load JOB - -o DIR"),
	MAGIC("7z\xbc\xaf\x27\x1c", "a 7z archive",
	      "7z x -so FILE.7z | saltmill load JOB - -o DIR"),
	MAGIC("%PDF-", "a PDF document", "the data it was made from"),
	MAGIC("\xff\xfe", "UTF-16 text", "`encoding: utf-16` in the job's source: csv"),
	MAGIC("\xfe\xff", "UTF-16 text", "`encoding: utf-16` in the job's source: csv"),
};

int magic_check(const char *name, struct bytes head, struct error *err)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const struct magic *m = &known[i];

		if (head.len >= m->len && memcmp(head.ptr, m->bytes, m->len) == 0)
			return error_set(err, RC_DATA,
					 "%s: found %s, expected delimited text; use instead: %s",
					 name, m->is, m->instead);
	}
	return RC_OK;
}
