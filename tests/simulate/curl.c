/* curl.c - simulates the functions of libcurl that the program calls */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netdb.h>

#include "hdfs.h"

static CURLcode fail(struct handle *h, CURLcode code, const char *why)
{
	h->status = 0;
	if (h->why)
		snprintf(h->why, CURL_ERROR_SIZE, "%s", why);
	sim_note("http fails", (uint64_t)code, 0);
	return code;
}

CURLcode curl_easy_perform(CURL *c)
{
	static const char *const passing[] = {"SafeModeException", "RetriableException",
					      "StandbyException", "ServerTooBusyException"};
	struct handle *h = c;

	if (strncmp(h->url, "http://nn", 9) != 0 && strncmp(h->url, "http://dn", 9) != 0)
		return fail(h, CURLE_COULDNT_CONNECT, "connection refused"); /* a broker's port */
	struct request r = hdfs_parse(h->url);
	struct buf body = {0};
	char step[60];

	snprintf(step, sizeof step, "http %s", r.op);
	sim_step(step);
	sim_sleep((int64_t)sim_below(ANSWER_MS * SIM_MS));
	sim_say("  %s %s", r.path, r.to);
	cluster_due();
	if (sim_fault(W->odds.http_late))
		sim_sleep((int64_t)sim_below(LATE_MS) * SIM_MS);
	if (sim_fault(W->odds.http_lost))
		return fail(h, CURLE_COULDNT_CONNECT, "connection refused");
	if (sim_fault(W->odds.http_refused)) {
		if (sim_below(3) == 0) {
			h->status = 503;
			return CURLE_OK;
		}
		if (sim_below(6) == 0)
			W->hdfs->active ^= 1;
		h->status = hdfs_refuse(&body, 403, passing[sim_below(4)], "try again");
	} else {
		h->status = hdfs_serve(&body, &r, h->url);
	}
	CURLcode code = CURLE_OK;
	sim_did(DID_CALL);
	if (sim_fault(W->odds.http_done_lost))
		code = fail(h, CURLE_GOT_NOTHING, "empty reply");
	else if (body.len)
		h->write((char *)body.ptr, 1, body.len, h->write_to);
	sim_note("http", (uint64_t)h->status, body.len);
	buf_release(&body);
	return code;
}

/* --- uploads --- */

static void begin_upload(struct handle *h)
{
	struct request r = hdfs_parse(h->url);
	struct hdfs_node *n = hdfs_find(r.path);

	h->begun = true;
	sim_step("http PUT");
	sim_say("  %s", r.path);
	h->left = UINT64_MAX;
	if (sim_fault(W->odds.http_cut))
		h->left = sim_below(6000);
	if (n && (!r.overwrite || n->folder)) {
		struct buf body = {0};

		h->status = hdfs_refuse(&body, 403, "FileAlreadyExistsException", "exists");
		h->write((char *)body.ptr, 1, body.len, h->write_to);
		buf_release(&body);
		h->ended = true;
		return;
	}
	if (!hdfs_has_parent(r.path)) {
		h->status = 404;
		h->ended = true;
		return;
	}
	hdfs_remove(r.path);
	h->node = hdfs_make(r.path, false);
	h->node->open = true;
	h->node->mode = r.mode ? r.mode : 0644;
}

static void add_bytes(struct hdfs_node *n, const char *data, size_t len)
{
	uint8_t *all = sim_new(n->size + len + 1);

	if (n->size)
		memcpy(all, n->data, n->size);
	memcpy(all + n->size, data, len);
	n->data = all;
	n->size += len;
}

static void end_upload(struct handle *h, bool whole)
{
	h->ended = true;
	h->status = whole ? 201 : 0;
	h->node->damaged = !whole;
	if (whole || sim_below(2))
		h->node->open = false; /* otherwise the process keeps the lease */
	sim_note("upload ends", whole, h->node->size);
	sim_did(DID_CALL);
	if (whole && sim_fault(W->odds.http_done_lost))
		h->status = 0;
	if (!h->status && h->why)
		snprintf(h->why, CURL_ERROR_SIZE, "connection reset");
	if (h->status == 201 && sim_fault(W->odds.http_cut) && h->node->size) {
		uint8_t *copy = sim_new(h->node->size);

		sim_note("a byte is garbled", 0, 0);
		memcpy(copy, h->node->data, h->node->size);
		copy[sim_below(h->node->size)] ^= 1;
		h->node->data = copy;
		h->node->damaged = true;
	}
}

static void go_on(struct handle *h)
{
	char piece[PIECE];

	if (!h->begun) {
		begin_upload(h);
		if (h->ended)
			return;
	}
	if (h->paused)
		return;
	for (int i = 0; i < 16; i++) {
		size_t n = h->read(piece, 1, sizeof piece, h->read_from);

		if (n == CURL_READFUNC_PAUSE) {
			h->paused = true;
			return;
		}
		if (n > h->left) {
			add_bytes(h->node, piece, h->left);
			end_upload(h, false);
			return;
		}
		if (h->left != UINT64_MAX)
			h->left -= n;
		if (n == 0) {
			end_upload(h, true);
			return;
		}
		add_bytes(h->node, piece, n);
	}
}

