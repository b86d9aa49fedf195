/*
 * The kafka source.  Any librdkafka property may be given under `properties`, except those that
 * the promise "each event in exactly one load" stands on, and those that have a key of their own.
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
	{"bootstrap.servers", "the key `brokers` says it"},
	{"metadata.broker.list", "the key `brokers` says it"},
	{"group.id", "the key `group` says it"},
	{"enable.auto.commit", "offsets are committed after a load is published"},
	{"auto.commit.interval.ms", "offsets are committed after a load is published"},
	{"enable.auto.offset.store", "offsets are committed after a load is published"},
	{"auto.offset.reset", "a lost position stops the run, it is never reset silently"},
	{"isolation.level", "events of aborted transactions are never loaded"},
	{"enable.partition.eof", "it tells where a partition ends"},
	{"partition.assignment.strategy", "`share: true` stands on cooperative-sticky"},
	{"auto.commit.enable", "offsets are committed after a load is published"},
	{"offset.store.method", "offsets are committed after a load is published"},
	{"check.crcs", "what was damaged on its way is never loaded"},
	{"allow.auto.create.topics", "a topic that is not there stops the run"},
	{"log.queue", "what librdkafka says is shown by the program"},
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

/* UTC: 2026-11-01, 2026-11-01T06:30:00Z. */
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

