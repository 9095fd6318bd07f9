package hummer.hadoop;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.hadoop.io.DataInputBuffer;

/**
 * The records of a batch that comes from the native side, in the form of RecordBuffer, one by one:
 * Hadoop reads them from arrays.
 *
 * <pre>
 *   records.set(batch);
 *   while (records.next()) { ... records.key ... records.value ... }
 * </pre>
 *
 * <p>Thread: one at a time.
 */
final class BatchRecords {
  final DataInputBuffer key = new DataInputBuffer();
  final DataInputBuffer value = new DataInputBuffer();
  private byte[] array = new byte[0];
  private ByteBuffer heads = ByteBuffer.wrap(array);
  private int size;
  private int at;

  /** Copies it. */
  void set(ByteBuffer batch) {
    size = batch.remaining();
    at = 0;
    if (array.length < size) {
      array = new byte[size];
      heads = ByteBuffer.wrap(array).order(ByteOrder.nativeOrder());
    }
    batch.get(array, 0, size);
  }

  /** To the next one, which key and value have until the next call. False: there is none. */
  boolean next() {
    if (at == size) {
      return false;
    }
    int keyBytes = RecordBuffer.keyBytes(heads, at);
    int valueBytes = RecordBuffer.valueBytes(heads, at);
    at += RecordBuffer.HEAD_BYTES;
    key.reset(array, at, keyBytes);
    at += keyBytes;
    value.reset(array, at, valueBytes);
    at += valueBytes;
    return true;
  }
}
