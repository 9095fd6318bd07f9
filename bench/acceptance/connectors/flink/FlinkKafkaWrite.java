import java.util.Arrays;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * What throughput_job.cpp writes, by Flink: records of 100 bytes, a checkpoint each second, one
 * subtask, objects reused. Prints the seconds from the job's begin to its end.
 *
 *   java -cp 'JARS/*' FlinkKafkaWrite.java BROKERS TOPIC RECORDS EXACTLY_ONCE|AT_LEAST_ONCE
 */
public class FlinkKafkaWrite {
  private static byte[] key(long number) {
    byte[] digits = new byte[10];
    for (int at = digits.length - 1; at >= 0; --at, number /= 10) {
      digits[at] = (byte) ('0' + number % 10);
    }
    return digits;
  }

  public static void main(String[] words) throws Exception {
    String topic = words[1];
    long records = Long.parseLong(words[2]);
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(new Configuration());
    env.setParallelism(1);
    env.getConfig().enableObjectReuse();
    env.enableCheckpointing(1000);
    byte[] value = new byte[90];
    Arrays.fill(value, (byte) 'x');
    KafkaRecordSerializationSchema<Long> schema = (number, context, time) ->
        new ProducerRecord<>(topic,
            key(number), value);
    KafkaSink<Long> sink = KafkaSink.<Long>builder()
        .setBootstrapServers(words[0])
        .setRecordSerializer(schema)
        .setDeliveryGuarantee(DeliveryGuarantee.valueOf(words[3]))
        .setTransactionalIdPrefix(topic + "-flink")
        .setProperty("transaction.timeout.ms", "900000")
        .setProperty("linger.ms", "5")
        .build();
    env.fromSequence(0, records - 1).sinkTo(sink);
    long begin = System.nanoTime();
    env.execute("write");
    System.out.printf("%.3f%n", (System.nanoTime() - begin) / 1e9);
  }
}
