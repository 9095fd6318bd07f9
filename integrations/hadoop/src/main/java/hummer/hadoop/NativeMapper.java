package hummer.hadoop;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.lib.partition.HashPartitioner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a mapper of a class library, in C++, instead of one in Java. A job asks for it by
 *
 * <pre>
 *   mapreduce.job.map.class = hummer.hadoop.NativeMapper
 *   hummer.libraries        = words.so
 *   hummer.mapper           = words.WordMapper
 * </pre>
 *
 * <p>Where the split can be read natively and the collector is the native one, records never are
 * Java objects. What hinders one of them stands in the task's log, and that part is Java's then:
 * the job's RecordReader reads, or its partitioner and collector (or, without reducers, its
 * OutputFormat) take what the mapper gives out. docs/hadoop.md says what is native when.
 */
public final class NativeMapper extends Mapper<Object, Object, Object, Object> {
  private static final Logger LOG = LoggerFactory.getLogger(NativeMapper.class);
  private static final int BATCH_BYTES = 256 * 1024;
  /** Counts tasks whose split was read natively. */
  private static final String READ_TASKS = "NATIVE_READ_TASKS";

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    try {
      new Run(context).run();
    } catch (ClassNotFoundException e) {
      throw new IOException("The job lacks a class.", e);
    }
  }

  /** One task. */
  private static final class Run {
    private final Context context;
    private final Configuration job;
    /** Null: records go out through Java. */
    private final NativeMapOutputCollector<?, ?> collector;
    private final SplitReading reading;
    private NativeMapTask task;
    private NativeMapTask.Report counted = NativeMapTask.Report.NOTHING;

    Run(Context context) throws IOException, ClassNotFoundException {
      this.context = context;
      job = context.getConfiguration();
      collector = collectorOf(context);
      reading = SplitReading.of(context);
      LOG.info("Maps natively by {}: records are read {}, and go out {}",
          job.get(TaskSettings.MAPPER), readsNatively() ? "natively" : "by Java",
          collector != null ? "natively" : "through Java");
      if (context.getNumReduceTasks() == 0) {
        String hindrance = LineSink.hindrance(context);
        LOG.info("Records go out as {}", hindrance == null ? "lines"
            : "Java objects, since " + hindrance + ".");
      }
      if (reading.hindrance != null) {
        LOG.info("The job's own RecordReader reads, since {}.", reading.hindrance);
      }
    }

    /** That of this task, if it takes what this mapper gives out without Java's partitioner. */
    private static NativeMapOutputCollector<?, ?> collectorOf(Context context)
        throws ClassNotFoundException {
      NativeMapOutputCollector<?, ?> found =
          NativeMapOutputCollector.of(context.getTaskAttemptID());
      if (found == null) {
        return null;
      }
      Class<?> partitioner = context.getPartitionerClass();
      if (context.getNumReduceTasks() == 1 || partitioner == HashPartitioner.class
          || CutPoints.areKnownTo(partitioner)
          || context.getConfiguration().get(TaskSettings.PARTITIONER) != null) {
        return found;
      }
      LOG.info("Records go out through Java, since the partitioner {} has no native form.",
          partitioner.getName());
      return null;
    }

    private boolean readsNatively() {
      // Only a native collector tells how far the task has come.
      return reading.hindrance == null && collector != null;
    }

    private TaskSettings settings() throws IOException, ClassNotFoundException {
      String mapper = job.getTrimmed(TaskSettings.MAPPER, "");
      TaskSettings settings = new TaskSettings().setLibraries(job).set("mapper", mapper)
          .set("partitioner", job.getTrimmed(TaskSettings.PARTITIONER, ""))
          .set("cut_points", dealsByCutPoints() ? CutPoints.of(context) : "")
          .set("number", context.getTaskAttemptID().getTaskID().getId())
          .set("attempt", context.getTaskAttemptID().getId());
      boolean hasReducers = context.getNumReduceTasks() > 0;
      return settings.set("key_class", keyClass(hasReducers).getName())
          .set("value_class", valueClass(hasReducers).getName());
    }

    private boolean dealsByCutPoints() throws ClassNotFoundException {
      return collector != null && context.getNumReduceTasks() > 1
          && job.get(TaskSettings.PARTITIONER) == null
          && CutPoints.areKnownTo(context.getPartitionerClass());
    }

    private Class<?> keyClass(boolean hasReducers) {
      return hasReducers ? context.getMapOutputKeyClass() : context.getOutputKeyClass();
    }

    private Class<?> valueClass(boolean hasReducers) {
      return hasReducers ? context.getMapOutputValueClass() : context.getOutputValueClass();
    }

    void run() throws IOException, InterruptedException, ClassNotFoundException {
      if (job.getTrimmed(TaskSettings.MAPPER, "").isEmpty()) {
        throw new IOException(TaskSettings.MAPPER + " has to name a class of a class library.");
      }
      // Other tasks of the job may have theirs, and all have to deal out keys in the same way.
      if (collector == null && context.getNumReduceTasks() > 1
          && job.get(TaskSettings.PARTITIONER) != null) {
        throw new IOException(TaskSettings.PARTITIONER
            + " needs the native collector, and this task has another one; its log says why.");
      }
      if (readsNatively()) {
        mapSplit();
      } else {
        mapRecords();
      }
    }

    private NativeMapTask create(TaskSettings settings, FileStream stream)
        throws IOException, ClassNotFoundException {
      if (collector != null) {
        return new NativeMapTask(settings, collector.nativeCollector(), stream, null);
      }
      OutputSink sink = context.getNumReduceTasks() > 0
          ? new RecordSink(context, context.getMapOutputKeyClass(),
              context.getMapOutputValueClass())
          : LineSink.create(context, TaskCounter.MAP_OUTPUT_RECORDS, settings);
      return new NativeMapTask(settings, null, stream, sink);
    }

    private void mapSplit()
        throws IOException, InterruptedException, ClassNotFoundException {
      TaskSettings settings = settings();
      reading.describeTo(settings);
      try (FileStream stream = reading.isLocal ? null : new FileStream(reading.path, job);
          NativeMapTask created = create(settings, stream)) {
        task = created;
        FileSystem.Statistics[] files = {};
        if (reading.isLocal) {
          files = TaskAccess.statisticsOf(reading.path, job);
        }
        context.getCounter(NativeMapOutputCollector.COUNTER_GROUP, READ_TASKS).increment(1);
        while (task.mapSome()) {
          count(files);
          if (Thread.interrupted()) {
            throw new InterruptedIOException("The task was stopped.");
          }
        }
        task.finish();
        count(files);
        countOwn();
      }
    }

    private void mapRecords()
        throws IOException, InterruptedException, ClassNotFoundException {
      if (!context.nextKeyValue()) {
        mapAll(Object.class, Object.class);
      } else {
        mapAll(context.getCurrentKey().getClass(), context.getCurrentValue().getClass());
      }
    }

    /** From the current record on; without one where there is none. */
    private <K, V> void mapAll(Class<K> keyClass, Class<V> valueClass)
        throws IOException, InterruptedException, ClassNotFoundException {
      TaskSettings settings = settings().set("in_key_class", keyClass.getName())
          .set("in_value_class", valueClass.getName());
      try (NativeMapTask created = create(settings, null)) {
        task = created;
        RecordBatch batch = new RecordBatch(BATCH_BYTES, this::mapBatch);
        if (keyClass != Object.class) {
          Serializer<K> keys = serializer(keyClass, batch);
          Serializer<V> values = serializer(valueClass, batch);
          do {
            batch.beginRecord(0);
            keys.serialize(keyClass.cast(context.getCurrentKey()));
            batch.endKey();
            values.serialize(valueClass.cast(context.getCurrentValue()));
            batch.endRecord();
          } while (context.nextKeyValue());
          batch.handOver();
        }
        task.finish();
        countOutput(task.report());
        countOwn();
      }
    }

    private <T> Serializer<T> serializer(Class<T> type, RecordBatch batch) throws IOException {
      Serializer<T> serializer = new SerializationFactory(job).getSerializer(type);
      if (serializer == null) {
        throw new IOException("No serialization takes the class " + type.getName() + ".");
      }
      serializer.open(batch);
      return serializer;
    }

    private void mapBatch(ByteBuffer records, int sizeBytes, int count, long contentBytes)
        throws IOException {
      task.mapBatch(records, sizeBytes);
      countOutput(task.report());
    }

    /** What was read and given out since the last time, and how far that is. */
    private void count(FileSystem.Statistics[] files) {
      NativeMapTask.Report now = task.report();
      long bytes = now.bytesRead - counted.bytesRead;
      context.getCounter(TaskCounter.MAP_INPUT_RECORDS)
          .increment(now.inputRecords - counted.inputRecords);
      context.getCounter(FileInputFormatCounter.BYTES_READ).increment(bytes);
      for (FileSystem.Statistics each : files) {
        each.incrementBytesRead(bytes);
      }
      collector.setProgress(now.bytesRead, reading.length);
      countOutput(now);
    }

    private void countOutput(NativeMapTask.Report now) {
      if (collector != null) {
        collector.count(now.outputRecords - counted.outputRecords,
            now.outputBytes - counted.outputBytes);
      }
      counted = now;
    }

    private void countOwn() {
      String[] counters = task.counters();
      for (int i = 0; i + 2 < counters.length; i += 3) {
        context.getCounter(counters[i], counters[i + 1]).increment(Long.parseLong(counters[i + 2]));
      }
    }
  }
}
