package hummer.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects, sorts and writes the output of a map task natively, in the form in which Hadoop's own
 * collector writes it, so that shuffle and reducers notice nothing. A job asks for it by
 *
 * <pre>
 *   mapreduce.job.map.output.collector.class =
 *       hummer.hadoop.NativeMapOutputCollector,org.apache.hadoop.mapred.MapTask$MapOutputBuffer
 * </pre>
 *
 * <p>What it can't do it says in {@link #init} by an exception, and the task goes on with the next
 * collector of the list. The counters NATIVE_MAP_TASKS and JAVA_MAP_TASKS of the group Hummer say
 * how many have done which. docs/hadoop.md lists what is not done natively.
 */
public final class NativeMapOutputCollector<K, V> implements MapOutputCollector<K, V> {
  static final String COUNTER_GROUP = "Hummer";
  static final String NATIVE_TASKS = "NATIVE_MAP_TASKS";
  static final String JAVA_TASKS = "JAVA_MAP_TASKS";

  private static final Logger LOG = LoggerFactory.getLogger(NativeMapOutputCollector.class);
  private static final int BATCH_BYTES = 256 * 1024;
  private static final long INDEX_BYTES_PER_PARTITION = 24;
  private static final long ENDS_BYTES_PER_PARTITION = 150;
  /** As Hadoop's collector has it: the shuffle service may be another user of the same group. */
  private static final FsPermission FILE_PERMISSION = new FsPermission((short) 0640);

  /** Of the tasks of this process, for a native mapper, which Hadoop does not tell its collector. */
  private static final Map<TaskAttemptID, NativeMapOutputCollector<?, ?>> COLLECTORS =
      new ConcurrentHashMap<>();

  private JobDemands demands;
  private Configuration configuration;
  private MapTask task;
  private TaskReporter reporter;
  private NativeCollector collector;
  private RecordBatch batch;
  private Class<K> keyClass;
  private Class<V> valueClass;
  private Serializer<K> keySerializer;
  private Serializer<V> valueSerializer;
  private Counters.Counter outputRecords;
  private Counters.Counter outputBytes;

  /** Null where the task has another one. */
  static NativeMapOutputCollector<?, ?> of(TaskAttemptID attempt) {
    return COLLECTORS.get(attempt);
  }

  @Override
  public void init(Context context) throws IOException, ClassNotFoundException {
    reporter = context.getReporter();
    try {
      initNatively(context);
    } catch (IOException | ClassNotFoundException | RuntimeException e) {
      giveWay();
      throw e;
    } catch (LinkageError e) {
      // Hadoop goes on with the next collector after exceptions alone.
      giveWay();
      throw new IOException("This Hadoop is another one than the native collector is for: " + e, e);
    }
    COLLECTORS.put(task.getTaskID(), this);
    reporter.getCounter(COUNTER_GROUP, NATIVE_TASKS).increment(1);
    LOG.info("Collects natively: {} partitions, keys {}, codec {}, {} bytes of memory",
        demands.partitions, demands.keyClass, demands.codec, demands.memoryBytes);
  }

  private void giveWay() {
    close();
    reporter.getCounter(COUNTER_GROUP, JAVA_TASKS).increment(1);
  }

  @SuppressWarnings("unchecked")
  private void initNatively(Context context) throws IOException, ClassNotFoundException {
    JobConf job = context.getJobConf();
    configuration = job;
    task = context.getMapTask();
    demands = new JobDemands(job);
    keyClass = (Class<K>) job.getMapOutputKeyClass();
    valueClass = (Class<V>) job.getMapOutputValueClass();
    // Spill files have no names, so the place of the first one names the folder of all.
    Path spill = task.getMapOutputFile().getSpillFileForWrite(0, demands.memoryBytes);
    String combiner = job.getTrimmed(TaskSettings.COMBINER, "");
    TaskSettings settings = new TaskSettings().setLibraries(job)
        .set("partitions", demands.partitions).set("memory_bytes", demands.memoryBytes)
        .set("key_class", keyClass.getName()).set("value_class", valueClass.getName())
        .set("codec", demands.codec).set("combiner", combiner)
        .set("spill_directory", spill.getParent().toUri().getPath());
    collector = new NativeCollector(settings, combiner.isEmpty()
        ? JobCombiner.create(job, task, reporter, keyClass, valueClass) : null);
    SerializationFactory serializations = new SerializationFactory(job);
    keySerializer = serializations.getSerializer(keyClass);
    valueSerializer = serializations.getSerializer(valueClass);
    if (valueSerializer == null) {
      throw new IOException("No serialization takes the class " + valueClass.getName() + ".");
    }
    outputRecords = reporter.getCounter(TaskCounter.MAP_OUTPUT_RECORDS);
    outputBytes = reporter.getCounter(TaskCounter.MAP_OUTPUT_BYTES);
  }

