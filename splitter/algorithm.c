/*
 * algorithm.c - UniformSplit, HexStringSplit and DecimalStringSplit, with the same bytes as in
 * HBase
 *
 * All three algorithms cut an interval of whole numbers into n equal parts, rounded down. The last
 * part gets the rest (README.md 1.1, 1.2). Their keys have different bases, namely bytes, hex
 * digits or decimal digits. So numbers are arrays of digits in that base, most significant first,
 * all of one width. Such arrays need no radix conversion, and rows may have any length.
 */
#include "splits.h"

#include <inttypes.h>

#include "mem.h"

struct split_number {
	uint32_t base;
	size_t width;
	uint8_t *digits;
};

static struct split_number number_new(uint32_t base, size_t width)
{
	return (struct split_number){base, width, mem_calloc(width ? width : 1, 1)};
}

static void number_free(struct split_number *n)
{
	mem_free(n->digits);
	n->digits = NULL;
}

static int number_cmp(const struct split_number *a, const struct split_number *b)
{
	return memcmp(a->digits, b->digits, a->width);
}

/* Compute a += b + carry. Overflow is ignored. */
static void number_add(struct split_number *a, const struct split_number *b, uint32_t carry)
{
	for (size_t i = a->width; i-- > 0;) {
		carry += (uint32_t)a->digits[i] + b->digits[i];
		a->digits[i] = (uint8_t)(carry % a->base);
		carry /= a->base;
	}
}

/* Compute a -= b. `a` must be at least `b`. */
static void number_subtract(struct split_number *a, const struct split_number *b)
{
	uint32_t borrow = 0;

	for (size_t i = a->width; i-- > 0;) {
		uint32_t take = b->digits[i] + borrow;

		borrow = a->digits[i] < take;
		a->digits[i] = (uint8_t)(a->digits[i] + (borrow ? a->base : 0) - take);
	}
}

static void number_increment(struct split_number *a)
{
	struct split_number zero = number_new(a->base, a->width);

	number_add(a, &zero, 1);
	number_free(&zero);
}

static void number_divide(struct split_number *a, uint32_t by)
{
	uint64_t rest = 0;

	for (size_t i = 0; i < a->width; i++) {
		rest = rest * a->base + a->digits[i];
		a->digits[i] = (uint8_t)(rest / by);
		rest %= by;
	}
}

/* Return the value, or UINT64_MAX if it is 2^56 or more. */
static uint64_t number_small(const struct split_number *a)
{
	uint64_t v = 0;

	for (size_t i = 0; i < a->width && v < UINT64_C(1) << 56; i++)
		v = v * a->base + a->digits[i];
	return v < UINT64_C(1) << 56 ? v : UINT64_MAX;
}

/*
 * Parse the texts that java.math.BigInteger(text, base) accepts, right-aligned in the digits.
 * BigInteger accepts a sign. This function rejects a minus sign, because negative numbers give keys
 * that are out of order.
 */
static int number_parse(struct split_number *n, const char *what, struct bytes text,
			struct error *err)
{
	bool sign = text.len && text.ptr[0] == '+';
	const uint8_t *p = text.ptr + sign;
	size_t len = text.len - sign;

	if (len == 0)
		return error_set(err, RC_CONFIG,
				 "the %s row: found no digits, expected a number in base %u", what,
				 n->base);
	for (size_t i = 0; i < len; i++) {
		uint8_t c = p[i];
		uint32_t digit = c >= '0' && c <= '9'	? (uint32_t)(c - '0')
				 : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
				 : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
							: n->base;

		if (digit >= n->base)
			return error_set(err, RC_CONFIG,
					 "the %s row \"%.*s\" is not a number in base %u", what,
					 text.len < 200 ? (int)text.len : 200,
					 (const char *)text.ptr, n->base);
		n->digits[n->width - len + i] = (uint8_t)digit;
	}
	return RC_OK;
}

/* Append the last `width` digits as a key. The key has bytes for base 256, else lower-case text. */
static void number_key(const struct split_number *n, size_t width, struct buf *key)
{
	static const char letters[] = "0123456789abcdef";

	key->len = 0;
	for (size_t i = n->width - width; i < n->width; i++)
		buf_put(key, n->base == 256 ? n->digits[i] : (uint8_t)letters[n->digits[i]]);
}

/* Append the keys first + size * i for i = 1 .. count, each with `width` digits. */
static int add_steps(struct splits *s, struct split_number *first, const struct split_number *size,
		     uint32_t count, size_t width, struct error *err)
{
	struct buf key = {0};
	int rc = RC_OK;

	for (uint32_t i = 0; rc == RC_OK && i < count; i++) {
		number_add(first, size, 0);
		number_key(first, width, &key);
		rc = splits_add(s, buf_bytes(&key), err);
	}
	buf_release(&key);
	return rc;
}

/*
 * Compute the keys of NumberStringSplit.split(n) from two parsed rows. After the call, *last is the
 * size of a part.
 */
