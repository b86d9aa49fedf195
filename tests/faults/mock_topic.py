"""A topic on librdkafka's own mock cluster, in this process, for runs of the program that need a broker. The cluster
keeps all messages until the process ends. Offsets begin at 0.
"""

import ctypes

PRODUCER, CONF_OK, COPY = 0, 0, 2  # constants of rdkafka.h


def library():
    lib = ctypes.CDLL("librdkafka.so.1")
    pointers = {"rd_kafka_conf_new": [], "rd_kafka_new": [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t],
                "rd_kafka_handle_mock_cluster": [ctypes.c_void_p],
                "rd_kafka_topic_new": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]}
    for name, arguments in pointers.items():
        getattr(lib, name).restype, getattr(lib, name).argtypes = ctypes.c_void_p, arguments
    lib.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    lib.rd_kafka_mock_cluster_bootstraps.argtypes = [ctypes.c_void_p]
    lib.rd_kafka_conf_set.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    lib.rd_kafka_mock_topic_create.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
    lib.rd_kafka_produce.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t,
                                     ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
    lib.rd_kafka_flush.argtypes = [ctypes.c_void_p, ctypes.c_int]
    return lib


def topic_job(brokers, settings):
    """Returns a small job of events like {"id": 1, "v": "x"}. `settings` contains further settings of the kafka
    section, like "topic: a"."""
    return f"""\
source:
  kafka: {{brokers: "{brokers}", {settings}, format: json, start: earliest}}
fields: {{id: {{type: u32}}}}
tables:
  - name: t
    rowkey: [{{field: id, as: u32}}]
    timestamp: 5
    families: {{f: {{}}}}
    cells: [{{family: f, qualifier: v, value: v}}]
    regions: {{split: none}}
"""


class MockTopic:
    """`brokers` is the value of the job's `brokers:`. The topic exists until the process ends."""

    def __init__(self, name, partitions=1):
        why = ctypes.create_string_buffer(300)
        self.lib, self.name = library(), name
        conf = self.lib.rd_kafka_conf_new()
        for key, value in ((b"test.mock.num.brokers", b"1"), (b"linger.ms", b"1"), (b"log_level", b"0")):
            if self.lib.rd_kafka_conf_set(conf, key, value, why, len(why)) != CONF_OK:
                raise RuntimeError(why.value.decode())
        self.producer = self.lib.rd_kafka_new(PRODUCER, conf, why, len(why))
        if not self.producer:
            raise RuntimeError(why.value.decode())
        cluster = self.lib.rd_kafka_handle_mock_cluster(self.producer)
        self.lib.rd_kafka_mock_topic_create(cluster, name.encode(), partitions, 1)
        self.brokers = self.lib.rd_kafka_mock_cluster_bootstraps(cluster).decode()
        self.topic = self.lib.rd_kafka_topic_new(self.producer, name.encode(), None)

    def produce(self, partition, values):
        for v in values:
            if self.lib.rd_kafka_produce(self.topic, partition, COPY, v, len(v), None, 0, None):
                raise RuntimeError("a message was not taken")
        if self.lib.rd_kafka_flush(self.producer, 10_000):
            raise RuntimeError("messages were not delivered")
