package hummer.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.util.Progress;

/**
 * The result of a native merge, as Hadoop's reducers ask for it.
 *
 * <p>Hadoop asks for the first record before it begins a reducer. Nothing is taken from the merge
 * until somebody looks at one, so that a native reducer finds all of them there.
 *
 * <p>Thread: one at a time.
 */
final class MergedRecords implements RawKeyValueIterator {
  private final NativeMerge merge;
  private final boolean hasRecords;
  private final long allBytes;
  private final DataInputBuffer key = new DataInputBuffer();
  private final DataInputBuffer value = new DataInputBuffer();
  private final Progress progress = new Progress();
  private byte[] array = new byte[0];
  private ByteBuffer heads = ByteBuffer.wrap(array);
  private int size;
  private int at;
  private long doneBytes;
  /** The first record was asked for, and is still with the merge. */
  private boolean isAhead;
  private boolean hasBegun;

  MergedRecords(NativeMerge merge, boolean hasRecords, long allBytes) {
    this.merge = merge;
    this.hasRecords = hasRecords;
    this.allBytes = allBytes;
  }

  @Override
  public boolean next() throws IOException {
    if (!hasBegun) {
      hasBegun = true;
      isAhead = hasRecords;
      return hasRecords;
    }
    take();
    return advance();
  }

  @Override
  public DataInputBuffer getKey() throws IOException {
    take();
    return key;
  }

  @Override
  public DataInputBuffer getValue() throws IOException {
    take();
    return value;
  }

  /** The first record, if it is still with the merge. */
  private void take() throws IOException {
    if (isAhead) {
      isAhead = false;
      advance();
    }
  }

  private boolean advance() throws IOException {
    if (at == size && !fill()) {
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

  private boolean fill() throws IOException {
    ByteBuffer batch = merge.nextBatch();
    if (batch == null) {
      progress.set(1);
      return false;
    }
    at = 0;
    size = batch.remaining();
    if (array.length < size) {
      array = new byte[size];
      heads = ByteBuffer.wrap(array).order(ByteOrder.nativeOrder());
    }
    batch.get(array, 0, size);
    doneBytes += size;
    progress.set(allBytes <= 0 ? 1 : Math.min(1, (float) doneBytes / allBytes));
    return true;
  }

  @Override
  public Progress getProgress() {
    return progress;
  }

  @Override
  public void close() {}
}