static int split_range(struct splits *s, struct split_number *first, struct split_number *last,
		       uint32_t n, const char *const text[2], struct error *err)
{
	if (number_cmp(last, first) <= 0)
		return error_set(err, RC_CONFIG,
				 "last row (%.200s) is configured less than first row (%.200s)",
				 text[1], text[0]);
	number_subtract(last, first);
	number_increment(last); /* the last row is inclusive */
	uint64_t range = number_small(last);
	if (range < n)
		return error_set(err, RC_CONFIG,
				 "split granularity (%" PRIu32
				 ") is greater than the range (%" PRIu64
				 "): ask for fewer regions or longer rows",
				 n, range);
	number_divide(last, n);
	return add_steps(s, first, last, n - 1, strlen(text[1]), err);
}

static int split_numbers(struct splits *s, uint32_t base, uint32_t n, const char *first_text,
			 const char *last_text, struct error *err)
{
	size_t a = strlen(first_text), b = strlen(last_text);
	size_t width = (a > b ? a : b) + 1; /* one more digit, because range = last - first + 1 */
	struct split_number first = number_new(base, width), last = number_new(base, width);
	const char *const text[2] = {first_text, last_text};

	int rc = number_parse(&first, "first", bytes_str(first_text), err);
	if (rc == RC_OK)
		rc = number_parse(&last, "last", bytes_str(last_text), err);
	if (rc == RC_OK)
		rc = split_range(s, &first, &last, n, text, err);
	number_free(&first);
	number_free(&last);
	return rc;
}

/*
 * Return `row` as a number of `width` bytes, with a spare byte before the number. A shorter row
 * gets zero bytes at its end.
 */
static struct split_number number_row(struct bytes row, size_t width)
{
	struct split_number n = number_new(256, width + 1);

	if (row.len)
		memcpy(n.digits + 1, row.ptr, row.len);
	return n;
}

/*
 * Compute the keys of Bytes.iterateOnSplits(a, b, true, count) without the two ends. If the
 * interval has fewer numbers than parts, both ends get more zero bytes. So an inclusive 02 becomes
 * 0200, not 02FF.
 */
static int iterate_on_splits(struct splits *s, struct bytes a, struct bytes b, uint32_t count,
			     struct error *err)
{
	size_t width = a.len > b.len ? a.len : b.len;

	for (;; width++) {
		struct split_number first = number_row(a, width), size = number_row(b, width);
		int rc = RC_END;

		if (number_cmp(&size, &first) <= 0) {
			rc = error_set(
				err, RC_CONFIG,
				"b <= a: the last row, padded with zero bytes to the length of "
				"the first, must be above it");
		} else {
			number_subtract(&size, &first);
			number_increment(&size);
			if (number_small(&size) >= (uint64_t)count + 1) {
				number_divide(&size, count + 1);
				rc = add_steps(s, &first, &size, count, width, err);
			}
		}
		number_free(&first);
		number_free(&size);
		if (rc != RC_END)
			return rc;
	}
}

static int split_uniform(struct splits *s, uint32_t n, const char *first, const char *last,
			 struct error *err)
{
	struct buf a = {0}, b = {0};
	int rc;

	bytes_unescape(&a, bytes_str(first ? first : ""));
	bytes_unescape(&b, bytes_str(last ? last : "\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF"));
	if (bytes_cmp(buf_bytes(&b), buf_bytes(&a)) <= 0)
		rc = error_set(err, RC_CONFIG,
			       "last row (%.200s) is configured less than first row (%.200s)",
			       last ? last : "8 bytes FF", first ? first : "");
	else if (n < 2)
		rc = error_set(
			err, RC_CONFIG,
			"num cannot be <= 0: UniformSplit makes 2 regions or more, not %" PRIu32,
			n);
	else
		rc = iterate_on_splits(s, buf_bytes(&a), buf_bytes(&b), n - 1, err);
	buf_release(&a);
	buf_release(&b);
	return rc;
}

int splits_compute(struct splits *s, enum split_algorithm a, uint32_t n, const char *first,
		   const char *last, struct error *err)
{
	if (n == 0 || n > INT32_MAX)
		return error_set(err, RC_CONFIG, "%" PRIu32 " regions requested, expected 1 to %d",
				 n, INT32_MAX);
	switch (a) {
	case SPLIT_ALGORITHM_UNIFORM: return split_uniform(s, n, first, last, err);
	case SPLIT_ALGORITHM_HEX:
		return split_numbers(s, 16, n, first ? first : "00000000", last ? last : "FFFFFFFF",
				     err);
	case SPLIT_ALGORITHM_DECIMAL: break;
	}
	return split_numbers(s, 10, n, first ? first : "00000000", last ? last : "99999999", err);
}

static const char *const names[] = {"UniformSplit", "HexStringSplit", "DecimalStringSplit"};

int split_algorithm_parse(const char *name)
{
	static const char package[] = "org.apache.hadoop.hbase.util.RegionSplitter$";

	if (strncmp(name, package, sizeof package - 1) == 0)
		name += sizeof package - 1;
	for (int i = 0; i < 3; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return -1;
}

const char *split_algorithm_name(enum split_algorithm a)
{
	return names[a];
}
