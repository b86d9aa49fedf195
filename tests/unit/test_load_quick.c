/* Compares batches of events with one event at a time without padding after its texts, over random
 * plans. Compares keys and values with code of the test, for every variant of number parsing that
 * the CPU supports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "hash.h"
#include "pipeline/load/row/compiled.h"
#include "tests/unit/draw.h"
#include "tests/unit/row_rig.h"

#define TEXT_BYTES 160

/* The texts of a batch, without padding except at the end. */
struct batch {
	size_t n, ncolumns;
	struct column columns[EVENT_BATCH][MAX];
	uint8_t *blocks[EVENT_BATCH][MAX];
	struct event events[EVENT_BATCH];
};

static void batch_start(struct batch *b, size_t n, size_t ncolumns)
{
	*b = (struct batch){.n = n, .ncolumns = ncolumns};
	for (size_t i = 0; i < n; i++)
		b->events[i] = (struct event){.columns = b->columns[i],
					      .ncolumns = ncolumns,
					      .seq = 1000 + i};
}

static void batch_put(struct batch *b, size_t event, size_t column, struct bytes text)
{
	uint8_t *block = malloc(text.len + EVENT_ROOM_BYTES);

	memcpy(block, text.ptr, text.len);
	memset(block + text.len, '7', EVENT_ROOM_BYTES);
	b->blocks[event][column] = block;
	b->columns[event][column] = (struct column){.ptr = block, .len = (uint32_t)text.len};
}

/* Builds the same texts as rows, with either line end. */
static void batch_rows(const struct batch *b, struct rig_rows *out)
{
	struct bytes fields[EVENT_BATCH * MAX];

	for (size_t i = 0; i < b->n * b->ncolumns; i++) {
		const struct column *c = &b->columns[i / b->ncolumns][i % b->ncolumns];

		fields[i] = bytes_of(c->ptr, c->len);
	}
	rig_rows_init(out, fields, b->n, b->ncolumns, b->n % 2);
	out->rows.seq = 1000;
}

/* Returns the start of row i, from its fields and the bytes between them. */
static size_t start_of(const struct batch *b, size_t row)
{
	size_t at = 0;

	for (size_t i = 0; i < row; i++) {
		for (size_t k = 0; k < b->ncolumns; k++)
			at += b->columns[i][k].len + 1;
		at += b->n % 2;
	}
	return at;
}

static void batch_release(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		for (size_t k = 0; k < b->ncolumns; k++)
			free(b->blocks[i][k]);
}

