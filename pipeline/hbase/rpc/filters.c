/*
 * filters.c - encode filters for a server (FilterProtos, ComparatorProtos in Filter.proto,
 * Comparator.proto)
 *
 * A filter is the name of its Java class and the message of that class.
 */
#include "encode.h"
#include "pb.h"

#define CLASS "org.apache.hadoop.hbase.filter."

enum { NAMED = 1, CONTENT = 2 };
enum { PASS_ALL = 1, PASS_ONE = 2 };

/*
 * A message with its class name. All bytes before the call of end_named are the message's content.
 */
struct named_message {
	size_t whole, content;
};

static struct named_message begin_named(struct buf *b, unsigned field, const char *class_name)
{
	struct named_message n = {.whole = pb_open(b, field)};

	pb_text(b, NAMED, class_name);
	n.content = pb_open(b, CONTENT);
	return n;
}

static void end_named(struct buf *b, struct named_message n)
{
	pb_close(b, n.content);
	pb_close(b, n.whole);
}

static void put_comparator(struct buf *b, unsigned field, const struct comparator *c)
{
	struct named_message n;

	if (c->type == COMPARE_COMPONENT) {
		n = begin_named(b, field, CLASS "BinaryComponentComparator");
		pb_bytes(b, 1, c->value);
		pb_uint(b, 2, c->at);
	} else {
		n = begin_named(b, field,
				c->type == COMPARE_BINARY_PREFIX ? CLASS "BinaryPrefixComparator"
								 : CLASS "BinaryComparator");
		size_t comparable = pb_open(b, 1);
		pb_bytes(b, 1, c->value);
		pb_close(b, comparable);
	}
	end_named(b, n);
}

/* Return the operator's number in HBaseProtos.CompareType. */
static uint64_t compare_type(enum filter_op op)
{
	static const uint64_t types[] = {
		[FILTER_LESS] = 0,	[FILTER_LESS_OR_EQUAL] = 1,    [FILTER_EQUAL] = 2,
		[FILTER_NOT_EQUAL] = 3, [FILTER_GREATER_OR_EQUAL] = 4, [FILTER_GREATER] = 5};

	return types[op];
}

static void put_list(struct buf *b, const struct filter *f)
{
	pb_uint(b, 1, f->type == FILTER_LIST_AND ? PASS_ALL : PASS_ONE);
	for (size_t i = 0; i < f->nof; i++)
		put_filter(b, 2, f->of[i]);
}

static void put_single(struct buf *b, const struct filter *f)
{
	pb_bytes(b, 1, f->family);
	pb_bytes(b, 2, f->qualifier);
	pb_uint(b, 3, compare_type(f->op));
	put_comparator(b, 4, &f->with);
	pb_uint(b, 5, f->if_missing);
	pb_uint(b, 6, !f->all_versions);
}

static void put_row(struct buf *b, const struct filter *f)
{
	size_t compared = pb_open(b, 1);

	pb_uint(b, 1, compare_type(f->op));
	put_comparator(b, 2, &f->with);
	pb_close(b, compared);
}

/*
 * Append masks in the form of Java's constructor. Since HBase 2.6.4, field 2 of the message names
 * this form.
 */
static void put_fuzzy(struct buf *b, const struct filter *f)
{
	for (size_t i = 0; i < f->nfuzzy; i++) {
		size_t pair = pb_open(b, 1);

		pb_bytes(b, 1, f->fuzzy[i].key);
		pb_bytes(b, 2, f->fuzzy[i].mask);
		pb_close(b, pair);
	}
	pb_uint(b, 2, 1);
}

static void put_ranges(struct buf *b, const struct filter *f)
{
	for (size_t i = 0; i < f->nranges; i++) {
		const struct filter_range *r = &f->ranges[i];
		size_t range = pb_open(b, 1);

		pb_bytes(b, 1, r->start);
		pb_uint(b, 2, r->start_inclusive);
		pb_bytes(b, 3, r->stop);
		pb_uint(b, 4, r->stop_inclusive);
		pb_close(b, range);
	}
}

static void put_pagination(struct buf *b, const struct filter *f)
{
	pb_uint(b, 1, f->limit < INT32_MAX ? f->limit : INT32_MAX);
	pb_uint(b, 2, f->offset < INT32_MAX ? f->offset : INT32_MAX);
}

static void put_column_range(struct buf *b, const struct filter *f)
{
	if (!f->open_start)
		pb_bytes(b, 1, f->start);
	pb_uint(b, 2, f->start_inclusive);
	if (!f->open_stop)
		pb_bytes(b, 3, f->stop);
	pb_uint(b, 4, f->stop_inclusive);
}

static void put_key_only(struct buf *b, const struct filter *f)
{
	pb_uint(b, 1, f->lengths);
}

void put_filter(struct buf *b, unsigned field, const struct filter *f)
{
	static const struct {
		const char *class_name;
		void (*put)(struct buf *b, const struct filter *f);
	} kinds[FILTER_TYPES] = {
		[FILTER_LIST_AND] = {CLASS "FilterList", put_list},
		[FILTER_LIST_OR] = {CLASS "FilterList", put_list},
		[FILTER_SINGLE_COLUMN_VALUE] = {CLASS "SingleColumnValueFilter", put_single},
		[FILTER_ROW] = {CLASS "RowFilter", put_row},
		[FILTER_KEY_ONLY] = {CLASS "KeyOnlyFilter", put_key_only},
		[FILTER_COLUMN_PAGINATION] = {CLASS "ColumnPaginationFilter", put_pagination},
		[FILTER_COLUMN_RANGE] = {CLASS "ColumnRangeFilter", put_column_range},
		[FILTER_FUZZY_ROW] = {CLASS "FuzzyRowFilter", put_fuzzy},
		[FILTER_MULTI_ROW_RANGE] = {CLASS "MultiRowRangeFilter", put_ranges},
	};

	assert(kinds[f->type].put);
	struct named_message n = begin_named(b, field, kinds[f->type].class_name);
	kinds[f->type].put(b, f);
	end_named(b, n);
}
