package hummer.hadoop;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
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
  private final BatchRecords input = new BatchRecords();

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
    input.set(records);
    output.clear();
    try {
      combiner.combine(new Chunk(), this::add);
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
    private final Progress progress = new Progress();

    @Override
    public boolean next() {
      return input.next();
    }

    @Override
    public DataInputBuffer getKey() {
      return input.key;
    }

    @Override
    public DataInputBuffer getValue() {
      return input.value;
    }

    @Override
    public Progress getProgress() {
      return progress;
    }

    @Override
    public void close() {}
  }
}