/* Checks the key, the value as text and the value as number of each row of the batch by hand. */
static void ratings_by_hand(void **state)
{
	(void)state;
	take_numbers *ways[QUICK_WAYS];
	size_t nways = quick_ways(ways);
	struct rig r;
	rig_ratings(&r, AS_U32);
	for (unsigned round = 0; round < 3000; round++) {
		struct batch b;
		struct record_batch records;
		struct rig_rows rows;
		uint8_t keys[EVENT_BATCH][21], values[EVENT_BATCH][TEXT_BYTES];
		size_t lens[EVENT_BATCH];
		uint64_t newest = (uint64_t)row_encoder_newest(r.encoder);

		r.encoder->take_numbers = ways[round % nways];
		batch_start(&b, 1 + pick(EVENT_BATCH), 4);
		for (size_t i = 0; i < b.n; i++) {
			uint64_t user = draw() >> (32 + pick(32)),
				 movie = draw() >> (32 + pick(32)),
				 ts = draw() >> (27 + pick(27)); /* to the year 6325 */
			char text[TEXT_BYTES];
			int rating = pick(30) ? (int)pick(20) : 100 + (int)pick(20);

			newest = ts * 1000 > newest ? ts * 1000 : newest;
			batch_put(&b, i, 0,
				  bytes_of(text, (size_t)snprintf(text, 20, "%llu",
								  (unsigned long long)user)));
			batch_put(&b, i, 1,
				  bytes_of(text, (size_t)snprintf(text, 20, "%0*llu", (int)pick(12),
								  (unsigned long long)movie)));
			batch_put(&b, i, 3,
				  bytes_of(text, (size_t)snprintf(text, 20, "%llu",
								  (unsigned long long)ts)));
			for (int k = 0; k <= rating; k++)
				text[k] = (char)(1 + pick(127));
			batch_put(&b, i, 2, bytes_of(text, (size_t)rating + 1));
			put_be64(keys[i] + 1, user);
			put_be64(keys[i] + 9, INT64_MAX - ts * 1000);
			put_be32(keys[i] + 17, (uint32_t)movie);
			keys[i][0] = (uint8_t)(murmur3_32(bytes_of(keys[i] + 1, 8), 0) % 16);
			values[i][0] = 5;
			put_be32(values[i] + 1, (uint32_t)movie);
			values[i][5] = (uint8_t)(rating + 2);
			memcpy(values[i] + 6, text, (size_t)rating + 1);
			lens[i] = 6 + (size_t)rating + 1;
		}
		batch_rows(&b, &rows);
		assert_true(encode_rows(r.encoder, &rows.rows, &records));
		assert_int_equal(records.n, b.n);
		assert_int_equal(records.at[0], 0);
		assert_true(records.at[b.n] <= row_batch_bytes(r.encoder, 0, &rows.rows));
		for (size_t i = 0; i < b.n; i++) {
			const uint8_t *p = records.to + records.at[i];
			uint64_t payload_len;

			assert_int_equal(p[0] | p[1] << 8 | p[2] << 16, 1000 + start_of(&b, i));
			assert_int_equal(p[3], 0);
			assert_int_equal(p[4] | p[5] << 8, 21);
			p += 6 + get_varint(p + 6, p + 9, &payload_len);
			assert_int_equal(payload_len, lens[i]);
			assert_memory_equal(p, keys[i], 21);
			assert_memory_equal(p + 21, values[i], lens[i]);
			assert_ptr_equal(p + 21 + lens[i], records.to + records.at[i + 1]);
			struct record r1 = record_of_batch(&records, i, 0);
			assert_bytes(r1.key, keys[i], 21);
			assert_bytes(r1.payload, values[i], lens[i]);
			assert_int_equal(r1.seq, 1000 + start_of(&b, i));
		}
		assert_int_equal(row_encoder_newest(r.encoder), newest);
		free(records.to);
		rig_rows_release(&rows);
		batch_release(&b);
	}
	rig_release(&r);
}

/* --- random plans --- */

static enum encode_as pick_as(enum field_type type)
{
	static const enum encode_as integers[] = {AS_U8,
						  AS_U16,
						  AS_U32,
						  AS_U64,
						  AS_I32,
						  AS_I64,
						  AS_DESCENDING_U16,
						  AS_DESCENDING_U32,
						  AS_DESCENDING_U64,
						  AS_DESCENDING_I64},
				    times[] = {AS_MILLIS, AS_REVERSED_MILLIS, AS_REVERSED_MILLIS,
					       AS_MILLIS, AS_REVERSED_SECONDS};

	return type == FIELD_TIME ? times[pick(5)] : integers[pick(10)];
}

static void pick_key(struct rig *r)
{
	static size_t of[1];
	size_t parts = 1 + pick(3);

	of[0] = MAX;
	for (size_t i = 0; i < parts; i++) {
		size_t f = pick((unsigned)r->job.nfields);

		if (r->fields[f].type == FIELD_TEXT)
			continue;
		add_key(r, f, pick_as(r->fields[f].type));
		of[0] = f;
	}
	if (of[0] == MAX || pick(2)) {
		struct key_part *salt = add_part(r, PART_SALT);

		salt->buckets = 1 + pick(40);
		salt->width = 1;
		salt->of = of;
		salt->nof = of[0] < MAX && pick(8);
		if (pick(3) == 0) {
			salt->nof = 0;
			salt->draw = pick(2) ? DRAW_RANDOM : DRAW_ROUND_ROBIN;
			salt->seed = pick(3);
			salt->buckets = pick(3) ? salt->buckets : 60000;
			salt->width = salt->buckets > 256 ? 2 : 1;
		} else if (salt->nof && pick(4) == 0) {
			salt->fanout = 1 + pick(salt->buckets);
		}
	}
	if (of[0] == MAX)
		add_const(r, "k");
}

