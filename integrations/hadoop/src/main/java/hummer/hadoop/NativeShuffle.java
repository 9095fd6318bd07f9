package hummer.hadoop;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.mapreduce.task.reduce.MapOutput;
import org.apache.hadoop.mapreduce.task.reduce.MergeManager;
import org.apache.hadoop.mapreduce.task.reduce.Shuffle;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleClientMetrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hadoop's shuffle with a native merge behind it. A job asks for it by
 *
 * <pre>
 *   mapreduce.job.reduce.shuffle.consumer.plugin.class = hummer.hadoop.NativeShuffle
 * </pre>
 *
 * <p>Outputs are fetched by Hadoop's own classes: they know the service's protocol, its secrets,
 * TLS and retries, and tell the job which maps must run again. What has come is compared with its
 * CRC before it counts, so a damaged output is fetched again, and its map runs again when that
 * does not help.
 *
 * <p>What has no native form is merged by Hadoop, and the log says why; docs/hadoop.md lists it.
 */
public final class NativeShuffle<K, V> extends Shuffle<K, V> {
  static final String NATIVE_TASKS = "NATIVE_REDUCE_MERGES";
  static final String JAVA_TASKS = "JAVA_REDUCE_MERGES";

  private static final Logger LOG = LoggerFactory.getLogger(NativeShuffle.class);
  private static final float DEFAULT_INPUT_PERCENT = 0.70f;
  private static final long LEAST_BYTES = 1L << 20;
  private static final long WAIT_MILLISECONDS = 1000;

  /**
   * Of the tasks of this process, for a native reducer, which Hadoop does not tell its shuffle. It
   * does not close the shuffle of a task that fails, so this holds none.
   */
  private static final Map<TaskAttemptID, WeakReference<NativeShuffle<?, ?>>> SHUFFLES =
      new ConcurrentHashMap<>();

  private TaskAttemptID attempt;
  private Reporter reporter;
  private NativeMerge merge;
  private long allBytes;

  /** Null where the task has another one, or where Hadoop merges. */
  static NativeShuffle<?, ?> of(TaskAttemptID attempt) {
    WeakReference<NativeShuffle<?, ?>> found = SHUFFLES.get(attempt);
    return found == null ? null : found.get();
  }

  /** With all records still in it when a reducer begins. */
  NativeMerge merge() {
    return merge;
  }

  /** Of a native reducer, which has read so many bytes. */
  void setProgress(long bytes) {
    if (reporter instanceof Task.TaskReporter) {
      ((Task.TaskReporter) reporter)
          .setProgress(allBytes <= 0 ? 1 : Math.min(1, (float) bytes / allBytes));
    }
  }

  @Override
  @SuppressWarnings({"unchecked", "rawtypes"})
  protected MergeManager<K, V> createMergeManager(ShuffleConsumerPlugin.Context context) {
    reporter = context.getReporter();
    try {
      attempt = context.getReduceId();
      merge = new NativeMerge(settings((Context<K, V>) context));
    } catch (IOException | RuntimeException | LinkageError e) {
      LOG.info("Hadoop merges, since: {}", e.getMessage() == null ? e.toString() : e.getMessage());
      reporter.getCounter(NativeMapOutputCollector.COUNTER_GROUP, JAVA_TASKS).increment(1);
      return super.createMergeManager(context);
    }
    reporter.getCounter(NativeMapOutputCollector.COUNTER_GROUP, NATIVE_TASKS).increment(1);
    LOG.info("Merges natively: {} bytes of memory", memoryOf(context.getJobConf()));
    SHUFFLES.put(attempt, new WeakReference<>(this));
    return new Manager<>(this, (Context<K, V>) context);
  }

  private TaskSettings settings(Context<K, V> context) throws IOException {
    JobConf job = context.getJobConf();
    JobDemands.refuseEncryption(job);
    Path spill = context.getMapOutputFile().getInputFileForWrite(attempt.getTaskID(),
        LEAST_BYTES);
    return new TaskSettings().set("key_class", JobDemands.keysOf(job))
        .set("codec", JobDemands.codecOf(job)).set("memory_bytes", memoryOf(job))
        .set("spill_directory", spill.getParent().toUri().getPath());
  }

  /** As Hadoop's merge computes it, of the heap; but it is no memory of the heap. */
  private static long memoryOf(JobConf job) {
    float percent =
        job.getFloat(MRJobConfig.SHUFFLE_INPUT_BUFFER_PERCENT, DEFAULT_INPUT_PERCENT);
    long heap = job.getLong(MRJobConfig.REDUCE_MEMORY_TOTAL_BYTES,
        Runtime.getRuntime().maxMemory());
    return Math.max(LEAST_BYTES, (long) (heap * Math.min(1, Math.max(0, percent))));
  }

  @Override
  public void close() {
    super.close();
    if (merge != null) {
      SHUFFLES.remove(attempt);
      merge.close();
    }
  }

  /** Where the fetchers bring outputs. */
  private static final class Manager<K, V> implements MergeManager<K, V> {
    private final NativeShuffle<K, V> shuffle;
    private final NativeMerge merge;
    private final Context<K, V> context;
    private boolean isFull;

    Manager(NativeShuffle<K, V> shuffle, Context<K, V> context) {
      this.shuffle = shuffle;
      merge = shuffle.merge;
      this.context = context;
    }

    @Override
    public synchronized void waitForResource() throws InterruptedException {
      if (isFull) {
        wait(WAIT_MILLISECONDS);
      }
    }

    /** Null: the fetcher shall wait. */
    @Override
    public MapOutput<K, V> reserve(TaskAttemptID map, long rawBytes, int fetcher)
        throws IOException {
      long id = merge.reserve(rawBytes);
      synchronized (this) {
        isFull = id == 0;
      }
      return id == 0 ? null : new Output<>(this, map, rawBytes, id);
    }

    synchronized void hasRoom() {
      isFull = false;
      notifyAll();
    }

    @Override
    public RawKeyValueIterator close() throws IOException {
      boolean hasRecords = merge.finish();
      NativeMerge.Metrics metrics = merge.metrics();
      context.getSpilledRecordsCounter().increment(metrics.spilledRecords);
      context.getMergedMapOutputsCounter().increment(metrics.outputs);
      shuffle.allBytes = metrics.allBytes;
      LOG.info("Merges {} map outputs of {} bytes: {} spills", metrics.outputs, metrics.allBytes,
          metrics.spills);
      return new MergedRecords(merge, hasRecords, metrics.allBytes);
    }
  }

  /** The output of one map task, on its way. */
  private static final class Output<K, V> extends MapOutput<K, V> {
    private final Manager<K, V> manager;
    private final long id;

    Output(Manager<K, V> manager, TaskAttemptID map, long rawBytes, long id) {
      super(map, rawBytes, true);
      this.manager = manager;
      this.id = id;
    }

    @Override
    public void shuffle(MapHost host, InputStream input, long compressedLength,
        long decompressedLength, ShuffleClientMetrics metrics, Reporter reporter)
        throws IOException {
      manager.merge.receive(id, input, decompressedLength, compressedLength, reporter::progress);
      metrics.inputBytes(compressedLength);
    }

    /** Not called for the second output of a map that has come twice. */
    @Override
    public void commit() {
      try {
        manager.merge.commit(id);
      } catch (IOException e) {
        // To fetch it again would not help, as the disk is what fails.
        manager.shuffle.reportException(e);
      }
      manager.hasRoom();
    }

    @Override
    public void abort() {
      manager.merge.abort(id);
      manager.hasRoom();
    }

    @Override
    public String getDescription() {
      return "NATIVE";
    }
  }
}
