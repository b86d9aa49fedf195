/* offsets.c - ranges of partitions and headers of messages as JSON */
#include "event.h"

#include "form.h"

static const struct form_member anchor_members[] = {
	{"offset", FORM_INT, IN(anchor, offset), "offset of the message"},
	{"timestamp_ms", FORM_INT, IN(anchor, timestamp_ms),
	 "time of the message, in ms since 1970"},
	{"digest", FORM_DIGEST, IN(anchor, digest), "XXH3-128 of the message's key and value"},
};
static const struct form anchor_form = FORM(anchor, anchor_members);

static const struct form_member range_members[] = {
	{"topic", FORM_TEXT, IN(offset_range, topic), "absent if the job has only one topic",
	 FORM_IF_ANY},
	{"partition", FORM_INT32, IN(offset_range, partition), "number of the partition"},
	{"start", FORM_INT, IN(offset_range, start), "first offset"},
	{"end", FORM_INT, IN(offset_range, end), "first offset after the range"},
	{"events", FORM_INT, IN(offset_range, events), "messages in between"},
	{"last", FORM_PART, IN(offset_range, last),
	 "the last message, which shows later whether the topic is still the same", FORM_IF_ANY,
	 &anchor_form},
};
const struct form offset_range_form = FORM(offset_range, range_members);

static const struct form_member header_members[] = {
	{"name", FORM_TEXT, IN(message_header, name), "of the header"},
	{"value", FORM_BASE64, IN(message_header, value), "of the header"},
};
const struct form message_header_form = FORM(message_header, header_members);