static void pick_plan(struct rig *r)
{
	static const enum field_type types[] = {FIELD_U32, FIELD_U64, FIELD_I64, FIELD_TIME,
						FIELD_TEXT};
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};

	rig_init(r);
	size_t n = 1 + pick(6), ntimes = 0, times[MAX];
	r->nulls[1] = pick(4) ? "NULL" : pick(2) ? "17" : "x";
	for (size_t i = 0; i < n; i++) {
		enum field_type type = types[pick(5)];

		add_field(r, names[i], type);
		r->fields[i].unit = pick(2) ? TIME_S : TIME_MS;
		if (type == FIELD_TIME)
			times[ntimes++] = i;
	}
	pick_key(r);
	for (size_t i = 0; i < 1 + pick(3); i++) {
		size_t f = pick((unsigned)n);
		bool text = r->fields[f].type == FIELD_TEXT || pick(2);
		struct cell_spec *c =
			add_cell(r, names[i], f, text ? AS_TEXT : pick_as(r->fields[f].type));

		c->optional = pick(4) == 0;
		if (pick(8) == 0) {
			c->kind = VALUE_CONST;
			c->constant = bytes_str(pick(2) ? "yes" : "");
		}
	}
	if (ntimes > 0 && pick(2)) {
		r->table.timestamp_constant = false;
		r->table.timestamp_field = times[pick((unsigned)ntimes)];
	}
	rig_start(r);
}

static struct bytes odd_text(void)
{
	static const char *const odd[] = {
		"",
		"NULL",
		"17",
		"x",
		"-1",
		"-",
		"+5",
		" 5",
		"1.5",
		"4294967295",
		"4294967296",
		"65536",
		"9999999999999999",
		"00000000000000000001",
		"99999999999999999999",
		"9223372036854775807",
		"9223372036854775806",
		"9223372036854775",
		"9223372036854776",
		"18446744073709551615",
		"1a",
		"/",
		":",
		"caf\xc3\xa9",
		"\xff",
		"a rather long text of more than thirty-two bytes, all plain"};

	return bytes_str(odd[pick(sizeof odd / sizeof *odd)]);
}

static void fill(struct batch *b, const struct rig *r, unsigned oddness)
{
	for (size_t i = 0; i < b->n; i++)
		for (size_t k = 0; k < b->ncolumns; k++) {
			char text[TEXT_BYTES];
			size_t len = pick(40) ? pick(20) : pick(TEXT_BYTES);

			for (size_t at = 0; at < len; at++)
				text[at] = (char)(' ' + pick(90));
			if (r->fields[k].type != FIELD_TEXT)
				len = (size_t)snprintf(text, 24, "%llu",
						       (unsigned long long)(draw() >>
									    (32 + pick(32))));
			batch_put(b, i, k, pick(1000) < oddness ? odd_text() : bytes_of(text, len));
		}
}

/* Joins the columns with the bytes between them. */
static void raw_of(const struct event *ev, struct buf *out)
{
	out->len = 0;
	for (size_t i = 0; i < ev->ncolumns; i++) {
		if (i)
			buf_put(out, '7');
		buf_append(out, ev->columns[i].ptr, ev->columns[i].len);
	}
}

