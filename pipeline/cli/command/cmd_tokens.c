/* cmd_tokens.c - `saltmill tokens FILE`, which gets tokens for processes without a Kerberos ticket */
#include <sys/stat.h>
#include <time.h>

#include "arguments.h"
#include "hbase.h"
#include "io.h"
#include "live_tables.h"
#include "storage.h"

#define PRIVATE	  077 /* only the owner may read the file */
#define FILE_MOST ((size_t)1 << 20)

static void keep(struct hadoop_tokens *t, struct hadoop_token one)
{
	t->item = arena_grow(&t->arena, t->item, t->count, sizeof *t->item);
	t->item[t->count++] = one;
}

static int of_hbase(const struct arguments *a, struct hadoop_tokens *t, struct error *err)
{
	struct hbase *h;
	struct hbase_failure why;
	struct hadoop_token one;
	int rc = live_tables_open(&h, a, err);

	if (rc)
		return rc;
	if (!hbase_is_secured(h))
		rc = error_set(err, RC_CONFIG,
			       "--hbase %s: found a cluster without Kerberos, expected one that "
			       "needs tokens",
			       a->hbase);
	if (rc == RC_OK)
		rc = hbase_token(h, &t->arena, &one, &why, err);
	if (rc == RC_OK)
		keep(t, one);
	hbase_close(h);
	return rc;
}

static int of_hdfs(const struct arguments *a, const char *uri, struct hadoop_tokens *t,
		   struct error *err)
{
	struct storage_options o = a->place;
	struct storage_token got = {0};
	struct storage *s;

	o.keep_token = true;
	int rc = storage_open(&s, uri, &o, err);
	if (rc == RC_OK)
		rc = storage_token(s, uri, &got, err);
	if (rc == RC_OK)
		keep(t, (struct hadoop_token){.identifier = arena_bytes(&t->arena, got.identifier),
					      .password = arena_bytes(&t->arena, got.password),
					      .kind = arena_strdup(&t->arena, got.kind),
					      .service = arena_strdup(&t->arena, got.service)});
	buf_release(&got.raw);
	storage_close(s);
	return rc;
}

static int save(const char *path, const struct hadoop_tokens *t, struct error *err)
{
	struct buf file = {0};
	mode_t before = umask(PRIVATE);

	tokens_write(&file, t);
	int rc = io_replace_file(path, buf_bytes(&file), NULL, err);
	umask(before);
	buf_release(&file);
	return rc;
}

/* Prints the kind, service and user of each token, and no secret. */
static int show(const struct hadoop_tokens *t)
{
	struct buf out = {0};

	for (size_t i = 0; i < t->count; i++) {
		char user[LOGIN_USER] = "?";

		token_user(&t->item[i], user, sizeof user);
		buf_printf(&out, "%-21s  %s  %s\n", t->item[i].kind, t->item[i].service, user);
	}
	int status = command_show("tokens", &out);
	buf_release(&out);
	return status;
}

static int get_tokens(const struct arguments *a, struct hadoop_tokens *t, struct error *err)
{
	int rc = a->hbase ? of_hbase(a, t, err) : RC_OK;

	for (size_t i = 1; rc == RC_OK && i < a->noperands; i++)
		rc = of_hdfs(a, a->operand[i], t, err);
	return rc;
}

/* Renews or cancels the token of FILE for one URI, and adds a line about it. */
static int renew_one(const struct arguments *a, const char *uri, const struct hadoop_tokens *t,
		     struct buf *out, struct error *err)
{
	const struct hadoop_token *which;
	char user[LOGIN_USER] = "?", text[40] = "cancelled";
	struct storage *s;
	int64_t until_ms = 0;
	int rc = storage_open(&s, uri, &a->place, err);

	if (rc == RC_OK)
		rc = storage_token_renew(s, t, a->cancel, &which, &until_ms, err);
	storage_close(s);
	if (rc)
		return rc;
	time_t at = (time_t)(until_ms / 1000);
	struct tm utc;
	token_user(which, user, sizeof user);
	if (!a->cancel)
		strftime(text, sizeof text, "valid until %Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &utc));
	buf_printf(out, "%-21s  %s  %s  %s\n", which->kind, which->service, user, text);
	return RC_OK;
}

static int renew(const struct arguments *a)
{
	struct hadoop_tokens t = {.item = NULL};
	struct buf file = {0}, out = {0};
	struct error err;
	int rc = io_read_file_upto(a->operand[0], FILE_MOST, &file, &err);

	if (rc == RC_OK && tokens_read(&t, buf_bytes(&file), &err))
		rc = error_prefix(&err, "%s: ", a->operand[0]);
	for (size_t i = 1; rc == RC_OK && i < a->noperands; i++)
		rc = renew_one(a, a->operand[i], &t, &out, &err);
	int status = rc		    ? command_fail("tokens", &err)
		     : a->run.quiet ? EXIT_DONE
				    : command_show("tokens", &out);
	arena_release(&t.arena);
	buf_release(&out);
	buf_release(&file);
	return status;
}

static int run(struct arguments *a)
{
	struct hadoop_tokens t = {.item = NULL};
	struct error err;

	if ((a->renew || a->cancel) && a->noperands < 2)
		return arguments_refuse(a, "found no URI, expected that of a folder in HDFS");
	if (a->renew || a->cancel)
		return renew(a);
	if (!a->hbase && a->noperands < 2)
		return arguments_refuse(a, "found no cluster, expected --hbase HOST or the URI of "
					   "a folder in HDFS");
	int rc = get_tokens(a, &t, &err);
	if (rc == RC_OK)
		rc = save(a->operand[0], &t, &err);
	int status = rc ? command_fail("tokens", &err) : a->run.quiet ? EXIT_DONE : show(&t);
	arena_release(&t.arena);
	return status;
}

const struct command tokens_command = {
	.name = "tokens",
	.usage = "FILE [URI...] [--hbase HOST[:PORT],...] [--renew|--cancel]",
	.summary =
		"log in once, and write a file of tokens for processes without a Kerberos ticket",
	.least = 1,
	.most = ANY_NUMBER,
	.run = run,
	.decides =
		"FILE is a credentials file of Hadoop with mode 600. A process uses it if "
		"HADOOP_TOKEN_FILE_LOCATION contains its path. HBase's tokens are valid for "
		"seven days, those of HDFS for one day. --renew and --cancel act on the tokens of "
		"HDFS in FILE, and need a ticket. tokens prints kind, service and user of each "
		"token, and no secret.",
	.operands =
		{{"FILE",
		  "the file to write; an existing file is replaced, unless --renew or --cancel reads it"},
		 {"URI", "a folder in HDFS, as webhdfs://HOST[:PORT]/PATH"}},
	.statuses =
		"0 written; 1 failed; " STATUS_USAGE "; 130 or 143 stopped by SIGINT or SIGTERM",
	.examples = {"saltmill tokens job.tokens webhdfs://nn1/data/night --hbase hbase1",
		     "saltmill tokens job.tokens webhdfs://nn1/data --renew"}};
