/*
 * test_storage_hadoop_conf.c - tests the settings of Hadoop: files, variables, and the NameNodes of a
 * name service
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pipeline/storage/hadoop_conf.h"
#include "temp_dir.h"

#define CORE                                                                                       \
	"<?xml version=\"1.0\"?>\n<?xml-stylesheet type=\"text/xsl\" href=\"c.xsl\"?>\n"           \
	"<configuration>\n"                                                                        \
	"<!-- <property><name>fs.defaultFS</name><value>hdfs://old</value></property> -->\n"       \
	"<property><name>fs.defaultFS</name><value>hdfs://${dfs.nameservices}</value></property>"  \
	"\n</configuration>\n"
/* the settings of "HDFS High Availability Using the Quorum Journal Manager", and more services */
#define HDFS                                                                                                                                                 \
	"<configuration><property>\n<name>dfs.nameservices</name>\n<value> mycluster, far,one,half"                                                          \
	" </value>\n</property>" SET("dfs.ha.namenodes.mycluster", "nn1,nn2, nn3") SET(                                                                      \
		"dfs.namenode.http-address.mycluster.nn1",                                                                                                   \
		"machine1.example.com:9870") SET("dfs.namenode.http-address.mycluster.nn2",                                                                  \
						 "0.0.0.0:9875") SET("dfs.namenode.rpc-address.mycluster.nn2",                                               \
								     "machine2.example.com:8020")                                                            \
		SET("dfs.namenode.rpc-address.mycluster.nn3", "machine3.example.com:8020") SET(                                                              \
			"dfs.namenode.https-address.mycluster.nn1",                                                                                          \
			"machine1.example.com:9999") SET("dfs.namenode.http-address.one",                                                                    \
							 "a&amp;b:9870") SET("dfs.ha.namenodes.half",                                                        \
									     "x,y")                                                                          \
			SET("dfs.namenode.rpc-address.half.x", "x:1") "<property><name>loop</name><value>${loop}</value><final>true</final></property>" SET( \
				"of.env",                                                                                                                    \
				"${env.SALTMILL_TEST}/x") SET("unknown",                                                                                     \
							      "a${nowhere}") SET("twice", "1")                                                               \
				SET("twice",                                                                                                                 \
				    "2") "<property><name>empty</name></property></configuration>"
#define SET(name, value) "<property><name>" name "</name><value>" value "</value></property>\n"

static struct error err;

static struct hadoop_conf read_text(const char *xml)
{
	struct hadoop_conf c = {0};

	assert_int_equal(hadoop_conf_add(&c, bytes_str(xml), &err), RC_OK);
	return c;
}

static void values(void **state)
{
	(void)state;
	struct hadoop_conf c = read_text(HDFS);

	setenv("SALTMILL_TEST", "here", 1);
	assert_string_equal(hadoop_conf_get(&c, "of.env"), "here/x");
	assert_string_equal(hadoop_conf_get(&c, "unknown"), "a${nowhere}");
	assert_string_equal(hadoop_conf_get(&c, "loop"), "${loop}");
	assert_string_equal(hadoop_conf_get(&c, "twice"), "2");
	assert_null(hadoop_conf_get(&c, "empty"));
	assert_null(hadoop_conf_get(&c, "dfs.http.policy"));
	assert_false(hadoop_https_only(&c));
	assert_int_equal(hadoop_conf_add(&c,
					 bytes_str("<configuration>" SET("dfs.http.policy",
									 "HTTPS_ONLY")),
					 &err),
			 RC_OK);
	assert_true(hadoop_https_only(&c));
	arena_release(&c.arena);
}

static void namenodes(void **state)
{
	(void)state;
	struct hadoop_conf c = read_text(HDFS);

	assert_string_equal(hadoop_namenodes(&c, "mycluster", false),
			    "machine1.example.com:9870,machine2.example.com:9875,"
			    "machine3.example.com:9870");
	assert_string_equal(hadoop_namenodes(&c, "mycluster", true),
			    "machine1.example.com:9999,machine2.example.com:9871,"
			    "machine3.example.com:9871");
	assert_string_equal(hadoop_namenodes(&c, "one", false), "a&b:9870");
	assert_null(hadoop_namenodes(&c, "far", false));
	assert_null(hadoop_namenodes(&c, "half", false));
	assert_null(hadoop_namenodes(&c, "myclust", false));
	assert_null(hadoop_namenodes(&c, "", false));
	arena_release(&c.arena);
}

static void write(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void files(void **state)
{
	(void)state;
	struct hadoop_conf c;

	setenv("HADOOP_CONF_DIR", dir, 1);
	assert_int_equal(hadoop_conf_read(&c, &err), RC_OK);
	assert_int_equal(c.count, 0);
	write("core-site.xml", CORE);
	write("hdfs-site.xml", "<configuration>" SET("dfs.nameservices", "ns"));
	assert_int_equal(hadoop_conf_read(&c, &err), RC_OK);
	assert_string_equal(hadoop_conf_get(&c, "fs.defaultFS"), "hdfs://ns");
	arena_release(&c.arena);
	write("hdfs-site.xml", "dfs.nameservices=ns");
	assert_int_equal(hadoop_conf_read(&c, &err), RC_CONFIG);
	assert_non_null(strstr(err.msg, "/hdfs-site.xml: found no <configuration>, expected"));
	arena_release(&c.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(namenodes),
					   cmocka_unit_test(files)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
