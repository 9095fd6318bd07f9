package hummer.hadoop;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a reducer of a class library, in C++, instead of one in Java. A job asks for it by
 *
 * <pre>
 *   mapreduce.job.reduce.class = hummer.hadoop.NativeReducer
 *   hummer.libraries           = words.so
 *   hummer.reducer             = words.SumReducer
 * </pre>
 *
 * <p>With NativeShuffle records come from the native merge, and never are Java objects; else Hadoop
 * merges, and hands them over. What the reducer gives out goes to the job's OutputFormat: as lines
 * that are made natively where that is TextOutputFormat, else as Java objects.
 *
 * <p>Groups are keys that are equal by the native order: a comparator of the job's own for sorting
 * or grouping is refused.
 */
public final class NativeReducer extends Reducer<Object, Object, Object, Object> {
  private static final Logger LOG = LoggerFactory.getLogger(NativeReducer.class);

  /** Null: Hadoop merges. */
  private NativeShuffle<?, ?> shuffle;
  private NativeReduceTask.Report counted = NativeReduceTask.Report.NOTHING;

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    Configuration job = context.getConfiguration();
    String reducer = job.getTrimmed(TaskSettings.REDUCER, "");
    if (reducer.isEmpty()) {
      throw new IOException(TaskSettings.REDUCER + " has to name a class of a class library.");
    }
    try {
      reduce(context, reducer);
    } catch (ClassNotFoundException e) {
      throw new IOException("The job lacks a class.", e);
    }
  }

  private void reduce(Context context, String reducer)
      throws IOException, InterruptedException, ClassNotFoundException {
    Configuration job = context.getConfiguration();
    refuseGrouping(new JobConf(job));
    shuffle = NativeShuffle.of(context.getTaskAttemptID());
    NativeMerge merge = shuffle == null ? null : shuffle.merge();
    String hindrance = LineSink.hindrance(context);
    LOG.info("Reduces natively by {}: records are merged {}, and go out as {}", reducer,
        merge != null ? "natively" : "by Hadoop", hindrance == null ? "lines" : "Java objects");
    if (hindrance != null) {
      LOG.info("The job's own RecordWriter makes bytes of records, since {}.", hindrance);
    }
    TaskSettings settings = new TaskSettings().setLibraries(job).set("reducer", reducer)
        .set("number", context.getTaskAttemptID().getTaskID().getId())
        .set("attempt", context.getTaskAttemptID().getId())
        .set("key_class", context.getMapOutputKeyClass().getName())
        .set("value_class", context.getMapOutputValueClass().getName())
        .set("out_key_class", context.getOutputKeyClass().getName())
        .set("out_value_class", context.getOutputValueClass().getName());
    OutputSink sink = LineSink.create(context, TaskCounter.REDUCE_OUTPUT_RECORDS, settings);
    Thread own = Thread.currentThread();
    try (NativeReduceTask task = new NativeReduceTask(settings, merge,
        merge == null ? new RecordSource(context) : null, sink)) {
      Heartbeat.during(task::run, () -> look(task, own, context));
      count(task.report(), context);
      countOwn(task.counters(), context);
    }
  }

  private static void refuseGrouping(JobConf job) throws IOException {
    JobDemands.keysOf(job);
    RawComparator<?> grouping = job.getOutputValueGroupingComparator();
    if (grouping.getClass() != job.getOutputKeyComparator().getClass()) {
      throw new IOException("The job groups its keys by " + grouping.getClass().getName()
          + ", which a native reducer can't do.");
    }
  }

  /** While it runs, on another thread: the counters, and whether it shall stop. */
  private void look(NativeReduceTask task, Thread own, Context context) {
    context.progress();
    count(task.report(), context);
    if (own.isInterrupted()) {
      task.stop();
    }
  }

  private void count(NativeReduceTask.Report now, Context context) {
    context.getCounter(TaskCounter.REDUCE_INPUT_GROUPS).increment(now.groups - counted.groups);
    // Records that Hadoop has merged it has counted.
    if (shuffle != null) {
      context.getCounter(TaskCounter.REDUCE_INPUT_RECORDS)
          .increment(now.records - counted.records);
      shuffle.setProgress(now.bytes);
    }
    counted = now;
  }

  private static void countOwn(String[] counters, Context context) {
    for (int i = 0; i + 2 < counters.length; i += 3) {
      context.getCounter(counters[i], counters[i + 1]).increment(Long.parseLong(counters[i + 2]));
    }
  }
}