/* Who looks for it shall learn why it is not there, and what to do. */
static int read_format(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	if (n->kind == NODE_SCALAR && strcmp(n->text, "protobuf") == 0)
		return fault(
			r, n->pos,
			"format: found `protobuf`, expected json, avro, csv or raw: " NO_PROTOBUF);
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
	 WORDS(TEXT, NULL, "the file that holds the value; shown nowhere",
	       "{file: secrets/password}"),
	 .read = read_text,
	 .offset = offsetof(struct kafka_property, file)},
	{.name = "env",
	 WORDS(TEXT, NULL, "the environment variable that holds the value; shown nowhere",
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
			return fault(r, p->pos, "property `%s` cannot be set: %s", p->name,
				     refused[i].why);
	if (n->kind != NODE_MAPPING)
		return read_any_text(r, n, &key, &p->value);
	int rc = read_mapping(r, n, &secret_schema, p);
	if (!rc && !p->file == !p->env)
		rc = fault(r, n->pos, "%s: expected a value, {file: NAME} or {env: NAME}", p->name);
	if (!rc && p->file)
		p->file = job_path(r->job, p->file);
	return rc;
}

static int read_properties(struct reader *r, const struct node *n, const struct key *key,
			   void *slot)
{
	struct kafka_source *k = slot;

	if (n->kind != NODE_MAPPING)
		return expected(r, n, key->name, "a mapping of librdkafka's properties");
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
		return expected(r, n, key->name,
				"http:// or https:// and a host; user and password belong into "
				"`properties: {basic.auth.user.info: {env: NAME}}`");
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
	 WORDS(TEXT, NULL,
	       "where the Schema Registry answers; user and password belong into its properties",
	       "url: https://registry.example:8081"),
	 .read = read_url,
	 .offset = offsetof(struct kafka_registry, url),
	 .required = true},
	{.name = "properties",
	 WORDS(PROPERTIES, NULL,
	       "of the registry: basic.auth.user.info, bearer.auth.token, ssl.ca.location, "
	       "ssl.certificate.location, ssl.key.location, ssl.key.password",
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
	 WORDS(SIZE, NULL, "a load is cut when its messages have so many bytes", "bytes: 1G"),
	 .read = read_size,
	 .offset = offsetof(struct kafka_source, roll_bytes),
	 .min = 1},
	{.name = "rows",
	 WORDS(SIZE, "10000000, without `roll`", "a load is cut when it has so many messages",
	       "rows: 1000000"),
	 .read = read_size,
	 .offset = offsetof(struct kafka_source, roll_rows),
	 .min = 1},
	{.name = "time",
	 WORDS(DURATION, "5m, without `roll`",
	       "a load is cut when its first message was read so long ago; with `stream --apply` "
	       "up to half a minute later while loads wait for HBase",
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
	if (!rc && !k->roll_bytes && !k->roll_rows && !k->roll_s)
		rc = fault(r, n->pos, "roll: found an empty mapping, expected bytes, rows or time");
	return rc;
}

static const struct key dead_letters_keys[] = {
	{.name = "topic",
	 WORDS(TEXT, NULL, "the topic that rejected messages are produced to",
	       "topic: orders.dead"),
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
	 WORDS(TEXT, NULL, "HOST:PORT of some brokers, separated by commas",
	       "brokers: \"k1:9092,k2:9092\""),
	 .read = read_text,
	 .offset = offsetof(struct kafka_source, brokers),
	 .required = true},
	{.name = "topic",
	 WORDS(TEXT, NULL, "the topic; or `topics`, or `pattern`: one of the three",
	       "topic: clicks"),
	 .read = read_topic,
	 .offset = offsetof(struct kafka_source, topic)},
	{.name = "topics",
	 WORDS(TEXTS, NULL, "several topics; where keys are equal, the later one wins",
	       "topics: [orders, returns]"),
	 .read = read_topics},
	{.name = "pattern",
	 WORDS(TEXT, NULL,
	       "all topics whose whole name this regular expression has, by name; new ones are "
	       "found "
	       "while streaming",
	       "pattern: \"orders-.*\""),
	 .read = read_topic_pattern},
	{.name = "format",
	 WORDS(CHOICE, NULL,
	       "what a message's value is: JSON, Avro by the registry's schema, delimited text, or "
	       "one field of any bytes",
	       "format: json"),
	 .read = read_format,
	 .offset = offsetof(struct kafka_source, format),
	 .required = true,
	 CHOICES(formats)},
	{.name = "registry",
	 WORDS(MAPPING, NULL,
	       "values are in Confluent's wire format, by the schemas of this Schema Registry",
	       "registry: {url: \"https://registry.example:8081\"}"),
	 INNER(&registry_schema),
	 .read = read_registry,
	 .offset = offsetof(struct kafka_source, registry)},
	{.name = "group",
	 WORDS(TEXT, NULL,
	       "the consumer group that is told the offsets, so that other tools see the lag and "
	       "an old copy of the state is noticed",
	       "group: saltmill-clicks"),
	 .read = read_text,
	 .offset = offsetof(struct kafka_source, group)},
	{.name = "share",
	 WORDS(BOOL, "false",
	       "whether several processes share the topic by partition, with `group` and one state "
	       "folder",
	       "share: true"),
	 .read = read_bool,
	 .offset = offsetof(struct kafka_source, share)},
	{.name = "partitions",
	 WORDS(NUMBERS, "all",
	       "only these partitions; of several topics, those of each that it has",
	       "partitions: [0, 1]"),
	 .read = read_partitions},
	{.name = "start",
	 WORDS(TEXT, "earliest",
	       "where the first load begins: earliest, latest or a time in UTC; a topic that is "
	       "found later begins at its beginning",
	       "start: 2026-11-01T06:30:00Z"),
	 .read = read_start},
	{.name = "tombstones",
	 WORDS(CHOICE, "filter",
	       "what becomes of a message without a value: a delete of its row, filtered, or a bad "
	       "event",
	       "tombstones: delete"),
	 .read = read_choice,
	 .offset = offsetof(struct kafka_source, tombstones),
	 CHOICES(tombstones)},
	{.name = "dead_letters",
	 WORDS(MAPPING, NULL,
	       "rejected messages go to a topic too, before the load is published, with headers "
	       "that say why",
	       "dead_letters: {topic: clicks.dead}"),
	 INNER(&dead_letters_schema),
	 .read = read_dead_letters},
	{.name = "properties",
	 WORDS(PROPERTIES, NULL, "any of librdkafka's, but those that exactly-once stands on",
	       "properties: {security.protocol: SASL_SSL, sasl.password: {env: KAFKA_PASSWORD}}"),
	 INNER(&secret_schema),
	 .read = read_properties},
	{.name = "patience",
	 WORDS(DURATION, "5m, of a stream forever",
	       "how long no broker may answer before the run ends", "patience: 90s"),
	 .read = read_duration,
	 .offset = offsetof(struct kafka_source, patience_s)},
	{.name = "roll",
	 WORDS(MAPPING, "{rows: 10000000, time: 5m}",
	       "when a stream cuts a load: at the first of these that is reached",
	       "roll: {rows: 1000000, time: 60s}"),
	 INNER(&roll_schema),
	 .read = read_roll},
};

/* Keys of the csv format; they fill struct job.csv. */
static const struct key dialect_keys[] = {
	{.name = "columns",
	 WORDS(TEXTS, NULL, "of format csv: names of a message's values",
	       "columns: [id, day, amount]"),
	 .read = read_csv_columns},
	{.name = "delimiter",
	 WORDS(BYTE, "\",\"", "of format csv: what stands between values", "delimiter: ;"),
	 .read = read_byte,
	 .offset = offsetof(struct csv_source, delimiter)},
	{.name = "quote",
	 WORDS(BYTE, "'\"'", "of format csv: what stands around values that hold delimiters",
	       "quote: \"'\""),
	 .read = read_byte,
	 .offset = offsetof(struct csv_source, quote)},
	{.name = "empty",
	 WORDS(CHOICE, "null",
	       "of format csv: what an unquoted empty value is, null or the text \"\"",
	       "empty: value"),
	 .read = read_empty},
	{.name = "null",
	 WORDS(TEXTS, "[\"\"]", "of format csv: unquoted spellings of a null", "null: [NA]"),
	 .read = read_csv_nulls},
	{.name = "quoted_nulls",
	 WORDS(BOOL, "false", "of format csv: whether a quoted spelling is a null too",
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
			return fault(r, item->pos, "%s: means nothing without `format: csv`",
				     dialect_keys[i].name);
	}
	if (job->kafka.format == KAFKA_CSV && !job->csv.columns)
		return fault(r, n->pos,
			     "kafka lacks the key `columns`: the names of a message's values");
	if (job->csv.delimiter == job->csv.quote || strchr("\r\n", job->csv.delimiter) ||
	    strchr("\r\n", job->csv.quote))
		return fault(r, n->pos,
			     "found delimiter and quote equal, or a line end or NUL among them, "
			     "expected two other bytes");
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
			     "registry: means nothing without `format: avro` or `format: json`");
	return RC_OK;
}

static int check_share(struct reader *r, const struct node *n)
{
	const struct kafka_source *k = &r->job->kafka;
	const struct node *item = node_get(n, "share");

	if (!k->share)
		return RC_OK;
	if (!k->group)
		return fault(r, item->pos,
			     "share: found no `group`, expected the consumer group whose "
			     "members share the topic");
	if (!k->topic)
		return fault(r, item->pos,
			     "share: found several topics, expected one `topic`, whose partitions "
			     "the members share; several are divided by `partitions` and a state "
			     "folder for each process");
	if (k->npartitions)
		return fault(r, item->pos,
			     "share: found `partitions` too, expected one of the two: the "
			     "group decides who has which partition");
	return RC_OK;
}

/* Both lists are one to the user: the dialect goes to one struct, the rest to another. */
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
	job->kafka = (struct kafka_source){.pos = n->pos, .roll_rows = 10000000, .roll_s = 300};
	int rc = read_both(r, n);
	if (!rc)
		rc = check_dialect(r, n);
	if (!rc)
		rc = check_topics(r, n);
	if (!rc)
		rc = check_share(r, n);
	if (!rc)
		rc = check_registry(r, n);
	if (job->kafka.format != KAFKA_CSV) {
		/* JSON says null itself; a field's own spellings count for strings too */
		job->csv.nnulls = 0;
		job->csv.quoted_nulls = true;
		job->csv.empty_is_value = true;
	}
	return rc;
}
