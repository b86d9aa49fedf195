/*
 * The kafka source. `properties` accepts most librdkafka properties, but rejects two kinds. The
 * first kind could break the guarantee that each event is in exactly one load. The second kind has
 * a key in the job.
 */
#include "sections.h"

#include <stdlib.h>
#include <time.h>

#include "bytes.h"

#define MIB (UINT64_C(1) << 20)

static const struct choice formats[] = {{"json", KAFKA_JSON},
					{"avro", KAFKA_AVRO},
					{"csv", KAFKA_CSV},
					{"raw", KAFKA_RAW}};
static const struct choice tombstones[] = {{"delete", TOMBSTONES_DELETE},
					   {"filter", TOMBSTONES_FILTER},
					   {"reject", TOMBSTONES_REJECT}};

static const struct {
	const char *name, *why;
} refused[] = {
	{"bootstrap.servers", "use the key `brokers`"},
	{"metadata.broker.list", "use the key `brokers`"},
	{"group.id", "use the key `group`"},
	{"enable.auto.commit", "offsets are committed after a load is published"},
	{"auto.commit.interval.ms", "offsets are committed after a load is published"},
	{"enable.auto.offset.store", "offsets are committed after a load is published"},
	{"auto.offset.reset", "a lost position stops the run; saltmill never resets it silently"},
	{"isolation.level", "saltmill never loads events of aborted transactions"},
	{"enable.partition.eof", "saltmill needs this property to find the end of a partition"},
	{"partition.assignment.strategy", "`share: true` needs cooperative-sticky"},
	{"auto.commit.enable", "offsets are committed after a load is published"},
	{"offset.store.method", "offsets are committed after a load is published"},
	{"check.crcs", "saltmill never loads messages that the network damaged"},
	{"allow.auto.create.topics", "a topic that does not exist stops the run"},
	{"log.queue", "saltmill prints librdkafka's log itself"},
};

