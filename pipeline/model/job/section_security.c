/* section_security.c - how a job logs in to secured clusters; the options of a command override it */
#include "io.h"
#include "sections.h"

static const struct choice protections[] = {{"authentication", PROTECT_AUTHENTICATION},
					    {"integrity", PROTECT_INTEGRITY},
					    {"privacy", PROTECT_PRIVACY}};

/* Slot: const char *, a path relative to the job file. "FILE:/path" does not change. */
static int read_secret_file(struct reader *r, const struct node *n, const struct key *key,
			    void *slot)
{
	const char **path = slot;
	int rc = read_text(r, n, key, slot);

	if (rc == RC_OK && !strchr(*path, ':'))
		*path = job_path(r->job, *path);
	return rc;
}

static const struct key keys[] = {
	{.name = "principal",
	 WORDS(TEXT, NULL, "log in to HBase and HDFS with Kerberos as this principal",
	       "principal: etl@EXAMPLE.COM"),
	 .read = read_text,
	 .offset = offsetof(struct login, principal)},
	{.name = "keytab",
	 WORDS(TEXT, NULL,
	       "get tickets with this keytab, a path relative to the job file; without it, "
	       "saltmill uses the tickets of `kinit`",
	       "keytab: /etc/etl.keytab"),
	 .read = read_secret_file,
	 .offset = offsetof(struct login, keytab)},
	{.name = "server_principal",
	 WORDS(TEXT, "hbase/_HOST@REALM", "the servers' hbase.regionserver.kerberos.principal",
	       "server_principal: hbase/_HOST@EXAMPLE.COM"),
	 .read = read_text,
	 .offset = offsetof(struct login, server)},
	{.name = "protection",
	 WORDS(CHOICE, NULL,
	       "protect HBase's messages in this way, and refuse a server that does not offer it; "
	       "without it, saltmill uses the strongest that the server offers",
	       "protection: privacy"),
	 .read = read_choice,
	 CHOICES(protections),
	 .offset = offsetof(struct login, protection)},
	{.name = "ca",
	 WORDS(TEXT, NULL,
	       "use TLS for HBase and https, and trust the certificates of this PEM file only",
	       "ca: /etc/pki/hbase-ca.pem"),
	 .read = read_secret_file,
	 .offset = offsetof(struct login, ca_file)},
	{.name = "cert",
	 WORDS(TEXT, NULL, "the client certificate that HBase demands by default, as PEM",
	       "cert: /etc/pki/etl.pem"),
	 .read = read_secret_file,
	 .offset = offsetof(struct login, cert_file)},
	{.name = "key",
	 WORDS(TEXT, NULL, "the key of the certificate, as PEM, unless the file of `cert` has it",
	       "key: /etc/pki/etl.key"),
	 .read = read_secret_file,
	 .offset = offsetof(struct login, key_file)},
};
const struct schema security_schema = SCHEMA("security", keys);

int read_security(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const struct login *l = &r->job->login;
	int rc = read_mapping(r, n, &security_schema, &r->job->login);

	(void)key, (void)slot;
	if (rc)
		return rc;
	if (l->keytab && !l->principal)
		return fault(r, n->pos, "security: found keytab without principal, expected both");
	if (l->cert_file && !l->ca_file)
		return fault(r, n->pos, "security: found cert without ca, expected both");
	if (l->key_file && !l->cert_file)
		return fault(r, n->pos, "security: found key without cert, expected both");
	return RC_OK;
}
