/*
 * fuzz_message.c - a Kafka message of any bytes becomes columns or a reject with a reason
 *
 * The first three bytes choose the format, the null parts, and the lengths of key and header. Key,
 * header and value follow.
 */
#include "memory_file.h"

#include "pipeline/input/message_columns.h"

/* %s: the format */
static const char job_text[] = "source:\n"
			       "  kafka: {brokers: 'h:1', topic: t, format: %s%s}\n"
			       "fields:\n"
			       "  a: {from: %s}\n"
			       "  b: {from: %s}\n"
			       "  h: {from: $header.h}\n"
			       "  k: {from: $key}\n"
			       "  v: {from: $value}\n"
			       "tables:\n"
			       "  - name: t\n"
			       "    rowkey: [{field: k}]\n"
			       "    timestamp: 1\n"
			       "    families: {f: {}}\n"
			       "    cells:\n"
			       "      - {family: f, qualifier: a, value: {field: a}}\n"
			       "      - {family: f, qualifier: b, value: {field: b}}\n"
			       "      - {family: f, qualifier: h, value: {field: h}}\n"
			       "      - {family: f, qualifier: v, value: {field: v}}\n";

enum { FORMATS = 3 };

static struct decoder *decoder_of(unsigned format, struct decoding **decoding)
{
	static const char *const text[FORMATS][4] = {{"json", "", "user.id", "'items[1].sku'"},
						     {"csv", ", columns: [x, y, z]", "x", "z"},
						     {"raw", "", "$offset", "$timestamp"}};
	static struct job job[FORMATS];
	struct buf b = {0};
	struct error err;
	char path[64];

	buf_printf(&b, job_text, text[format][0], text[format][1], text[format][2],
		   text[format][3]);
	int fd = memory_file(buf_bytes(&b), path);
	if (job_load(&job[format], path, &err) || decoding_new(decoding, &job[format], &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	close(fd);
	buf_release(&b);
	return decoder_new(*decoding);
}

static struct bytes take(struct bytes *rest, size_t len, bool null)
{
	if (len > rest->len)
		len = rest->len;
	struct bytes out = bytes_of(rest->ptr, len);
	*rest = bytes_of(rest->ptr + len, rest->len - len);
	return null ? (struct bytes){0} : out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct decoding *decoding[FORMATS];
	static struct decoder *decoder[FORMATS];
	const struct column *columns;
	struct reject why = {0};
	struct error err;

	static volatile size_t all; /* read every byte of the event */
	size_t n;
	if (size < 3)
		return 0;
	unsigned format = data[0] % FORMATS;
	if (!decoder[format])
		decoder[format] = decoder_of(format, &decoding[format]);
	struct bytes rest = bytes_of(data + 3, size - 3);
	struct message m = {.topic = "t", .partition = 3, .offset = 42, .timestamp_ms = 1};
	m.key = take(&rest, data[1], data[0] & 0x10);
	struct message_header h = {.name = data[0] & 0x20 ? "h" : "other",
				   .value = take(&rest, data[2], data[0] & 0x40)};
	m.headers = &h;
	m.nheaders = data[0] & 0x80 ? 0 : 1;
	m.value = take(&rest, rest.len, false);
	int rc = decoder_run(decoder[format], &m, &columns, &why, &err);
	if (rc && (rc != RC_DATA || !why.reason || !why.detail[0]))
		abort();
	decoding_columns(decoding[format], &n);
	for (size_t i = 0; rc == RC_OK && i < n; i++)
		for (size_t k = 0; !columns[i].absent && k < columns[i].len; k++)
			all += columns[i].ptr[k];
	return 0;
}
