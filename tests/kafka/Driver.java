// Driver.java - what the tests ask of Kafka's own client: a command a line, words by tabs, on
// standard input; the answer "ok", words, or "error", the root cause, on standard output.
import java.io.*;
import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.serialization.*;

public class Driver {
	static String brokers;
	static Admin admin;

	static byte[] bytes(String hex) {
		if (hex.equals("-"))
			return null;
		return hex.equals("=") ? new byte[0] : HexFormat.of().parseHex(hex);
	}

	static String hex(byte[] b) {
		return b == null ? "-" : b.length == 0 ? "=" : HexFormat.of().formatHex(b);
	}

	static void create(String[] w) throws Exception {
		NewTopic t = new NewTopic(w[1], Integer.parseInt(w[2]), (short) 1);
		Map<String, String> config = new HashMap<>();
		for (int i = 3; i < w.length; i++)
			config.put(w[i].split("=")[0], w[i].split("=")[1]);
		admin.createTopics(List.of(t.configs(config))).all().get();
	}

	static void produce(String[] w) throws Exception {
		Properties p = new Properties();
		p.put("bootstrap.servers", brokers);
		p.put("compression.type", w[3]);
		p.put("linger.ms", "5");
		p.put("delivery.timeout.ms", "20000");
		p.put("request.timeout.ms", "10000");
		boolean transaction = !w[4].equals("-");
		// the messages' times are old, so the broker treats their producers as expired
		p.put("enable.idempotence", String.valueOf(transaction));
		p.put("max.in.flight.requests.per.connection", "1"); // a retried batch stays in its order
		if (transaction)
			p.put("transactional.id", w[4]);
		List<Future<RecordMetadata>> sent = new ArrayList<>();
		try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(p, new ByteArraySerializer(),
				new ByteArraySerializer())) {
			if (transaction) {
				producer.initTransactions();
				producer.beginTransaction();
			}
			for (String line : Files.readAllLines(Path.of(w[2]))) {
				String[] m = line.split("\t");
				sent.add(producer.send(new ProducerRecord<>(w[1], Integer.parseInt(m[0]),
						Long.parseLong(m[1]), bytes(m[2]), bytes(m[3]))));
			}
			producer.flush();
			for (Future<RecordMetadata> f : sent)
				f.get();
			if (transaction && w[5].equals("1"))
				producer.commitTransaction();
			else if (transaction && w[5].equals("0"))
				producer.abortTransaction();
			else if (transaction)
				producer.close(Duration.ZERO); // left open
		}
		if (transaction && !w[5].equals("2"))
			settle(w[1]);
	}

	static final Map<String, KafkaProducer<byte[], byte[]>> kept = new HashMap<>();

	// Works as produce, with a producer that stays for the next call, because a new producer costs
	// more than a batch. Aborts a transaction.
	static void feed(String[] w) throws Exception {
		boolean transaction = !w[4].equals("-");
		KafkaProducer<byte[], byte[]> producer = kept.get(w[3] + " " + w[4]);
		if (producer == null) {
			Properties p = new Properties();
			p.put("bootstrap.servers", brokers);
			p.put("compression.type", w[3]);
			p.put("linger.ms", "5");
			if (transaction)
				p.put("transactional.id", w[4]);
			producer = new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer());
			if (transaction)
				producer.initTransactions();
			kept.put(w[3] + " " + w[4], producer);
		}
		if (transaction)
			producer.beginTransaction();
		List<Future<RecordMetadata>> sent = new ArrayList<>();
		for (String line : Files.readAllLines(Path.of(w[2]))) {
			String[] m = line.split("\t");
			sent.add(producer.send(new ProducerRecord<>(w[1], Integer.parseInt(m[0]), Long.parseLong(m[1]),
					bytes(m[2]), bytes(m[3]))));
		}
		producer.flush();
		for (Future<RecordMetadata> f : sent)
			f.get();
		if (transaction)
			producer.abortTransaction();
	}

	// The coordinator answers the producer before it writes the markers after a transaction.
	static void settle(String topic) throws Exception {
		try (KafkaConsumer<byte[], byte[]> all = consumer("read_uncommitted");
				KafkaConsumer<byte[], byte[]> stable = consumer("read_committed")) {
			List<TopicPartition> l = partitions(all, topic);
			for (int i = 0; i < 200 && !all.endOffsets(l).equals(stable.endOffsets(l)); i++)
				Thread.sleep(20);
		}
	}

	static KafkaConsumer<byte[], byte[]> consumer() {
		return consumer("read_committed");
	}

	static KafkaConsumer<byte[], byte[]> consumer(String isolation) {
		Properties p = new Properties();
		p.put("bootstrap.servers", brokers);
		p.put("isolation.level", isolation);
		return new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer());
	}

	static List<TopicPartition> partitions(KafkaConsumer<byte[], byte[]> c, String topic) {
		List<TopicPartition> l = new ArrayList<>();
		c.partitionsFor(topic).forEach(i -> l.add(new TopicPartition(topic, i.partition())));
		l.sort(Comparator.comparingInt(TopicPartition::partition));
		return l;
	}

	static void records(String[] w) throws Exception {
		try (KafkaConsumer<byte[], byte[]> c = consumer(); PrintWriter out = new PrintWriter(w[2])) {
			List<TopicPartition> l = partitions(c, w[1]);
			c.assign(l);
			c.seekToBeginning(l);
			Map<TopicPartition, Long> end = c.endOffsets(l);
			while (l.stream().anyMatch(t -> c.position(t) < end.get(t)))
				for (ConsumerRecord<byte[], byte[]> r : c.poll(Duration.ofMillis(500)))
					out.printf("%d\t%d\t%d\t%s\t%s\n", r.partition(), r.offset(), r.timestamp(),
							hex(r.key()), hex(r.value()));
		}
	}

	static String ends(String topic) {
		StringBuilder s = new StringBuilder();
		try (KafkaConsumer<byte[], byte[]> c = consumer()) {
			List<TopicPartition> l = partitions(c, topic);
			Map<TopicPartition, Long> low = c.beginningOffsets(l), high = c.endOffsets(l);
			l.forEach(t -> s.append("\t").append(low.get(t)).append(":").append(high.get(t)));
		}
		return s.toString();
	}

	static AclBinding hidden(String topic, String user) {
		return new AclBinding(new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
				new AccessControlEntry("User:" + user, "*", AclOperation.DESCRIBE, AclPermissionType.DENY));
	}

	static String run(String[] w) throws Exception {
		switch (w[0]) {
		case "create": create(w); return "";
		case "produce": produce(w); return "";
		case "feed": feed(w); return "";
		case "settle": settle(w[1]); return "";
		case "records": records(w); return "";
		case "ends": return ends(w[1]);
		case "delete": admin.deleteTopics(List.of(w[1])).all().get(); return "";
		case "hide": // from a user
			admin.createAcls(List.of(hidden(w[1], w[2]))).all().get();
			return "";
		case "show":
			admin.deleteAcls(List.of(hidden(w[1], w[2]).toFilter())).all().get();
			return "";
		case "id":
			return "\t" + admin.describeTopics(List.of(w[1])).allTopicNames().get().get(w[1]).topicId();
		case "grow":
			admin.createPartitions(Map.of(w[1], NewPartitions.increaseTo(Integer.parseInt(w[2])))).all().get();
			return "";
		case "truncate":
			admin.deleteRecords(Map.of(new TopicPartition(w[1], Integer.parseInt(w[2])),
					RecordsToDelete.beforeOffset(Long.parseLong(w[3])))).all().get();
			return "";
		case "committed":
			StringBuilder s = new StringBuilder();
			admin.listConsumerGroupOffsets(w[1]).partitionsToOffsetAndMetadata().get().forEach(
					(t, o) -> {
						if (t.topic().equals(w[2]))
							s.append("\t").append(t.partition()).append(":").append(o.offset());
					});
			return s.toString();
		case "commit":
			admin.alterConsumerGroupOffsets(w[1], Map.of(new TopicPartition(w[2], Integer.parseInt(w[3])),
					new OffsetAndMetadata(Long.parseLong(w[4]), "by hand\n"))).all().get();
			return "";
		default: throw new IllegalArgumentException("no command " + w[0]);
		}
	}

	public static void main(String[] args) throws Exception {
		brokers = args[0];
		admin = Admin.create(Map.of("bootstrap.servers", brokers));
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		for (String line; (line = in.readLine()) != null;) {
			String answer;
			try {
				answer = "ok" + run(line.split("\t"));
			} catch (Throwable t) {
				while (t.getCause() != null)
					t = t.getCause();
				answer = "error\t" + String.valueOf(t).replaceAll("[\t\n]", " ");
			}
			System.out.println(answer);
			System.out.flush();
		}
	}
}
