"""Maps each promise about files and topics of other programs to a test, and checks that the test exists.

The data sets are test_exports.SETS and sniff_sets.SETS, with one test for each set. `make sniffers` compares `init`
with DuckDB.
"""

import pathlib
import re

import sniff_sets
import test_exports

TESTS = pathlib.Path(__file__).resolve().parent.parent

POINTS = {
    # delimited text: the names in [] are data sets of test_exports
    "skip, skip_footer": ["cli/test_exports[skipped lines]", "cli/test_exports[calls]"],
    "header: find": ["cli/test_exports[erp]", "cli/test_exports[found, other names]"],
    "header: replace": ["cli/test_exports[other names]"],
    "comment": ["cli/test_exports[iot]", "cli/test_exports::test_a_comment_longer_than_a_row_may_be"],
    "trim, blank-padded columns": ["cli/test_exports[calls]", "cli/test_exports[trim all]"],
    "thousands, decimal comma": ["cli/test_exports[erp]", "cli/test_exports[Swiss numbers]", "cli/test_exports[French numbers]"],
    "type decimal with a scale": ["cli/test_exports::test_decimals_are_not_rounded", "cli/test_exports::test_signs_are_not_guessed"],
    "several nulls, empty stays a value": ["cli/test_exports[many nulls]", "cli/test_exports[empty values]"],
    "default of a field": ["cli/test_exports[defaults]"],
    "ragged rows": ["cli/test_exports[extra values]", "cli/test_exports[a delimiter too many]",
                    "cli/test_exports::test_ragged_rows_are_rejects_by_default"],
    "encodings": ["cli/test_exports[utf-16 with a mark]", "cli/test_exports[utf-16be]", "cli/test_exports[latin1]",
                  "cli/test_exports::test_bytes_the_encoding_lacks"],
    "old Mac line ends": ["cli/test_exports[old mac]"],
    "patterns and folders, in one order": ["cli/test_exports::test_files_by_pattern", "cli/test_exports::test_files_that_are_not_there"],
    "an unclosed quote is one reject": ["cli/test_exports::test_unclosed_quote_is_one_reject"],
    "equal header names": ["cli/test_exports[same names]"],
    "syslog, apache log": ["cli/test_exports[syslog]", "cli/test_exports[apache log]"],
    # other formats than CSV
    "JSON lines": ["cli/test_exports::test_json_lines_make_the_hfiles_of_csv", "cli/test_exports::test_json_faults"],
    "Avro files": ["cli/test_avro::test_values", "cli/test_avro::test_faults", "cli/test_avro::test_a_bomb"],
    "Arrow streams and files": ["cli/test_arrow::test_values", "cli/test_arrow::test_faults", "cli/test_arrow::test_a_bomb"],
    "Parquet and others through Arrow": ["cli/test_arrow::test_the_way_out_of_parquet"],
    "the same HFiles from each form": ["cli/test_forms::test_every_form_makes_the_same_hfiles_and_rejects",
                                       "cli/test_avro::test_the_same_events_make_the_same_hfiles",
                                       "cli/test_arrow::test_the_same_events_make_the_same_hfiles"],
    "rejects of each form say where": ["cli/test_avro::test_rejects_say_where", "cli/test_arrow::test_rejects_say_where"],
    "bz2, xz, zip of one member": ["cli/test_exports::test_packed", "cli/test_exports::test_packed_and_damaged"],
    "other formats by their magic bytes": ["cli/test_exports::test_other_formats_are_named"],
    # Kafka
    "wire format, Avro by a registry": ["kafka/test_registry::test_avro_by_each_messages_own_schema",
                                        "kafka/test_registry::test_what_is_no_message_of_a_schema"],
    "schemas that refer to others": ["kafka/test_registry::test_schemas_that_refer_to_others"],
    "JSON by a registry": ["kafka/test_registry::test_json_by_a_schema"],
    "a registry that is down, refuses, lies": ["kafka/test_registry::test_a_registry_that_does_not_tell"],
    "Protobuf is refused with the reason": ["kafka/test_registry::test_what_is_no_message_of_a_schema", "kafka/test_registry::test_jobs"],
    "the same cells through Kafka": ["kafka/test_registry::test_the_same_cells_as_from_csv"],
    "several topics, a pattern, $topic": ["kafka/test_topics::test_several", "kafka/test_topics::test_order",
                                          "kafka/test_topics::test_pattern_of_a_stream"],
    "partitions of several topics": ["kafka/test_topics::test_partitions_of_each_topic"],
    "a topic that is gone, or kept from us": ["kafka/test_topics::test_deleted_while_it_is_read",
                                              "kafka/test_security::test_a_topic_that_may_not_be_seen"],
    "tombstones as deletes": ["kafka/test_formats::test_tombstones", "cli/test_deletes::test_messages_without_a_value_delete_their_row"],
    "dead letters": ["kafka/test_dead_letters::test_letters", "kafka/test_dead_letters::test_killed"],
    # transforms and conditions
    "joins, constants, case, substring, capture, map": ["cli/test_transforms::test_texts_by_python"],
    "iso8601, weekdays, zones": ["cli/test_transforms::test_iso8601", "cli/test_transforms::test_formats_by_strftime",
                                 "cli/test_transforms::test_weekdays_and_zone_names_are_not_read_over"],
    "a year from the file's date": ["cli/test_transforms::test_year_of_the_files_name", "cli/test_file_year::test_several_files"],
    "a unit is not guessed": ["cli/test_transforms::test_a_finer_unit_is_not_guessed_but_named"],
    "where, when, skip_matching": ["cli/test_conditions.py"],
    # guards and checks
    "--min-rows, --max-filtered, files without rows": ["cli/test_exports::test_guards", "cli/test_exports::test_file_without_rows_is_told"],
    "columns and types that changed": ["cli/test_columns::test_names_and_order", "cli/test_columns::test_types_of_a_schema"],
    "check of files": ["cli/test_check.py"],
    "check of topics": ["kafka/test_topics::test_check_looks_at_topics"],
    "init": ["cli/test_init::test_its_job_loads", "cli/test_init::test_the_key_comes_from_distinct_counts",
             "cli/test_init_schemas::test_its_job_has_the_schemas_types_and_loads"],
}


def is_there(name):
    if name.endswith(".py"):
        return (TESTS / name).exists()
    if "[" in name:
        file, data = name[:-1].split("[", 1)
        return file == "cli/test_exports" and data in test_exports.SETS
    file, test = name.split("::")
    return re.search(rf"^def {test}\(", (TESTS / f"{file}.py").read_text(), re.M) is not None


def test_each_promise_has_its_test():
    assert [name for tests in POINTS.values() for name in tests if not is_there(name)] == []


def test_each_data_set_is_of_a_promise():
    named = {name[:-1].split("[", 1)[1] for tests in POINTS.values() for name in tests if "[" in name}
    assert len(test_exports.SETS) >= 20 and len(sniff_sets.SETS) >= 20
    assert set(test_exports.SETS) == named
