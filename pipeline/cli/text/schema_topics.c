/* schema_topics.c - what is told of a state folder and its stream */
#include "schema_tables.h"

static const struct schema_key status_keys[] = {
	{"cluster", "?text", "Kafka's id of it; nothing at all where nothing was loaded yet"},
	{"topic", "?text", "of a job with one topic"},
	{"topics", "?texts", "of a job with several"},
	{"running", "?flag", "a process has the folder"},
	{"positions", "?objects", "by topic and partition"},
	{"positions[].topic", "?text", "where there are several"},
	{"positions[].partition", "count", "of the topic"},
	{"positions[].offset", "integer", "the next one to load"},
	{"making", "?text", "the load that is being made, or that a crash left"},
	{"last", "?object", "the load that was published last"},
	{"last.load", "text", "its name"},
	{"last.output", "text", "its folder"},
	{"last.read", "count", "events"},
	{"last.rejected", "count", "bad ones"},
	{"last.published_ms", "time", "by the clock"},
	{"stream", "?object", "what a stream saw last"},
	{"stream.time_ms", "time", "when it saw it"},
	{"stream.lag", "count", "offsets that are not loaded yet"},
	{"stream.rate", "real", "events a second, over a minute"},
	{"stream.cut", "count", "offsets of the load that is being read"},
	{"stream.cut_age_ms", "count", "since its first event was seen"},
	{"stream.loads", "count", "since the stream began"},
	{"stream.events", "count", "since the stream began"},
	{"stream.rejected", "count", "since the stream began"},
	{"stream.parked", "?text", "why the partition waits for somebody to mend it"},
	{"apply", "?object", "what saw the loads into HBase saw last"},
	{"apply.time_ms", "time", "when it saw it"},
	{"apply.unapplied", "count", "loads that are not in HBase"},
	{"apply.oldest_unapplied_ms", "time", "when the oldest of them was published; 0: none"},
	{"apply.applied", "count", "loads, since it began"},
	{"apply.applied_ms", "time", "the last of them; 0: none"},
	{"apply.trouble", "?text", "why the oldest is not in"},
	{"partitions", "?selves", "where instances share a topic: the state of each partition"},
};

static const struct schema_key loads_keys[] = {
	{"load", "text", "its name in the state"},
	{"output", "text", "its folder; empty where positions were set by hand"},
	{"seek", "flag", "no load: positions that were set by hand"},
	{"loaded", "flag", "it is in HBase, or somebody said so"},
	{"read", "count", "events"},
	{"rejected", "count", "bad ones"},
	{"published_ms", "time", "by the clock"},
	{"applied_to", "?text", "the id of the HBase cluster that this program gave it to"},
	{"applied_ms", "?time", "when that was done"},
	{"offsets", "objects", "what it has, by topic and partition"},
	{"offsets[].topic", "?text", "where there are several"},
	{"offsets[].partition", "count", "of the topic"},
	{"offsets[].start", "integer", "the first offset"},
	{"offsets[].end", "integer", "the offset behind the last"},
	{"offsets[].events", "integer", "messages in between"},
	{"gone", "?flag", "its folder is not there"},
	{"problem", "?text", "it is not what was published, or does not follow the one before"},
};

static const struct schema_key seek_keys[] = {
	{"topic", "?text", "where there are several"},
	{"partition", "count", "of the topic"},
	{"from", "?integer", "its position before; missing: it had none"},
	{"to", "integer", "its position now"},
	{"skipped", "count", "offsets that no later load will have"},
	{"lost", "count", "of those, that the topic itself has no more"},
	{"repeated", "count", "offsets that will be loaded once more"},
};

static const struct schema_key stream_keys[] = {
	{"load", "text", "its name in the state"},
	{"read", "count", "events"},
	{"rejected", "count", "bad ones"},
	{"output", "text", "the folder that was published"},
};

static const struct schema_key applied_keys[] = {
	{"applied", "text", "the load's name in the state"},
	{"cells", "count", "of all its tables"},
	{"files", "count", "that were handed over"},
	{"output", "text", "the load's folder"},
	{"ms", "object", "from its publication on, by phase"},
	{"ms.total", "count", "until it was marked"},
	{"ms.waited", "count", "for loads before it, and for tries that failed"},
	{"ms.looked", "count", "at the cluster and the table, which may be made or altered"},
	{"ms.uploaded", "count", "its files, to where region servers take them from"},
	{"ms.loaded", "count", "the calls of region servers"},
	{"ms.cleaned", "count", "looking that nothing is left behind, and removing its folders"},
	{"ms.checked", "count", "with --check: comparing all cells with those of the table"},
	{"ms.marked", "count", "the mark in the state"},
};

const struct form_schema schemas_of_topics[] = {
	SCHEMA("status", "status --json", status_keys),
	SCHEMA("loads", "a line of loads --json", loads_keys),
	SCHEMA("seek", "a line of seek --json", seek_keys),
	SCHEMA("stream", "a line of stream --json: a load that was published", stream_keys),
	SCHEMA("applied", "a line of apply --state --json: a load that is in HBase", applied_keys),
	{0},
};
