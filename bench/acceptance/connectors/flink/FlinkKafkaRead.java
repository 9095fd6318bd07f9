import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * What throughput_job.cpp reads, by Flink: all of a topic, of each record its length, one subtask,
 * objects reused. Prints the seconds from the job's begin to its end.
 *
 *   java -cp 'JARS/*:CLASSES' FlinkKafkaRead BROKERS TOPIC
 */
public class FlinkKafkaRead {
  static class Lengths implements KafkaRecordDeserializationSchema<Long> {
    @Override
    public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<Long> out) {
      out.collect((long) record.key().length + record.value().length);
    }

    @Override
    public TypeInformation<Long> getProducedType() {
      return Types.LONG;
    }
  }

  public static void main(String[] words) throws Exception {
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(new Configuration());
    env.setParallelism(1);
    env.getConfig().enableObjectReuse();
    KafkaSource<Long> source = KafkaSource.<Long>builder()
        .setBootstrapServers(words[0])
        .setTopics(words[1])
        .setStartingOffsets(OffsetsInitializer.earliest())
        .setBounded(OffsetsInitializer.latest())
        .setDeserializer(new Lengths())
        .build();
    env.fromSource(source, WatermarkStrategy.noWatermarks(), "read").sinkTo(new DiscardingSink<>());
    long begin = System.nanoTime();
    env.execute("read");
    System.out.printf("%.3f%n", (System.nanoTime() - begin) / 1e9);
  }
}
