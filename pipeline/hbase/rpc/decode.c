/* decode.c - read messages of hbase.pb: HBase.proto, Registry.proto, Master.proto */
#include "decode.h"

#include "frames.h"
#include "pb.h"

enum { SERVER_HOST = 1, SERVER_PORT = 2 };
enum { LOCATION_REGION = 1, LOCATION_SERVER = 2 };
enum {
	REGION_ID = 1,
	REGION_TABLE = 2,
	REGION_START = 3,
	REGION_END = 4,
	REGION_OFFLINE = 5,
	REGION_SPLIT = 6,
	REGION_REPLICA = 7
};
enum { SCHEMA_NAME = 1, SCHEMA_ATTRIBUTES = 2, SCHEMA_FAMILIES = 3, SCHEMA_CONFIGURATION = 4 };
enum { FAMILY_NAME = 1, FAMILY_ATTRIBUTES = 2, FAMILY_CONFIGURATION = 3 };
enum { PROCEDURE_STATE = 1, PROCEDURE_EXCEPTION = 5 };

/*
 * Get the last field with the given number and type. If a single field occurs more than once,
 * protobuf requires readers to use the last value. `found` may be NULL.
 */
static int take_field(struct bytes message, unsigned number, enum pb_wire wire,
		      struct pb_field *out, bool *found, struct error *err)
{
	struct pb_field f;
	bool there = false;
	int rc;

	while ((rc = pb_next(&message, &f, err)) == RC_OK) {
		if (f.number != number || f.wire != wire)
			continue;
		*out = f;
		there = true;
	}
	if (rc < 0)
		return rc;
	if (found)
		*found = there;
	else if (!there)
		return error_set(err, RC_DATA, "found no field %u in an answer, expected one",
				 number);
	return RC_OK;
}

int decode_bytes(struct bytes message, struct bytes *out, struct error *err)
{
	struct pb_field f = {0};
	int rc = take_field(message, 1, PB_BYTES, &f, NULL, err);

	*out = f.bytes;
	return rc;
}

int decode_number(struct bytes message, uint64_t *out, struct error *err)
{
	struct pb_field f = {0};
	int rc = take_field(message, 1, PB_VARINT, &f, NULL, err);

	*out = f.value;
	return rc;
}

static bool host_copy(struct hbase_place *out, struct bytes host)
{
	if (host.len == 0 || host.len >= sizeof out->host || memchr(host.ptr, 0, host.len))
		return false;
	memcpy(out->host, host.ptr, host.len);
	out->host[host.len] = 0;
	return true;
}

int decode_server(struct bytes message, struct hbase_place *out, struct error *err)
{
	struct pb_field host = {0}, port = {0};
	bool has_port;
	int rc = take_field(message, SERVER_HOST, PB_BYTES, &host, NULL, err);

	if (rc == RC_OK)
		rc = take_field(message, SERVER_PORT, PB_VARINT, &port, &has_port, err);
	if (rc)
		return rc;
	*out = (struct hbase_place){0};
	if (!host_copy(out, host.bytes) || port.value == 0 || port.value > UINT16_MAX)
		return error_set(err, RC_DATA, "found a server name without a valid host or port");
	out->port = (uint16_t)port.value;
	return RC_OK;
}

int decode_master(struct bytes message, struct hbase_place *out, struct error *err)
{
	struct bytes server;
	int rc = decode_bytes(message, &server, err);

	return rc ? rc : decode_server(server, out, err);
}

