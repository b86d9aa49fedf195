#include "parked_places.h"

#include "clock.h"
#include "mem.h"

#define TRY_AGAIN_MS 60000 /* delay before the first retry; the delay doubles each time */
#define TRY_MOST_MS  600000

bool parking_is_for(int rc)
{
	return rc == RC_DATA || rc == RC_ORDER || rc == RC_LIMIT;
}

int64_t parked_delay(int64_t last_ms)
{
	int64_t next = last_ms ? 2 * last_ms : TRY_AGAIN_MS;

	return next < TRY_MOST_MS ? next : TRY_MOST_MS;
}

struct parked_place *parked_find(const struct parked_places *p, const struct offset_range *r)
{
	for (size_t i = 0; i < p->n; i++)
		if (place_order(p->item[i].topic, p->item[i].partition, r->topic, r->partition) ==
		    0)
			return &p->item[i];
	return NULL;
}

void parked_put(struct parked_places *p, const struct offset_range *r,
		const struct listener *listener, const char *why)
{
	struct parked_place *place = parked_find(p, r);

	if (!place) {
		p->item = mem_grow(p->item, p->n, sizeof *p->item);
		place = &p->item[p->n++];
		*place = (struct parked_place){.topic = r->topic, .partition = r->partition};
	}
	place->delay_ms = parked_delay(place->delay_ms);
	place->try_ms = clock_ms() + place->delay_ms;
	mem_free(place->why);
	place->why = mem_strdup(why);
	report_to(listener,
		  "partition %s is parked, and the other partitions continue: %s; saltmill retries "
		  "it in %lld min; to set its position, stop the stream first",
		  place_text(r->topic, r->partition).text, why,
		  (long long)(place->delay_ms / 60000));
}

void parked_end(struct parked_places *p, const struct offset_range *r,
		const struct listener *listener)
{
	struct parked_place *place = parked_find(p, r);

	if (!place)
		return;
	mem_free(place->why);
	*place = p->item[--p->n];
	report_to(listener, "partition %s continues", place_text(r->topic, r->partition).text);
}

void parked_release(struct parked_places *p)
{
	for (size_t i = 0; i < p->n; i++)
		mem_free(p->item[i].why);
	mem_free(p->item);
	*p = (struct parked_places){0};
}
