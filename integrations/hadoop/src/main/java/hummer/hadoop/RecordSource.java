package hummer.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapreduce.ReduceContext;

/**
 * Records that Hadoop has merged, for a native reducer: they are Java objects already, and become
 * bytes again.
 *
 * <p>Thread: one at a time.
 */
final class RecordSource {
  private static final int ENOUGH_BYTES = 128 * 1024;

  private final ReduceContext<Object, Object, ?, ?> context;
  private final RecordBuffer records = new RecordBuffer(2 * ENOUGH_BYTES);
  private final Serializer<Object> keySerializer;
  private final Serializer<Object> valueSerializer;
  private boolean hasEnded;

  @SuppressWarnings("unchecked")
  RecordSource(ReduceContext<Object, Object, ?, ?> context) throws IOException {
    this.context = context;
    SerializationFactory serializations = new SerializationFactory(context.getConfiguration());
    keySerializer =
        (Serializer<Object>) serializations.getSerializer(context.getMapOutputKeyClass());
    keySerializer.open(records);
    valueSerializer =
        (Serializer<Object>) serializations.getSerializer(context.getMapOutputValueClass());
    valueSerializer.open(records);
  }

  /** Called by the native side: some thousands, or none at the end, until the next call. */
  ByteBuffer next() throws IOException, InterruptedException {
    records.clear();
    while (!hasEnded && records.recordStart < ENOUGH_BYTES) {
      hasEnded = !context.nextKeyValue();
      if (!hasEnded) {
        records.beginRecord(0);
        keySerializer.serialize(context.getCurrentKey());
        records.endKey();
        valueSerializer.serialize(context.getCurrentValue());
        records.endRecord();
      }
    }
    return records.records();
  }
}
