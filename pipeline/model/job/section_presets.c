/* section_presets.c - sets of keys of a source for known programs */
#include "sections.h"

static const struct job_preset presets[] = {
	{"mysql", "csv",
	 "SELECT ... INTO OUTFILE, mysqldump --tab and mysql --batch of MySQL and MariaDB",
	 "delimiter: '\\t'\n"
	 "quotes: none\n"
	 "escapes: mysql\n"
	 "empty: value\n"},
	{"postgres_copy", "csv", "COPY ... TO in text format of PostgreSQL and Greenplum",
	 "delimiter: '\\t'\n"
	 "quotes: none\n"
	 "escapes: postgres\n"
	 "empty: value\n"
	 "skip_matching: '^\\\\\\.$'   # the end of the data in a dump\n"},
	{"hive", "csv", "text files of Hive tables without ROW FORMAT",
	 "delimiter: '\\x01'\n"
	 "quotes: none\n"
	 "empty: value\n"
	 "'null': ['\\N']\n"},
	{"sap_alv", "csv", "lists of SAP that were saved as unconverted text, with bars and rulers",
	 "delimiter: '|'\n"
	 "quotes: none\n"
	 "trim: true\n"
	 "decimal: ','\n"
	 "thousands: '.'\n"
	 "minus: trailing\n"
	 "skip_matching: '^[-|]*-{3}[-|]*$'   # rulers\n"},
	{"sqlplus", "csv", "SQL*Plus with SET COLSEP '|' PAGESIZE 50000",
	 "delimiter: '|'\n"
	 "quotes: none\n"
	 "trim: true\n"
	 "skip_matching: '^[-| ]*-{3}[-| ]*$|^\\d+ rows selected\\.$'\n"},
	{"psql", "csv", "aligned output of psql",
	 "delimiter: '|'\n"
	 "quotes: none\n"
	 "trim: true\n"
	 "skip_matching: '^[-+]*-{3}[-+]*$|^\\(\\d+ rows?\\)$'\n"},
	{"iis", "csv",
	 "logs of IIS and other W3C logs; add `columns` with the names after #Fields:",
	 "delimiter: ' '\n"
	 "quotes: none\n"
	 "comment: '#'\n"
	 "'null': ['-']\n"},
	{"vpc_flow", "csv", "VPC flow logs of AWS, which begin with a header",
	 "delimiter: ' '\n"
	 "quotes: none\n"
	 "'null': ['-']\n"},
	{"alb", "csv", "access logs of Application Load Balancers of AWS",
	 "delimiter: ' '\n"
	 "'null': ['-']\n"
	 "missing: 'null'   # older logs have fewer values\n"
	 "extra: ignore   # newer logs have more\n"
	 "columns: [type, time, elb, client, target, request_processing_time, target_processing_time,\n          response_processing_time, elb_status_code, target_status_code, received_bytes, sent_bytes,\n          request, user_agent, ssl_cipher, ssl_protocol, target_group_arn, trace_id, domain_name,\n          chosen_cert_arn, matched_rule_priority, request_creation_time, actions_executed,\n          redirect_url, error_reason, target_list, target_status_code_list, classification,\n          classification_reason, conn_trace_id]\n"},
	{"nlb", "csv", "TLS access logs of Network Load Balancers of AWS",
	 "delimiter: ' '\n"
	 "'null': ['-']\n"
	 "missing: 'null'\n"
	 "extra: ignore   # newer logs may have more values\n"
	 "columns: [type, version, time, elb, listener, client, destination, connection_time,\n          tls_handshake_time, received_bytes, sent_bytes, incoming_tls_alert, chosen_cert_arn,\n          chosen_cert_serial, tls_cipher, tls_protocol_version, tls_named_group, domain_name,\n          alpn_fe_protocol, alpn_be_protocol, alpn_client_preference_list,\n          tls_connection_creation_time]\n"},
	{"elb", "csv", "access logs of Classic Load Balancers of AWS",
	 "delimiter: ' '\n"
	 "'null': ['-']\n"
	 "missing: 'null'   # older logs have fewer values\n"
	 "columns: [time, elb, client, backend, request_processing_time, backend_processing_time,\n          response_processing_time, elb_status_code, backend_status_code, received_bytes, sent_bytes,\n          request, user_agent, ssl_cipher, ssl_protocol]\n"},
	{"s3_access", "csv",
	 "server access logs of S3; the time is [DAY:TIME, and the offset is the next value",
	 "delimiter: ' '\n"
	 "'null': ['-']\n"
	 "missing: 'null'   # older logs have fewer values\n"
	 "extra: ignore   # newer logs may have more\n"
	 "columns: [bucket_owner, bucket, time, time_offset, remote_ip, requester, request_id, operation, key,\n          request_uri, http_status, error_code, bytes_sent, object_size, total_time, turn_around_time,\n          referer, user_agent, version_id, host_id, signature_version, cipher_suite,\n          authentication_type, host_header, tls_version, access_point_arn, acl_required]\n"},
	{"cloudtrail", "json", "CloudTrail of AWS", "records: Records[]\n"},
	{"debezium", "json",
	 "change events of Debezium, with or without the schema; a row is in after, or in before if it was deleted",
	 "unwrap: payload\n"},
	{"mongo", "json", "mongoexport, with or without --jsonArray",
	 "layout: documents\n"
	 "extended: true\n"},
	{"elasticsearch_bulk", "json", "bulk requests of Elasticsearch and OpenSearch",
	 "layout: bulk\n"},
	{"nginx_json", "json", "access logs of nginx with a log_format in JSON",
	 "hex_escapes: true\n"
	 "'null': ['', '-']\n"},
};
#define PRESETS (sizeof presets / sizeof *presets)

size_t job_presets(const struct job_preset **list)
{
	*list = presets;
	return PRESETS;
}

int read_preset(struct reader *r, const struct node *n, const char *of, const struct schema *schema)
{
	const struct node *name = node_get(n, "preset");
	const char *known[PRESETS];
	struct node *keys;
	size_t i = 0;

	if (!name || name->kind != NODE_SCALAR)
		return RC_OK;
	while (i < PRESETS && strcmp(presets[i].name, name->text) != 0)
		i++;
	for (size_t k = 0; k < PRESETS; k++)
		known[k] = presets[k].name;
	if (i == PRESETS)
		return unknown_name(r, name->pos, "preset", name->text, known, PRESETS);
	if (strcmp(presets[i].of, of) != 0)
		return fault(r, name->pos,
			     "preset: found `%s` in `%s`, expected it in `%s: {preset: %s}`",
			     name->text, of, presets[i].of, name->text);
	int rc = tree_read(&keys, bytes_str(presets[i].keys), name->text, &r->job->arena, r->err);
	return rc ? rc : read_mapping(r, keys, schema, &r->job->csv);
}

int read_preset_name(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *name;

	(void)slot;
	return read_text(r, n, key, &name);
}
