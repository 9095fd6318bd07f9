package hummer.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
final class RecordSink {
  private final TaskInputOutputContext<?, ?, Object, Object> context;
  private final Deserializer<Object> keyDeserializer;
  private final Deserializer<Object> valueDeserializer;
  private final DataInputBuffer bytes = new DataInputBuffer();
  private byte[] array = new byte[0];
  private Object key;
  private Object value;

  RecordSink(TaskInputOutputContext<?, ?, Object, Object> context, Class<?> keyClass,
      Class<?> valueClass) throws IOException {
    this.context = context;
    keyDeserializer = opened(context.getConfiguration(), keyClass);
    valueDeserializer = opened(context.getConfiguration(), valueClass);
  }

  @SuppressWarnings("unchecked")
  private Deserializer<Object> opened(Configuration job, Class<?> type) throws IOException {
    Deserializer<?> deserializer = new SerializationFactory(job).getDeserializer(type);
    if (deserializer == null) {
      throw new IOException("No serialization takes the class " + type.getName() + ".");
    }
    deserializer.open(bytes);
    return (Deserializer<Object>) deserializer;
  }

  /** Called by the native side. */
  void take(ByteBuffer records) throws IOException, InterruptedException {
    int size = records.remaining();
    if (array.length < size) {
      array = new byte[size];
    }
    records.get(array, 0, size);
    ByteBuffer heads = ByteBuffer.wrap(array).order(ByteOrder.nativeOrder());
    for (int at = 0; at < size; ) {
      int keyBytes = RecordBuffer.keyBytes(heads, at);
      int valueBytes = RecordBuffer.valueBytes(heads, at);
      at += RecordBuffer.HEAD_BYTES;
      bytes.reset(array, at, keyBytes);
      key = keyDeserializer.deserialize(key);
      at += keyBytes;
      bytes.reset(array, at, valueBytes);
      value = valueDeserializer.deserialize(value);
      at += valueBytes;
      context.write(key, value);
    }
  }
}