static int by_number(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static int read_partitions(struct reader *r, const struct node *n, const struct key *key,
			   void *slot)
{
	struct kafka_source *k = slot;

	if (n->kind != NODE_SEQUENCE || n->count == 0)
		return expected(r, n, key->name, "a list of partition numbers");
	k->partitions = arena_alloc(&r->job->arena, n->count * sizeof *k->partitions);
	for (size_t i = 0; i < n->count; i++) {
		const struct key each = {.name = key->name, .max = 1000000};
		uint32_t number;
		int rc = read_number(r, n->items[i], &each, &number);

		if (rc)
			return rc;
		for (size_t j = 0; j < i; j++)
			if (k->partitions[j] == (int32_t)number)
				return fault(
					r, n->items[i]->pos,
					"partitions: found %u twice, expected different numbers",
					number);
		k->partitions[i] = (int32_t)number;
	}
	k->npartitions = n->count;
	qsort(k->partitions, k->npartitions, sizeof *k->partitions, by_number);
	return RC_OK;
}

/* Parse a time in UTC, such as 2026-11-01 or 2026-11-01T06:30:00Z. */
static bool parse_moment(const char *text, int64_t *ms)
{
	static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ"};

	for (size_t i = 0; i < 3; i++) {
		struct tm tm = {0};
		const char *end = strptime(text, forms[i], &tm);

		if (end && *end == 0) {
			*ms = (int64_t)timegm(&tm) * 1000;
			return true;
		}
	}
	return false;
}

static int read_start(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct kafka_source *k = slot;
	const char *text;
	int rc = read_text(r, n, key, &text);

	if (rc)
		return rc;
	k->start = KAFKA_TIME;
	if (strcmp(text, "earliest") == 0)
		k->start = KAFKA_EARLIEST;
	else if (strcmp(text, "latest") == 0)
		k->start = KAFKA_LATEST;
	else if (!parse_moment(text, &k->start_ms))
		return expected(r, n, key->name,
				"earliest, latest or a time in UTC like 2026-11-01T06:30:00Z");
	return RC_OK;
}

/*
 * Read the format of messages. Users may try `protobuf`, so a message explains why saltmill does
 * not read Protobuf, and names an alternative.
 */
static int read_format(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	if (n->kind == NODE_SCALAR && strcmp(n->text, "protobuf") == 0)
		return fault(
			r, n->pos,
			"format: found `protobuf`, expected json, avro, csv or raw; " NO_PROTOBUF);
	return read_choice(r, n, key, slot);
}

static int read_duration(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	uint64_t v;

	if (n->kind != NODE_SCALAR || !parse_duration_s(n->text, &v) || v == 0)
		return expected(r, n, key->name, "a time like 90s, 15m, 24h");
	memcpy(slot, &v, sizeof v);
	return RC_OK;
}

static const struct key secret_keys[] = {
	{.name = "file",
	 WORDS(TEXT, NULL, "the file that contains the value; saltmill never shows the value",
	       "{file: secrets/password}"),
	 .read = read_text,
	 .offset = offsetof(struct kafka_property, file)},
	{.name = "env",
	 WORDS(TEXT, NULL,
	       "the environment variable that contains the value; saltmill never shows the value",
	       "{env: KAFKA_PASSWORD}"),
	 .read = read_text,
	 .offset = offsetof(struct kafka_property, env)},
};
static const struct schema secret_schema = SCHEMA("a property", secret_keys);

static int read_property(struct reader *r, const struct node *n, struct kafka_property *p)
{
	const struct key key = {.name = p->name};

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		if (strcmp(refused[i].name, p->name) == 0)
			return fault(r, p->pos,
				     "property `%s`: found in `properties`, expected none; %s",
				     p->name, refused[i].why);
	if (n->kind != NODE_MAPPING)
		return read_any_text(r, n, &key, &p->value);
	int rc = read_mapping(r, n, &secret_schema, p);
	if (rc == RC_OK && !p->file == !p->env)
		rc = fault(r, n->pos, "%s: expected a value, {file: NAME} or {env: NAME}", p->name);
	if (rc == RC_OK && p->file)
		p->file = job_path(r->job, p->file);
	return rc;
}

static int read_properties(struct reader *r, const struct node *n, const struct key *key,
			   void *slot)
{
	struct kafka_source *k = slot;

	if (n->kind != NODE_MAPPING)
		return expected(r, n, key->name, "a mapping of librdkafka properties");
	k->properties = arena_alloc(&r->job->arena, (n->count + 1) * sizeof *k->properties);
	for (size_t i = 0; i < n->count; i++) {
		struct kafka_property *p = &k->properties[k->nproperties++];

		*p = (struct kafka_property){.name = n->keys[i]->text, .pos = n->keys[i]->pos};
		int rc = read_property(r, n->items[i], p);
		if (rc)
			return rc;
	}
	return RC_OK;
}

static int read_url(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *url;
	int rc = read_text(r, n, key, &url);

	if (rc)
		return rc;
	size_t len = strlen(url);
	if ((strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) ||
	    strchr(url, '@'))
		return expected(
			r, n, key->name,
			"http:// or https:// and a host; put user and password into `properties: "
			"{basic.auth.user.info: {env: NAME}}`");
	while (url[len - 1] == '/')
		len--;
	url = arena_strndup(&r->job->arena, url, len);
	memcpy(slot, &url, sizeof url);
	return RC_OK;
}

static int read_registry_properties(struct reader *r, const struct node *n, const struct key *key,
				    void *slot)
{
	struct kafka_source all = {0};
	struct kafka_registry *registry = slot;
	int rc = read_properties(r, n, key, &all);

	registry->properties = all.properties;
	registry->nproperties = all.nproperties;
	return rc;
}

static const struct key registry_keys[] = {
	{.name = "url",
	 WORDS(TEXT, NULL, "URL of the Schema Registry; put user and password into `properties`",
	       "url: https://registry.example:8081"),
	 .read = read_url,
	 .offset = offsetof(struct kafka_registry, url),
	 .required = true},
	{.name = "properties",
	 WORDS(PROPERTIES, NULL,
	       "properties of the registry: basic.auth.user.info, bearer.auth.token, "
	       "ssl.ca.location, ssl.certificate.location, ssl.key.location, "
	       "ssl.key.password",
	       "properties: {basic.auth.user.info: {env: REGISTRY_LOGIN}}"),
	 INNER(&secret_schema),
	 .read = read_registry_properties},
};
static const struct schema registry_schema = SCHEMA("registry", registry_keys);

static int read_registry(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	(void)key;
	return read_mapping(r, n, &registry_schema, slot);
}

static const struct key roll_keys[] = {
	{.name = "bytes",
	 WORDS(SIZE, NULL, "end a load when its messages have this many bytes", "bytes: 1G"),
	 .read = read_size,
	 .offset = offsetof(struct kafka_source, roll_bytes),
	 .min = 1},
	{.name = "rows",
	 WORDS(SIZE, "10000000, without `roll`", "end a load when it has this many messages",
	       "rows: 1000000"),
	 .read = read_size,
	 .offset = offsetof(struct kafka_source, roll_rows),
	 .min = 1},
	{.name = "time",
	 WORDS(DURATION, "5m, without `roll`",
	       "end a load this long after the read of its first message; `stream --apply` may "
	       "wait up to 30 s longer while loads wait for HBase",
	       "time: 60s"),
	 .read = read_duration,
	 .offset = offsetof(struct kafka_source, roll_s)},
};
static const struct schema roll_schema = SCHEMA("roll", roll_keys);

static int read_roll(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct kafka_source *k = slot;

	(void)key;
	k->roll_bytes = k->roll_rows = k->roll_s = 0;
	int rc = read_mapping(r, n, &roll_schema, k);
	if (rc == RC_OK && !k->roll_bytes && !k->roll_rows && !k->roll_s)
		rc = fault(r, n->pos, "roll: found an empty mapping, expected bytes, rows or time");
	return rc;
}

static const struct key dead_letters_keys[] = {
	{.name = "topic",
	 WORDS(TEXT, NULL, "the topic for rejected messages", "topic: orders.dead"),
	 .read = read_topic,
	 .offset = offsetof(struct kafka_source, dead_letters),
	 .required = true},
};
static const struct schema dead_letters_schema = SCHEMA("dead_letters", dead_letters_keys);

static int read_dead_letters(struct reader *r, const struct node *n, const struct key *key,
			     void *slot)
{
	(void)key;
	return read_mapping(r, n, &dead_letters_schema, slot);
}

static const struct key kafka_keys[] = {
	{.name = "brokers",
	 WORDS(TEXT, NULL, "HOST:PORT of one or more brokers, separated by commas",
	       "brokers: \"k1:9092,k2:9092\""),
	 .read = read_text,
	 .offset = offsetof(struct kafka_source, brokers),
	 .required = true},
	{.name = "topic",
	 WORDS(TEXT, NULL, "the topic; use exactly one of `topic`, `topics` and `pattern`",
	       "topic: clicks"),
	 .read = read_topic,
	 .offset = offsetof(struct kafka_source, topic)},
	{.name = "topics",
	 WORDS(TEXTS, NULL, "several topics; if keys are equal, the later topic of the list wins",
	       "topics: [orders, returns]"),
	 .read = read_topics},
	{.name = "pattern",
	 WORDS(TEXT, NULL,
	       "a regular expression: read all topics whose whole name matches, ordered by "
	       "name; a stream also finds new topics",
	       "pattern: \"orders-.*\""),
	 .read = read_topic_pattern},
	{.name = "format",
	 WORDS(CHOICE, NULL,
	       "format of message values: JSON, Avro with the registry's schema, delimited "
	       "text, or one field of any bytes",
	       "format: json"),
	 .read = read_format,
	 .offset = offsetof(struct kafka_source, format),
	 .required = true,
	 CHOICES(formats)},
	{.name = "registry",
	 WORDS(MAPPING, NULL,
	       "values have Confluent's wire format; this Schema Registry has their schemas",
	       "registry: {url: \"https://registry.example:8081\"}"),
	 INNER(&registry_schema),
	 .read = read_registry,
	 .offset = offsetof(struct kafka_source, registry)},
	{.name = "group",
	 WORDS(TEXT, NULL,
	       "the consumer group for committed offsets: other tools see the lag, and "
	       "saltmill notices an old copy of the state",
	       "group: saltmill-clicks"),
	 .read = read_text,
	 .offset = offsetof(struct kafka_source, group)},
	{.name = "share",
	 WORDS(BOOL, "false",
	       "whether several processes divide the partitions among them; needs `group` "
	       "and one shared state folder",
	       "share: true"),
	 .read = read_bool,
	 .offset = offsetof(struct kafka_source, share)},
	{.name = "partitions",
	 WORDS(NUMBERS, "all", "read only these partitions, in each topic that has them",
	       "partitions: [0, 1]"),
	 .read = read_partitions},
	{.name = "start",
	 WORDS(TEXT, "earliest",
	       "where the first load begins: earliest, latest or a time in UTC; a new topic "
	       "starts from its beginning",
	       "start: 2026-11-01T06:30:00Z"),
	 .read = read_start},
	{.name = "tombstones",
	 WORDS(CHOICE, "filter",
	       "a message without a value deletes its row, counts as filtered, or is a bad event",
	       "tombstones: delete"),
	 .read = read_choice,
	 .offset = offsetof(struct kafka_source, tombstones),
	 CHOICES(tombstones)},
	{.name = "max_message",
	 WORDS(SIZE, "4M",
	       "a larger message is a bad event; --memory must be at least four times this size",
	       "max_message: 16M"),
	 .read = read_size,
	 .offset = offsetof(struct kafka_source, max_message),
	 .min = 1,
	 .max = 512 * MIB},
	{.name = "dead_letters",
	 WORDS(MAPPING, NULL,
	       "also produce rejected messages to a topic, before the publication of the load; "
	       "headers give the reason",
	       "dead_letters: {topic: clicks.dead}"),
	 INNER(&dead_letters_schema),
	 .read = read_dead_letters},
	{.name = "properties",
	 WORDS(PROPERTIES, NULL,
	       "any librdkafka property, except those that exactly-once loading depends on",
	       "properties: {security.protocol: SASL_SSL, sasl.password: {env: KAFKA_PASSWORD}}"),
	 INNER(&secret_schema),
	 .read = read_properties},
	{.name = "patience",
	 WORDS(DURATION, "5m; a stream: forever", "end the run if no broker answers for this long",
	       "patience: 90s"),
	 .read = read_duration,
	 .offset = offsetof(struct kafka_source, patience_s)},
	{.name = "roll",
	 WORDS(MAPPING, "{rows: 10000000, time: 5m}",
	       "when a stream ends a load: at the first of these limits",
	       "roll: {rows: 1000000, time: 60s}"),
	 INNER(&roll_schema),
	 .read = read_roll},
};

/* Keys of the csv format. They fill struct job.csv. */
static const struct key dialect_keys[] = {
	{.name = "columns",
	 WORDS(TEXTS, NULL, "format csv: names of the values in a message",
	       "columns: [id, day, amount]"),
	 .read = read_csv_columns},
	{.name = "delimiter",
	 WORDS(BYTE, "\",\"", "format csv: the byte between values", "delimiter: ;"),
	 .read = read_byte,
	 .offset = offsetof(struct csv_source, delimiter)},
	{.name = "quote",
	 WORDS(BYTE, "'\"'", "format csv: the byte around values that contain delimiters",
	       "quote: \"'\""),
	 .read = read_byte,
	 .offset = offsetof(struct csv_source, quote)},
	{.name = "empty",
	 WORDS(CHOICE, "null", "format csv: an unquoted empty value is null or the text \"\"",
	       "empty: value"),
	 .read = read_empty},
	{.name = "null",
	 WORDS(TEXTS, "[\"\"]", "format csv: unquoted spellings of null", "null: [NA]"),
	 .read = read_csv_nulls},
	{.name = "quoted_nulls",
	 WORDS(BOOL, "false", "format csv: whether a quoted spelling is a null too",
	       "quoted_nulls: true"),
	 .read = read_bool,
	 .offset = offsetof(struct csv_source, quoted_nulls)},
};

const struct schema kafka_schema = SCHEMA("kafka", kafka_keys);
const struct schema dialect_schema = SCHEMA("kafka", dialect_keys);

#define NKAFKA	 (sizeof kafka_keys / sizeof kafka_keys[0])
#define NDIALECT (sizeof dialect_keys / sizeof dialect_keys[0])

static int check_dialect(struct reader *r, const struct node *n)
{
	struct job *job = r->job;

	for (size_t i = 0; i < NDIALECT; i++) {
		const struct node *item = node_get(n, dialect_keys[i].name);

		if (item && job->kafka.format != KAFKA_CSV)
			return fault(r, item->pos, "%s: has no effect without `format: csv`",
				     dialect_keys[i].name);
	}
	if (job->kafka.format == KAFKA_CSV && !job->csv.columns)
		return fault(
			r, n->pos,
			"kafka lacks the key `columns`, expected the names of the values in a message; "
			"write `columns: [a, b]`");
	if (job->csv.delimiter == job->csv.quote || strchr("\r\n", job->csv.delimiter) ||
	    strchr("\r\n", job->csv.quote))
		return fault(
			r, n->pos,
			"found delimiter and quote equal, or one of them a line end or NUL; expected two other bytes");
	return RC_OK;
}

static int check_registry(struct reader *r, const struct node *n)
{
	const struct kafka_source *k = &r->job->kafka;

	if (k->format == KAFKA_AVRO && !k->registry.url)
		return fault(r, n->pos,
			     "kafka lacks the key `registry`: format avro needs the url of the "
			     "schema registry");
	if (k->registry.url && k->format != KAFKA_AVRO && k->format != KAFKA_JSON)
		return fault(r, node_get(n, "registry")->pos,
			     "registry: has no effect without `format: avro` or `format: json`");
	return RC_OK;
}

static int check_share(struct reader *r, const struct node *n)
{
	const struct kafka_source *k = &r->job->kafka;
	const struct node *item = node_get(n, "share");

	if (!k->share)
		return RC_OK;
	if (!k->group)
		return fault(
			r, item->pos,
			"share: found no `group`, expected the consumer group whose members share the topic");
	if (!k->topic)
		return fault(
			r, item->pos,
			"share: found several topics, expected one `topic`, whose partitions the "
			"members share; to divide several topics, give each process its own "
			"`partitions` and state folder");
	if (k->npartitions)
		return fault(
			r, item->pos,
			"share: found `partitions` too, expected only one of them, because the "
			"group assigns the partitions");
	return RC_OK;
}

/*
 * Read both lists of keys as one mapping. The dialect's keys fill job->csv, and the others fill
 * job->kafka.
 */
static int read_both(struct reader *r, const struct node *n)
{
	struct key all[NKAFKA + NDIALECT];
	const struct schema schema = {"kafka", all, NKAFKA + NDIALECT};
	struct job *job = r->job;

	memcpy(all, kafka_keys, sizeof kafka_keys);
	memcpy(all + NKAFKA, dialect_keys, sizeof dialect_keys);
	for (size_t i = 0; i < NKAFKA; i++)
		all[i].offset += offsetof(struct job, kafka);
	for (size_t i = NKAFKA; i < NKAFKA + NDIALECT; i++)
		all[i].offset += offsetof(struct job, csv);
	return read_mapping(r, n, &schema, job);
}

int read_kafka(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	static const char *empty[] = {""};
	struct job *job = slot;

	(void)key;
	job->source = SOURCE_KAFKA;
	job->csv = (struct csv_source){.delimiter = ',',
				       .quote = '"',
				       .nulls = empty,
				       .nnulls = 1,
				       .max_row_bytes = 2048 * MIB};
	job->kafka = (struct kafka_source){.pos = n->pos,
					   .roll_rows = 10000000,
					   .roll_s = 300,
					   .max_message = 4 * MIB};
	int rc = read_both(r, n);
	if (rc == RC_OK)
		rc = check_dialect(r, n);
	if (rc == RC_OK)
		rc = check_topics(r, n);
	if (rc == RC_OK)
		rc = check_share(r, n);
	if (rc == RC_OK)
		rc = check_registry(r, n);
	if (job->kafka.format != KAFKA_CSV) {
		/* JSON has a null, but a field's spellings of null also apply to strings */
		job->csv.nnulls = 0;
		job->csv.quoted_nulls = true;
		job->csv.empty_is_value = true;
	}
	return rc;
}
