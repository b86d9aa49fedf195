#include "magic.h"

struct magic {
	const char *bytes;
	size_t len;
	const char *is, *instead;
};

#define MAGIC(text, is, instead)                                                                   \
	{                                                                                          \
		text, sizeof(text) - 1, is, instead                                                \
	}

/* In Python, from the module that reads it. */
#define PYTHON(imports, table)                                                                     \
	"python3 -c \"import sys, " imports ", pyarrow.csv as c; c.write_csv(" table               \
	", sys.stdout.buffer)\" | saltmill load JOB - -o DIR"

static const struct magic known[] = {
	MAGIC("PAR1", "a Parquet file",
	      "duckdb -c \"COPY (FROM 'FILE.parquet') TO '/dev/stdout' (FORMAT csv)\" | saltmill "
	      "load "
	      "JOB - -o DIR"),
	MAGIC("ORC", "an ORC file", PYTHON("pyarrow.orc as o", "o.read_table('FILE.orc')")),
	MAGIC("Obj\1", "an Avro file", "`source: avro` in the job"),
	MAGIC("ARROW1\0\0", "an Arrow file",
	      PYTHON("pyarrow as p", "p.ipc.open_file(p.memory_map('FILE')).read_all()")),
	MAGIC("\xff\xff\xff\xff", "an Arrow stream",
	      PYTHON("pyarrow as p", "p.ipc.open_stream(p.memory_map('FILE')).read_all()")),
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
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct magic *m = &known[i];
		if (head.len >= m->len && memcmp(head.ptr, m->bytes, m->len) == 0)
			return error_set(err, RC_DATA,
					 "%s: found %s, expected delimited text; what takes it: %s",
					 name, m->is, m->instead);
	}
	return RC_OK;
}