bool place_read(struct bytes text, uint16_t port, struct hbase_place *out)
{
	const uint8_t *colon = text.len ? memrchr(text.ptr, ':', text.len) : NULL;
	struct bytes host = text;
	unsigned v = 0;

	*out = (struct hbase_place){0};
	if (colon && memchr(text.ptr, ':', (size_t)(colon - text.ptr)) && text.ptr[0] != '[')
		colon = NULL; /* a bare IPv6 address */
	if (colon && text.ptr[0] == '[' && colon[-1] != ']')
		colon = NULL;
	if (colon) {
		host = bytes_of(text.ptr, (size_t)(colon - text.ptr));
		for (const uint8_t *p = colon + 1; p < text.ptr + text.len; p++) {
			if (*p < '0' || *p > '9' || v > UINT16_MAX)
				return false;
			v = v * 10 + (unsigned)(*p - '0');
		}
		if (v == 0 || v > UINT16_MAX)
			return false;
		port = (uint16_t)v;
	}
	if (host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
		host = bytes_of(host.ptr + 1, host.len - 2);
	out->port = port;
	return port && host_copy(out, host);
}

int decode_region_info(struct bytes message, struct region_info *out, struct error *err)
{
	struct pb_field f;
	struct bytes table = {0};
	int rc;

	*out = (struct region_info){0};
	while ((rc = pb_next(&message, &f, err)) == RC_OK) {
		switch (f.number) {
		case REGION_ID: out->id = f.value; break;
		case REGION_TABLE: table = f.bytes; break;
		case REGION_START: out->start = f.bytes; break;
		case REGION_END: out->end = f.bytes; break;
		case REGION_OFFLINE: out->offline = f.value != 0; break;
		case REGION_SPLIT: out->split = f.value != 0; break;
		case REGION_REPLICA: out->replica = (int32_t)f.value; break;
		default: break;
		}
	}
	while (rc == RC_END && (rc = pb_next(&table, &f, err)) == RC_OK) {
		if (f.number == 1)
			out->space = f.bytes;
		else if (f.number == 2)
			out->table = f.bytes;
		rc = RC_END;
	}
	if (rc == RC_END &&
	    (out->table.len == 0 || out->start.len > CELL_ROW_MAX || out->end.len > CELL_ROW_MAX))
		return error_set(err, RC_DATA,
				 "found a region without a table name or with longer keys, "
				 "expected a table name and keys of at most 32767 bytes");
	return rc < 0 ? rc : RC_OK;
}

int decode_meta_place(struct bytes message, struct hbase_place *out, struct error *err)
{
	struct pb_field f, server, region;
	struct region_info info;
	int rc;

	while ((rc = pb_next(&message, &f, err)) == RC_OK) {
		bool located = false;

		if (f.number != 1 || f.wire != PB_BYTES)
			continue;
		rc = take_field(f.bytes, LOCATION_REGION, PB_BYTES, &region, NULL, err);
		if (rc == RC_OK)
			rc = decode_region_info(region.bytes, &info, err);
		if (rc == RC_OK)
			rc = take_field(f.bytes, LOCATION_SERVER, PB_BYTES, &server, &located, err);
		if (rc)
			return rc;
		if (located && info.replica == 0)
			return decode_server(server.bytes, out, err);
	}
	return rc < 0 ? rc : error_set(err, RC_IO, "no server has hbase:meta at the moment");
}

int decode_meta_node(struct bytes message, struct hbase_place *out, struct error *err)
{
	enum { NODE_STATE = 3, STATE_OPEN = 3 };
	struct pb_field state = {.value = STATE_OPEN};
	bool told;
	int rc = take_field(message, NODE_STATE, PB_VARINT, &state, &told, err);

	if (rc == RC_OK && state.value != STATE_OPEN)
		rc = error_set(err, RC_IO, "no server has hbase:meta at the moment");
	return rc ? rc : decode_master(message, out, err);
}

/* --- tables --- */

static void append(struct arena *a, struct attributes *list, struct bytes key, struct bytes value)
{
	list->item = arena_grow(a, list->item, list->count, sizeof *list->item);
	list->item[list->count++] =
		(struct attribute){.key = arena_strndup(a, key.ptr, key.len),
				   .value = arena_strndup(a, value.ptr, value.len),
				   .quoted = true};
}

/*
 * Read a BytesBytesPair or NameStringPair. Both messages have the key in field 1 and the value in
 * field 2.
 */
static int take_pair(struct bytes pair, struct attributes *list, struct arena *a, struct error *err)
{
	struct pb_field first = {0}, second = {0};
	int rc = take_field(pair, 1, PB_BYTES, &first, NULL, err);

	if (rc == RC_OK)
		rc = take_field(pair, 2, PB_BYTES, &second, NULL, err);
	if (rc)
		return rc;
	if ((first.bytes.len && memchr(first.bytes.ptr, 0, first.bytes.len)) ||
	    (second.bytes.len && memchr(second.bytes.ptr, 0, second.bytes.len)))
		return error_set(err, RC_DATA, "found a NUL byte in an attribute, expected text");
	append(a, list, first.bytes, second.bytes);
	return RC_OK;
}

static int take_family(struct bytes message, struct described *out, struct arena *a,
		       struct error *err)
{
	struct pb_field f;
	int rc;

	*out = (struct described){0};
	while ((rc = pb_next(&message, &f, err)) == RC_OK) {
		if (f.wire != PB_BYTES)
			continue;
		if (f.number == FAMILY_NAME)
			out->name = arena_strndup(a, f.bytes.ptr, f.bytes.len);
		else if (f.number == FAMILY_ATTRIBUTES)
			rc = take_pair(f.bytes, &out->items, a, err);
		else if (f.number == FAMILY_CONFIGURATION)
			rc = take_pair(f.bytes, &out->configuration, a, err);
		if (rc)
			return rc;
	}
	if (rc == RC_END && !out->name)
		return error_set(err, RC_DATA,
				 "found a column family without a name, expected a "
				 "name");
	return rc < 0 ? rc : RC_OK;
}

int decode_schema(struct bytes message, struct description *out, struct arena *a, struct error *err)
{
	struct pb_field f;
	struct described family;
	int rc;

	*out = (struct description){0};
	while ((rc = pb_next(&message, &f, err)) == RC_OK) {
		if (f.wire != PB_BYTES)
			continue;
		if (f.number == SCHEMA_ATTRIBUTES || f.number == SCHEMA_CONFIGURATION)
			rc = take_pair(f.bytes, &out->table.items, a, err);
		else if (f.number == SCHEMA_FAMILIES)
			rc = take_family(f.bytes, &family, a, err);
		if (rc)
			return rc;
		if (f.number == SCHEMA_FAMILIES)
			description_add_family(out, a, &family);
	}
	return rc < 0 ? rc : RC_OK;
}

int decode_table(struct bytes message, struct description *out, struct arena *a, bool *exists,
		 struct error *err)
{
	struct pb_field f = {0};

	*out = (struct description){0};
	int rc = take_field(message, 1, PB_BYTES, &f, exists, err);
	return rc || !*exists ? rc : decode_schema(f.bytes, out, a, err);
}

const char *decode_table_name(struct arena *a, struct bytes space, struct bytes table)
{
	bool plain = space.len == 0 || bytes_eq(space, bytes_str("default"));
	char *name = mem_format("%.*s%s%.*s", plain ? 0 : (int)space.len, (const char *)space.ptr,
				plain ? "" : ":", (int)table.len, (const char *)table.ptr);
	const char *kept = arena_strdup(a, name);

	mem_free(name);
	return kept;
}

int decode_schema_name(struct bytes schema, const char **out, struct arena *a, struct error *err)
{
	struct pb_field name = {0}, space = {0}, table = {0};
	int rc = take_field(schema, SCHEMA_NAME, PB_BYTES, &name, NULL, err);

	if (rc == RC_OK)
		rc = take_field(name.bytes, 1, PB_BYTES, &space, NULL, err);
	if (rc == RC_OK)
		rc = take_field(name.bytes, 2, PB_BYTES, &table, NULL, err);
	if (rc == RC_OK)
		*out = decode_table_name(a, space.bytes, table.bytes);
	return rc;
}

static int take_name(struct bytes schema, struct hbase_tables *out, struct error *err)
{
	struct hbase_table table = {0};
	int rc = decode_schema_name(schema, &table.name, &out->arena, err);

	if (rc)
		return rc;
	out->item = arena_grow(&out->arena, out->item, out->count, sizeof *out->item);
	out->item[out->count++] = table;
	return RC_OK;
}

int decode_table_names(struct bytes message, struct hbase_tables *out, struct error *err)
{
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&message, &f, err)) == RC_OK)
		if (f.number == 1 && f.wire == PB_BYTES && (rc = take_name(f.bytes, out, err)))
			return rc;
	return rc < 0 ? rc : RC_OK;
}

