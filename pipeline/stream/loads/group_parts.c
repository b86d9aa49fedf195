/*
 * group_parts.c - the partitions of an instance, and the thread that serves their consumer group
 */
#include "group_parts.h"

#include <stdio.h>

#include "pool.h"

#define POLL_MS 100

/* --- the partitions of this instance --- */

static struct part *part_new(struct share *s, int32_t id)
{
	const char *out = s->opt->load->output_dir;
	struct part *p = mem_calloc(1, sizeof *p);

	p->id = id;
	p->job = *s->job;
	p->job.kafka.partitions = &p->id;
	p->job.kafka.npartitions = 1;
	/*
	 * The state has a position. If the broker has lost that offset, the job must not skip
	 * messages.
	 */
	p->job.kafka.start = KAFKA_EARLIEST;
	p->dir = shared_dir(s->opt->state_dir, id);
	p->prefix = mem_format("p%05d/", id);
	p->stream.opt = s->opt;
	p->stream.prefix = p->prefix;
	p->stream.parent =
		out ? mem_format("%s/p%05d", out, id) : mem_format("%s/published", p->dir);
	p->delay_ms = TRY_AGAIN_MS;
	return p;
}

void share_part_free(struct part *p)
{
	if (p->held)
		stream_held(&p->stream, p->dir, false);
	ingest_close(&p->stream.in);
	mem_free(p->stream.parent);
	mem_free(p->prefix);
	mem_free(p->dir);
	mem_free(p);
}

struct part *share_find(struct share *s, int32_t id)
{
	struct part *p = s->parts;

	while (p && p->id != id)
		p = p->next;
	return p;
}

static void add(struct share *s, int32_t id)
{
	struct part **at = &s->parts, *p;

	while (*at && (*at)->id < id)
		at = &(*at)->next;
	if (*at && (*at)->id == id) {
		(*at)->taken = false;
		return;
	}
	p = part_new(s, id);
	p->next = *at;
	*at = p;
}

size_t share_count(const struct share *s)
{
	size_t n = 0;

	for (const struct part *p = s->parts; p; p = p->next)
		n += !p->taken;
	return n;
}

/*
 * Close the revoked partitions. Return false if the loading thread still uses a revoked partition.
 */
static bool close_taken(struct share *s)
{
	bool all = true;

	pthread_mutex_lock(&s->lock);
	for (struct part **at = &s->parts; *at;) {
		struct part *p = *at;

		if (!p->taken || p == s->busy) {
			all = all && !p->taken;
			at = &p->next;
			continue;
		}
		*at = p->next;
		share_part_free(p);
	}
	pthread_mutex_unlock(&s->lock);
	return all;
}

/* --- the thread that serves the group --- */

static void say_change(const struct share *s, const char *what, const int32_t *ids, size_t n)
{
	struct buf b = {0};

	buf_printf(&b, "group %s %s", s->job->kafka.group, what);
	for (size_t i = 0; i < n && b.len < 300; i++)
		buf_printf(&b, " %d", ids[i]);
	buf_printf(&b, "; %zu assigned now", share_count(s));
	buf_put(&b, 0);
	report_to(&s->opt->listener, "%s", (const char *)b.ptr);
	buf_release(&b);
}

void share_given(void *ctx, const int32_t *ids, size_t n)
{
	struct share *s = ctx;

	if (!n)
		return;
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < n; i++)
		add(s, ids[i]);
	say_change(s, "assigned partitions", ids, n);
	pthread_mutex_unlock(&s->lock);
}

void share_taken(void *ctx, const int32_t *ids, size_t n, bool lost)
{
	struct share *s = ctx;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < n; i++) {
		struct part *p = share_find(s, ids[i]);

		if (!p)
			continue;
		p->taken = true;
		if (p == s->busy)
			s->stop = 1;
	}
	if (n)
		say_change(s, lost ? "dropped this member; lost partitions" : "revoked partitions",
			   ids, n);
	pthread_mutex_unlock(&s->lock);
}

void *share_serve_group(void *ctx)
{
	struct share *s = ctx;
	struct error err;
	bool leaving = false;
	int rc = RC_OK;

	while (rc == RC_OK && !leaving) {
		rc = member_poll(s->member, POLL_MS, &err);
		if (close_taken(s))
			member_let_go(s->member);
		pthread_mutex_lock(&s->lock);
		leaving = s->leaving;
		if (rc) {
			s->rc = rc;
			s->err = err;
			s->stop = 1;
		}
		pthread_mutex_unlock(&s->lock);
	}
	return NULL;
}
