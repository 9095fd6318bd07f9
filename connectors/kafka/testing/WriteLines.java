import java.io.BufferedReader;
import java.io.FileReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Makes a topic with so many partitions (0: it is there), and writes the lines of its input to it,
 * by Kafka's own client. OPTIONS is a file of its options, `bootstrap.servers` among them.
 *
 *   java -cp 'JARS/*' WriteLines.java OPTIONS TOPIC PARTITIONS
 */
public class WriteLines {
  public static void main(String[] words) throws Exception {
    Properties options = new Properties();
    try (FileReader file = new FileReader(words[0])) {
      options.load(file);
    }
    int partitions = Integer.parseInt(words[2]);
    if (partitions > 0) {
      try (Admin admin = Admin.create(options)) {
        NewTopic topic = new NewTopic(words[1], partitions, (short) -1);
        admin.createTopics(List.of(topic)).all().get();
      }
    }
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(options, new StringSerializer(), new StringSerializer())) {
      for (String line; (line = lines.readLine()) != null;) {
        producer.send(new ProducerRecord<>(words[1], line));
      }
    }
  }
}
