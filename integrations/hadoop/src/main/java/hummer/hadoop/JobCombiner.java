package hummer.hadoop;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.util.Progress;

/**
 * The job's combiner, as the native side calls it: a chunk of sorted records in, what the combiner
 * makes of them out. It runs in Java, by a new object of its class for each chunk, as Hadoop makes
 * one for each partition of a spill.
 *
 * <p>Thread: one at a time.
 */
final class JobCombiner<K, V> {
  private static final int OUTPUT_BYTES = 64 * 1024;

  private final TaskAccess.Runner<K, V> combiner;
  private final TaskReporter reporter;
  private final Counters.Counter outputRecords;
  private final RecordBuffer output = new RecordBuffer(OUTPUT_BYTES);
  private final Serializer<K> keySerializer;
  private final Serializer<V> valueSerializer;
  /** The chunk: Hadoop's readers take arrays. */
  private byte[] input = new byte[0];

  private JobCombiner(TaskAccess.Runner<K, V> combiner, JobConf job, TaskReporter reporter,
      Class<K> keyClass, Class<V> valueClass) throws IOException {
    this.combiner = combiner;
    this.reporter = reporter;
    outputRecords = reporter.getCounter(TaskCounter.COMBINE_OUTPUT_RECORDS);
    SerializationFactory serializations = new SerializationFactory(job);
    keySerializer = serializations.getSerializer(keyClass);
    keySerializer.open(output);
    valueSerializer = serializations.getSerializer(valueClass);
    valueSerializer.open(output);
  }

  /** Null where the job has none. */
  static <K, V> JobCombiner<K, V> create(JobConf job, MapTask task, TaskReporter reporter,
      Class<K> keyClass, Class<V> valueClass) throws IOException, ClassNotFoundException {
    TaskAccess.Runner<K, V> combiner = TaskAccess.runnerOf(job, task.getTaskID(),
        reporter.getCounter(TaskCounter.COMBINE_INPUT_RECORDS), reporter);
    return combiner == null ? null
        : new JobCombiner<>(combiner, job, reporter, keyClass, valueClass);
  }

  /** Called by the native side. What it gives back holds until the next call. */
  ByteBuffer combine(ByteBuffer records) throws IOException {
    reporter.progress();
    int sizeBytes = records.remaining();
    if (input.length < sizeBytes) {
      input = new byte[sizeBytes];
    }
    records.get(input, 0, sizeBytes);
    output.clear();
    try {
      combiner.combine(new Chunk(sizeBytes), this::add);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("The combiner was interrupted.");
    } catch (ClassNotFoundException e) {
      throw new IOException("The combiner lacks a class.", e);
    }
    return output.records();
  }

  private void add(K key, V value) throws IOException {
    output.beginRecord(0);
    keySerializer.serialize(key);
    output.endKey();
    valueSerializer.serialize(value);
    output.endRecord();
    outputRecords.increment(1);
  }

  /** The records of the chunk, as Hadoop's runner of combiners asks for them. */
  private final class Chunk implements RawKeyValueIterator {
    private final ByteBuffer heads;
    private final int end;
    private final DataInputBuffer key = new DataInputBuffer();
    private final DataInputBuffer value = new DataInputBuffer();
    private final Progress progress = new Progress();
    private int at;

    Chunk(int sizeBytes) {
      heads = ByteBuffer.wrap(input).order(ByteOrder.nativeOrder());
      end = sizeBytes;
    }

    @Override
    public boolean next() {
      if (at == end) {
        return false;
      }
      int keyBytes = RecordBuffer.keyBytes(heads, at);
      int valueBytes = RecordBuffer.valueBytes(heads, at);
      at += RecordBuffer.HEAD_BYTES;
      key.reset(input, at, keyBytes);
      at += keyBytes;
      value.reset(input, at, valueBytes);
      at += valueBytes;
      return true;
    }

    @Override
    public DataInputBuffer getKey() {
      return key;
    }

    @Override
    public DataInputBuffer getValue() {
      return value;
    }

    @Override
    public Progress getProgress() {
      return progress;
    }

    @Override
    public void close() {}
  }
}
