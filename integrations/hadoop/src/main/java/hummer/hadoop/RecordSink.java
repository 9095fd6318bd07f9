package hummer.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.serializer.Deserializer;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;

/**
 * Where records of a native mapper or reducer become Java objects: those that go through the job's
 * partitioner or collector in Java, or to its OutputFormat. They come by some thousands, in the form
 * of RecordBuffer.
 *
 * <p>Thread: one at a time.
 */
final class RecordSink implements OutputSink {
  private final TaskInputOutputContext<?, ?, Object, Object> context;
  private final Deserializer<Object> keyDeserializer;
  private final Deserializer<Object> valueDeserializer;
  private final BatchRecords records = new BatchRecords();
  private Object key;
  private Object value;

  RecordSink(TaskInputOutputContext<?, ?, Object, Object> context, Class<?> keyClass,
      Class<?> valueClass) throws IOException {
    this.context = context;
    keyDeserializer = opened(context.getConfiguration(), keyClass, records.key);
    valueDeserializer = opened(context.getConfiguration(), valueClass, records.value);
  }

  @SuppressWarnings("unchecked")
  private static Deserializer<Object> opened(Configuration job, Class<?> type,
      DataInputBuffer from) throws IOException {
    Deserializer<?> deserializer = new SerializationFactory(job).getDeserializer(type);
    if (deserializer == null) {
      throw new IOException("No serialization takes the class " + type.getName() + ".");
    }
    deserializer.open(from);
    return (Deserializer<Object>) deserializer;
  }

  @Override
  public void take(ByteBuffer batch) throws IOException, InterruptedException {
    records.set(batch);
    while (records.next()) {
      key = keyDeserializer.deserialize(key);
      value = valueDeserializer.deserialize(value);
      context.write(key, value);
    }
  }
}