/* Returns true if row_encode_batch takes the batch. */
static bool same_one_by_one(struct rig *r, struct row_encoder *batches, struct batch *b)
{
	struct record_batch records;
	struct rig_rows rows;
	size_t secondary_bytes = row_secondary_bytes(r->plan, 0);
	int64_t newest = row_encoder_newest(batches);
	struct buf raw = {0};

	batch_rows(b, &rows);
	rows.rows.line = 1 + pick(1000);
	bool taken = encode_rows(batches, &rows.rows, &records);
	if (!taken)
		assert_int_equal(row_encoder_newest(batches), newest);
	row_encoder_free(r->encoder);
	r->encoder = row_encoder_new(r->plan);
	for (size_t i = 0; taken && i < b->n; i++) {
		struct record one = record_of_batch(&records, i, secondary_bytes);

		raw_of(&b->events[i], &raw);
		b->events[i].raw = buf_bytes(&raw);
		b->events[i].line = rows.rows.line + i;
		assert_int_equal(row_encode(r->encoder, &b->events[i], &r->record, &r->why), 0);
		assert_bytes(one.key, r->record.key.ptr, r->record.key.len);
		assert_bytes(one.payload, r->record.payload.ptr, r->record.payload.len);
		assert_memory_equal(one.secondary, r->record.secondary, secondary_bytes);
		assert_int_equal(one.seq, 1000 + start_of(b, i));
	}
	int64_t each = row_encoder_newest(r->encoder);
	if (taken)
		assert_int_equal(row_encoder_newest(batches), each > newest ? each : newest);
	free(records.to);
	buf_release(&raw);
	rig_rows_release(&rows);
	return taken;
}

static void random_plans(void **state)
{
	(void)state;
	take_numbers *ways[QUICK_WAYS];
	size_t nways = quick_ways(ways), taken = 0, quick = 0;
	for (unsigned round = 0; round < 2000; round++) {
		struct rig r;

		pick_plan(&r);
		struct row_encoder *batches = row_encoder_new(r.plan);
		for (unsigned i = 0; i < 12; i++) {
			struct batch b;

			batches->take_numbers = ways[i % nways];
			batches->wait = 0;
			batch_start(&b, 1 + pick(EVENT_BATCH), r.job.nfields);
			fill(&b, &r, i < 6 ? 0 : 30);
			taken += same_one_by_one(&r, batches, &b);
			quick += r.plan->quick;
			batch_release(&b);
		}
		row_encoder_free(batches);
		rig_release(&r);
	}
	/* some plans do not accept batches, and some numbers are out of their part's range */
	assert_true(quick > 8000);
	assert_true(taken > 3000);
}

static bool is_taken(struct rig *r, const struct rig_rows *rows)
{
	struct record_batch out;
	bool taken = encode_rows(r->encoder, &rows->rows, &out);

	free(out.to);
	return taken;
}

/*
 * After faults, row_encode tries fewer batches. After enough valid rows, row_encode tries each
 * batch again.
 */
static void pauses(void **state)
{
	(void)state;
	struct rig r;
	struct rig_rows good, bad;
	struct bytes fields[8];
	rig_ratings(&r, AS_U32);
	for (size_t i = 0; i < 8; i++)
		fields[i] = bytes_str("5");
	rig_rows_init(&good, fields, 2, 4, false);
	fields[5] = bytes_str("x");
	rig_rows_init(&bad, fields, 2, 4, false);
	assert_true(is_taken(&r, &good));
	assert_false(is_taken(&r, &bad));
	assert_true(is_taken(&r, &good));
	for (unsigned i = 0; i < 100; i++)
		assert_false(is_taken(&r, &bad));
	unsigned tries = 1;
	while (!is_taken(&r, &good))
		assert_true(++tries < 30);
	for (unsigned i = 0; i < 10; i++)
		assert_true(is_taken(&r, &good));
	rig_rows_release(&good);
	rig_rows_release(&bad);
	rig_release(&r);
}

/* A batch whose texts fit into no payload requests no memory, because the size could be huge. */
static void no_room_for_long_texts(void **state)
{
	(void)state;
	struct rig r;
	struct rig_rows rows;
	struct bytes fields[8];
	rig_ratings(&r, AS_U32);
	for (size_t i = 0; i < 8; i++)
		fields[i] = bytes_str("5");
	rig_rows_init(&rows, fields, 2, 4, false);
	assert_true(row_batch_bytes(r.encoder, 0, &rows.rows) > 0);
	rows.rows.longest = RECORD_PAYLOAD;
	assert_int_equal(row_batch_bytes(r.encoder, 0, &rows.rows), 0);
	assert_false(is_taken(&r, &rows));
	rig_rows_release(&rows);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ratings_by_hand),
		cmocka_unit_test(random_plans),
		cmocka_unit_test(pauses),
		cmocka_unit_test(no_room_for_long_texts),
	};

	random_state = 20261121;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