  /** For a native mapper, which puts its records there and counts them here. */
  NativeCollector nativeCollector() {
    return collector;
  }

  void count(long records, long contentBytes) {
    reporter.progress();
    outputRecords.increment(records);
    outputBytes.increment(contentBytes);
  }

  void setProgress(long done, long all) {
    reporter.setProgress(all <= 0 ? 1 : Math.min(1, (float) done / all));
  }

  /** Any thread, as mappers may have several. */
  @Override
  public synchronized void collect(K key, V value, int partition) throws IOException {
    reporter.progress();
    if (key.getClass() != keyClass) {
      throw mismatch("key", keyClass, key);
    }
    if (value.getClass() != valueClass) {
      throw mismatch("value", valueClass, value);
    }
    if (partition < 0 || partition >= demands.partitions) {
      throw new IOException("Illegal partition for " + key + " (" + partition + ")");
    }
    if (batch == null) {
      beginBatch();
    }
    batch.beginRecord(partition);
    keySerializer.serialize(key);
    batch.endKey();
    valueSerializer.serialize(value);
    batch.endRecord();
  }

  /** With the first record: where the mapper is a native one none ever comes. */
  private void beginBatch() throws IOException {
    if (collector == null) {
      throw new IOException("The native collector is closed.");
    }
    batch = new RecordBatch(BATCH_BYTES, this::take);
    keySerializer.open(batch);
    valueSerializer.open(batch);
  }

  private static IOException mismatch(String what, Class<?> expected, Object received) {
    return new IOException("Type mismatch in " + what + " from map: expected "
        + expected.getName() + ", received " + received.getClass().getName());
  }

  private void take(ByteBuffer records, int sizeBytes, int count, long contentBytes)
      throws IOException {
    collector.collect(records, sizeBytes);
    outputRecords.increment(count);
    outputBytes.increment(contentBytes);
  }

  @Override
  public synchronized void flush() throws IOException {
    if (collector == null) {
      // Hadoop flushes again what has failed to flush.
      throw new IOException("The native collector is closed.");
    }
    try {
      if (batch != null) {
        batch.handOver();
      }
      Path output = task.getMapOutputFile().getOutputFileForWrite(expectedBytes());
      finish(output.toUri().getPath());
      count(output);
      task.getSortPhase().complete();
    } finally {
      // Hadoop does not close a collector whose flush has failed.
      close();
    }
  }

  /** What the file at the end may have, so that a folder is chosen that has room for it. */
  private long expectedBytes() throws IOException {
    long bytes = outputBytes.getValue() + 2 * outputRecords.getValue();
    if (!demands.codec.equals(JobDemands.NO_CODEC)) {
      bytes = Math.min(bytes, demands.memoryBytes + collector.metrics().spilledBytes);
    }
    return bytes
        + demands.partitions * (INDEX_BYTES_PER_PARTITION + ENDS_BYTES_PER_PARTITION);
  }

  /** Sorting and merging may take minutes, in which the task must not seem to hang. */
  private void finish(String path) throws IOException {
    Heartbeat.during(() -> collector.finish(path), reporter::progress);
  }

  private void count(Path output) throws IOException {
    FileSystem local = FileSystem.getLocal(configuration).getRaw();
    Path index = output.suffix(".index");
    FsPermission mask = FsPermission.getUMask(configuration);
    if (!FILE_PERMISSION.equals(FILE_PERMISSION.applyUMask(mask))) {
      local.setPermission(output, FILE_PERMISSION);
      local.setPermission(index, FILE_PERMISSION);
    }
    NativeCollector.Metrics metrics = collector.metrics();
    reporter.getCounter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES)
        .increment(local.getFileStatus(output).getLen());
    if (metrics.combinedRecords > 0) {
      reporter.getCounter(TaskCounter.COMBINE_INPUT_RECORDS).increment(metrics.combinedRecords);
      reporter.getCounter(TaskCounter.COMBINE_OUTPUT_RECORDS)
          .increment(metrics.recordsAfterCombining);
    }
    // Hadoop counts a record each time that it is written to a file, also to the last one.
    reporter.getCounter(TaskCounter.SPILLED_RECORDS)
        .increment(metrics.spilledRecords + metrics.writtenRecords);
    LOG.info("Wrote {} records: {} spills of {} bytes, {} merges; all sorting took {} ms, writing"
            + " spills {} ms, the file at the end and its sorting {} ms",
        metrics.writtenRecords, metrics.spills, metrics.spilledBytes, metrics.merges,
        metrics.sortMilliseconds, metrics.spillMilliseconds, metrics.mergeMilliseconds);
  }

  @Override
  public synchronized void close() {
    if (collector != null) {
      COLLECTORS.remove(task.getTaskID(), this);
      collector.close();
      collector = null;
    }
    batch = null;
  }
}
