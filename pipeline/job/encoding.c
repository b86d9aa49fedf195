/*
 * Which encodings fit which field types.  A narrower integer than the type is fine here: each
 * row's value is checked when it is encoded.
 */
#include "sections.h"

#define BIT(x)	 (1u << (x))
#define INTEGERS (BIT(FIELD_U32) | BIT(FIELD_U64) | BIT(FIELD_I64))
#define TEXTS	 (BIT(FIELD_TEXT) | BIT(FIELD_BYTES) | BIT(FIELD_HEX))

const struct choice encoding_choices[] = {
	{"text", AS_TEXT},	   {"bytes", AS_BYTES},
	{"reversed", AS_REVERSED}, {"u8", AS_U8},
	{"u16", AS_U16},	   {"u32", AS_U32},
	{"u64", AS_U64},	   {"i32", AS_I32},
	{"i64", AS_I64},	   {"f32", AS_F32},
	{"f64", AS_F64},	   {"bool", AS_BOOL},
	{"millis", AS_MILLIS},	   {"reversed_millis", AS_REVERSED_MILLIS},
};
const size_t encoding_count = sizeof(encoding_choices) / sizeof(encoding_choices[0]);

/* By enum encode_as. */
static const struct {
	uint32_t bytes;
	unsigned types;	  /* bits of the field types it takes */
	const char *need; /* what to declare */
} encodings[] = {
	[AS_TEXT] = {0, ~0u, ""},
	[AS_BYTES] = {0, TEXTS, "bytes"},
	[AS_REVERSED] = {0, BIT(FIELD_TEXT) | BIT(FIELD_U32) | BIT(FIELD_U64), "text"},
	[AS_U8] = {1, INTEGERS, "u32"},
	[AS_U16] = {2, INTEGERS, "u32"},
	[AS_U32] = {4, INTEGERS, "u32"},
	[AS_U64] = {8, INTEGERS, "u64"},
	[AS_I32] = {4, INTEGERS, "i64"},
	[AS_I64] = {8, INTEGERS, "i64"},
	[AS_F32] = {4, INTEGERS | BIT(FIELD_F64), "f64"},
	[AS_F64] = {8, INTEGERS | BIT(FIELD_F64), "f64"},
	[AS_BOOL] = {1, BIT(FIELD_BOOL), "bool"},
	[AS_MILLIS] = {8, BIT(FIELD_TIME), "time, unit: s"},
	[AS_REVERSED_MILLIS] = {8, BIT(FIELD_TIME), "time, unit: s"},
};

enum encode_as encoding_natural(enum field_type t)
{
	static const enum encode_as natural[] = {
		[FIELD_TEXT] = AS_TEXT, [FIELD_BYTES] = AS_BYTES, [FIELD_HEX] = AS_BYTES,
		[FIELD_U32] = AS_U32,	[FIELD_U64] = AS_U64,	  [FIELD_I64] = AS_I64,
		[FIELD_F64] = AS_F64,	[FIELD_BOOL] = AS_BOOL,	  [FIELD_TIME] = AS_MILLIS,
	};
	return natural[t];
}

uint32_t encoding_bytes(enum encode_as as)
{
	return encodings[as].bytes;
}

int encoding_check(struct reader *r, struct pos at, size_t field, enum encode_as as)
{
	const struct field *f = &r->job->fields[field];
	if (encodings[as].types & BIT(f->type))
		return RC_OK;
	const char *name = encoding_choices[as].name;
	if (f->type == FIELD_TIME && encodings[as].bytes)
		return fault(r, at,
			     "as: found %s for the time field `%.60s`, expected millis or "
			     "reversed_millis",
			     name, f->name);
	if (f->type == FIELD_TEXT)
		return fault(
			r, at,
			"as: found %s for `%.60s`, which is text, expected as: text; or declare it "
			"under fields with a type: `%.60s: {type: %s}`",
			name, f->name, f->name, encodings[as].need);
	return fault(r, at,
		     "as: found %s for `%.60s` of type %s, expected an encoding of that type "
		     "or type: %s under fields",
		     name, f->name, field_type_name(f->type), encodings[as].need);
}
