/*
 * fuzz_registry.c - any answers of a schema registry become a plan that reads any value, or a
 * sentence
 *
 * The first byte chooses the format that the job expects. Answers follow, each with its length in
 * two bytes. The first answer is for the ID, the others are for the references in their order. The
 * rest is a value.
 */
#include "memory_file.h"

#include "mem.h"
#include "pipeline/input/kafka/registry_schemas.h"

static const char *const names[] = {"id", "a.b", "l[1]", "m.k"};

enum { N = sizeof names / sizeof *names };

static struct bytes take(struct bytes *rest, size_t n)
{
	struct bytes out = bytes_of(rest->ptr, n < rest->len ? n : rest->len);

	*rest = bytes_of(rest->ptr + out.len, rest->len - out.len);
	return out;
}

static struct bytes take_answer(struct bytes *rest)
{
	struct bytes n = take(rest, 2);

	return take(rest, n.len < 2 ? rest->len : (size_t)get_be16(n.ptr));
}

static int next_version(void *ctx, uint32_t id, const char *subject, long long version,
			struct bytes *answer, struct error *err)
{
	struct bytes *rest = ctx;

	(void)subject, (void)version;
	if (id != 7)
		abort();
	if (!rest->len)
		return error_set(err, RC_IO, "the registry does not answer");
	*answer = take_answer(rest);
	return RC_OK;
}

/* Decodes the value, and reads every byte of the columns. */
static void decode(const struct avro_plan *plan, struct bytes value)
{
	struct avro_decoder *d = avro_decoder_new(N);
	uint8_t *copy = mem_calloc(1, value.len + EVENT_ROOM_BYTES);
	const struct column *columns;
	size_t took = 0, sum = 0;

	if (value.len)
		memcpy(copy, value.ptr, value.len);
	const char *fault = avro_decode(d, plan, bytes_of(copy, value.len), &columns, &took);
	if (fault ? !*fault : took > value.len)
		abort();
	for (size_t i = 0; !fault && i < N; i++)
		for (size_t k = 0; !columns[i].absent && k < columns[i].len; k++)
			sum += columns[i].ptr[k];
	if (sum == SIZE_MAX)
		abort();
	mem_free(copy);
	avro_decoder_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct field fields[N] = {0};
	struct job job = {.path = "job",
			  .source = SOURCE_KAFKA,
			  .kafka = {.registry = {.url = "http://r"}},
			  .fields = fields,
			  .nfields = N};
	struct json_paths *paths;
	struct arena arena = {0};
	struct schema_found found;
	struct error err;
	size_t bad;

	if (size == 0)
		return 0;
	for (size_t i = 0; i < N; i++)
		fields[i] = (struct field){.name = names[i],
					   .columns = (const char **)(uintptr_t)&names[i],
					   .ncolumns = 1};
	job.kafka.format = data[0] & 1 ? KAFKA_JSON : KAFKA_AVRO;
	if (json_paths_new(&paths, names, N, NULL, &bad, &err))
		abort();
	struct bytes rest = bytes_of(data + 1, size - 1);
	const struct typed_columns columns = {.job = &job,
					      .names = names,
					      .paths = paths,
					      .may_lack = true};
	const struct schema_place at = {.id = 7,
					.columns = &columns,
					.arena = &arena,
					.version = next_version,
					.ctx = &rest};
	struct bytes answer = take_answer(&rest);
	int rc = schema_answer_is_json(answer) ? schema_answer_read(&found, &at, answer, &err)
					       : RC_END;
	expect_sentence(rc, &err);
	if (rc == RC_OK && !found.refusal && !found.plan != (job.kafka.format == KAFKA_JSON))
		abort();
	if (rc == RC_OK && found.plan)
		decode(found.plan, rest);
	json_paths_free(paths);
	arena_release(&arena);
	return 0;
}
