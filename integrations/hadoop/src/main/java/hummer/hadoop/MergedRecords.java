package hummer.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;
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
  private final BatchRecords records = new BatchRecords();
  private final Progress progress = new Progress();
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
    return records.key;
  }

  @Override
  public DataInputBuffer getValue() throws IOException {
    take();
    return records.value;
  }

  /** The first record, if it is still with the merge. */
  private void take() throws IOException {
    if (isAhead) {
      isAhead = false;
      advance();
    }
  }

  private boolean advance() throws IOException {
    while (!records.next()) {
      ByteBuffer batch = merge.nextBatch();
      if (batch == null) {
        progress.set(1);
        return false;
      }
      doneBytes += batch.remaining();
      progress.set(allBytes <= 0 ? 1 : Math.min(1, (float) doneBytes / allBytes));
      records.set(batch);
    }
    return true;
  }

  @Override
  public Progress getProgress() {
    return progress;
  }

  @Override
  public void close() {}
}