int decode_table_state(struct bytes message, enum hbase_table_state *out, struct error *err)
{
	struct bytes state;
	uint64_t v = 0;
	int rc = decode_bytes(message, &state, err);

	if (rc == RC_OK)
		rc = decode_number(state, &v, err);
	if (rc == RC_OK && v > TABLE_ENABLING)
		rc = error_set(err, RC_DATA, "found table state %llu, expected up to %d",
			       (unsigned long long)v, TABLE_ENABLING);
	if (rc == RC_OK)
		*out = (enum hbase_table_state)v;
	return rc;
}

/* --- procedures --- */

/*
 * Read a ForeignExceptionMessage, which has the fields generic_exception 2 {class_name 1, message
 * 2}.
 */
static int procedure_failed(struct bytes foreign, struct hbase_failure *why, struct error *err)
{
	struct pb_field generic = {0}, name = {0}, text = {0};
	bool there;
	int rc = take_field(foreign, 2, PB_BYTES, &generic, &there, err);

	if (rc == RC_OK)
		rc = take_field(generic.bytes, 1, PB_BYTES, &name, &there, err);
	if (rc == RC_OK)
		rc = take_field(generic.bytes, 2, PB_BYTES, &text, &there, err);
	return rc ? rc : exception_tell(name.bytes, text.bytes, why, err);
}

int decode_procedure(struct bytes message, enum procedure_state *state, struct hbase_failure *why,
		     struct error *err)
{
	struct pb_field f = {0}, failed = {0};
	bool has_failed;
	int rc = take_field(message, PROCEDURE_STATE, PB_VARINT, &f, NULL, err);

	if (rc == RC_OK)
		rc = take_field(message, PROCEDURE_EXCEPTION, PB_BYTES, &failed, &has_failed, err);
	if (rc)
		return rc;
	if (f.value > PROCEDURE_FINISHED)
		return error_set(err, RC_DATA, "found procedure state %llu, expected 0 to 2",
				 (unsigned long long)f.value);
	*state = (enum procedure_state)f.value;
	return has_failed ? procedure_failed(failed.bytes, why, err) : RC_OK;
}
