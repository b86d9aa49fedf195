/* options_login.c - options about logins to secured clusters */
#include "options.h"

#define SECURED                                                                                    \
	"load reduce unite replay plan drift stream apply get scan tables regions describe drop watch tokens verify diff agree merge convert rekey design"

/* --key of init has another meaning, so the file of its --cert contains the key, too */
#define WITH_TICKETS SECURED " init"

/* clang-format off */
const struct cli_option options_login[] = {
	{"principal", 0, "NAME@REALM", WITH_TICKETS, take_text, AT(login.principal),
	 .help = "log in to HBase and HDFS with Kerberos as this principal (default: the ticket "
	 "cache's, if the cluster requires Kerberos)"},
	{"keytab", 0, "FILE", WITH_TICKETS, take_text, AT(login.keytab),
	 .help = "get tickets with this keytab (default: use the tickets of `kinit`)"},
	{"server-principal", 0, "PRINCIPAL", WITH_TICKETS, take_text, AT(login.server),
	 .help = "the servers' hbase.regionserver.kerberos.principal (default: hbase/_HOST@REALM)"},
	{"protection", 0, NULL, WITH_TICKETS, take_choice, AT(login.protection),
	 CHOICES({"authentication", PROTECT_AUTHENTICATION}, {"integrity", PROTECT_INTEGRITY},
		 {"privacy", PROTECT_PRIVACY}),
	 .help = "protect HBase's messages in this way, and refuse a server that does not offer "
	 "it (default: the strongest that the server offers)"},
	{"ca", 0, "FILE", WITH_TICKETS, take_text, AT(login.ca_file),
	 .help = "use TLS for HBase and https, and trust the certificates of this PEM file only"},
	{"cert", 0, "FILE", WITH_TICKETS, take_text, AT(login.cert_file),
	 .help = "the client certificate that HBase demands by default, as PEM", .with = "ca"},
	{"key", 0, "FILE", SECURED, take_text, AT(login.key_file),
	 .help = "the key of --cert, as PEM (default: in the file of --cert)", .with = "cert"},
	{"renew", 0, NULL, "tokens", take_flag, AT(renew),
	 .help = "renew the tokens of HDFS in FILE, as their renewer; print until when they are valid",
	 .without = "hbase cancel"},
	{"cancel", 0, NULL, "tokens", take_flag, AT(cancel),
	 .help = "cancel the tokens of HDFS in FILE", .without = "hbase"},
	{0}
};
/* clang-format on */