struct multi {
	struct handle *h;
};

CURLM *curl_multi_init(void)
{
	return calloc(1, sizeof(struct multi));
}

CURLMcode curl_multi_cleanup(CURLM *m)
{
	free(m);
	return CURLM_OK;
}

CURLMcode curl_multi_add_handle(CURLM *m, CURL *c)
{
	((struct multi *)m)->h = c;
	return CURLM_OK;
}

CURLMcode curl_multi_remove_handle(CURLM *m, CURL *c)
{
	struct handle *h = c;

	/* a connection that ends early leaves a short file */
	if (h->begun && !h->ended && h->node) {
		h->ended = true;
		h->node->open = sim_below(2);
	}
	((struct multi *)m)->h = NULL;
	return CURLM_OK;
}

CURLMcode curl_multi_perform(CURLM *m, int *running)
{
	struct handle *h = ((struct multi *)m)->h;

	sim_step("curl_multi_perform");
	if (!h->ended)
		go_on(h);
	*running = !h->ended;
	return CURLM_OK;
}

CURLMsg *curl_multi_info_read(CURLM *m, int *left)
{
	struct handle *h = ((struct multi *)m)->h;

	*left = 0;
	if (!h || !h->ended || h->told)
		return NULL;
	h->told = true;
	h->message = (CURLMsg){.msg = CURLMSG_DONE,
			       .easy_handle = h,
			       .data.result = h->status ? CURLE_OK : CURLE_RECV_ERROR};
	return &h->message;
}

CURLMcode curl_multi_poll(CURLM *m, struct curl_waitfd more[], unsigned nmore, int ms, int *ret)
{
	(void)m, (void)more, (void)nmore, (void)ret;
	sim_sleep((int64_t)sim_below((uint64_t)ms) * SIM_MS);
	return CURLM_OK;
}

/* --- handles --- */

CURLcode curl_global_init(long flags)
{
	(void)flags;
	return CURLE_OK;
}

CURL *curl_easy_init(void)
{
	return calloc(1, sizeof(struct handle));
}

CURLcode curl_easy_send(CURL *c, const void *from, size_t n, size_t *done)
{
	(void)c, (void)from, (void)n, (void)done;
	return CURLE_SEND_ERROR;
}

CURLcode curl_easy_recv(CURL *c, void *to, size_t n, size_t *done)
{
	(void)c, (void)to, (void)n, (void)done;
	return CURLE_RECV_ERROR;
}

void curl_easy_cleanup(CURL *c)
{
	free(c);
}

void curl_easy_reset(CURL *c)
{
	*(struct handle *)c = (struct handle){0};
}

CURLcode curl_easy_pause(CURL *c, int what)
{
	(void)what;
	((struct handle *)c)->paused = false;
	return CURLE_OK;
}

const char *curl_easy_strerror(CURLcode code)
{
	(void)code;
	return "simulated failure";
}

char *curl_easy_escape(CURL *c, const char *text, int n)
{
	(void)c, (void)n;
	return strdup(text);
}

void curl_free(void *p)
{
	free(p);
}

struct curl_slist *curl_slist_append(struct curl_slist *l, const char *data)
{
	(void)data;
	return l ? l : calloc(1, sizeof *l);
}

void curl_slist_free_all(struct curl_slist *l)
{
	free(l);
}

#undef curl_easy_setopt
CURLcode curl_easy_setopt(CURL *c, CURLoption option, ...)
{
	struct handle *h = c;
	va_list value;
	va_start(value, option);
	switch ((int)option) {
	case CURLOPT_URL: snprintf(h->url, sizeof h->url, "%s", va_arg(value, char *)); break;
	case CURLOPT_UPLOAD: h->upload = va_arg(value, long); break;
	case CURLOPT_WRITEFUNCTION:
		h->write = va_arg(value, size_t(*)(char *, size_t, size_t, void *));
		break;
	case CURLOPT_READFUNCTION:
		h->read = va_arg(value, size_t(*)(char *, size_t, size_t, void *));
		break;
	case CURLOPT_WRITEDATA: h->write_to = va_arg(value, void *); break;
	case CURLOPT_READDATA: h->read_from = va_arg(value, void *); break;
	case CURLOPT_ERRORBUFFER: h->why = va_arg(value, char *); break;
	default: break;
	}
	va_end(value);
	return CURLE_OK;
}

#undef curl_easy_getinfo
CURLcode curl_easy_getinfo(CURL *c, CURLINFO info, ...)
{
	struct handle *h = c;
	va_list to;
	va_start(to, info);
	if (info == CURLINFO_RESPONSE_CODE)
		*va_arg(to, long *) = h->status;
	else if (info == CURLINFO_REDIRECT_URL)
		*va_arg(to, char **) = NULL;
	va_end(to);
	return CURLE_OK;
}

/* No other server has a name here, so the world has no sockets. */
int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
		       struct addrinfo **out)
{
	(void)host, (void)port, (void)hints, (void)out;
	sim_step("getaddrinfo");
	return EAI_NONAME;
}
