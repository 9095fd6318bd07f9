import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * What Kafka's own client sees of a topic when it asks for committed records, up to their end: lines
 * PARTITION KEY VALUE.
 *
 *   java -cp 'JARS/*' ReadCommitted.java BROKERS TOPIC
 */
public class ReadCommitted {
  public static void main(String[] words) {
    Properties options = new Properties();
    options.put("bootstrap.servers", words[0]);
    options.put("isolation.level", "read_committed");
    options.put("enable.auto.commit", "false");
    StringBuilder lines = new StringBuilder();
    try (KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(options, new StringDeserializer(), new StringDeserializer())) {
      List<TopicPartition> partitions = consumer.partitionsFor(words[1]).stream()
          .map(each -> new TopicPartition(each.topic(), each.partition()))
          .collect(Collectors.toList());
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
        for (ConsumerRecord<String, String> each : consumer.poll(Duration.ofMillis(500))) {
          lines.append(each.partition()).append(' ').append(each.key()).append(' ')
              .append(each.value()).append('\n');
        }
      }
    }
    System.out.print(lines);
  }
}
