import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.legacy.RichSinkFunction;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.util.Collector;

/**
 * The rows of latency_hummer in Flink: FlinkLatency ROW PARALLELISM RATE EVENT_RATE SECONDS
 * WARM_SECONDS KEYS WINDOW_MS CHECKPOINT_DIR INTERVAL_MS BUFFER_TIMEOUT_MS BACKEND MEMORY_BYTES. The
 * schedule, the records, the start and the histogram are those of arrivals.hpp and histogram.hpp.
 * BACKEND is hashmap, or rocksdb with so much memory for all slots.
 *
 * <p>The source reads the clock once for all that is due, at most a thousand records, and the sink
 * once per 64 records or millisecond of the source's clock: Flink hands a sink one record at a time.
 * Prints the line of JSON of latency_hummer.
 */
public class FlinkLatency {
  static final AtomicInteger ready = new AtomicInteger();
  static final AtomicLong start = new AtomicLong();
  static final AtomicLong madeWarm = new AtomicLong();
  static final AtomicLong results = new AtomicLong();
  static final AtomicLong sum = new AtomicLong();
  static final AtomicLong last = new AtomicLong();
  static final AtomicLong checkpoints = new AtomicLong();
  static final Histogram latencies = new Histogram();
  // By stream and subtask.
  static long[][] made;

  static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  // key, value, due
  static final TypeInformation<Tuple3<Long, Long, Long>> RESULT =
      Types.TUPLE(Types.LONG, Types.LONG, Types.LONG);
  // key, due
  static final TypeInformation<Tuple2<Long, Long>> ARRIVAL = Types.TUPLE(Types.LONG, Types.LONG);
  // key, due, payload
  static final TypeInformation<Tuple3<Long, Long, byte[]>> SIDE =
      Types.TUPLE(
          Types.LONG, Types.LONG, PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);

  static long mixed(long x) {
    x *= 0x9E3779B97F4A7C15L;
    x ^= x >>> 32;
    x *= 0xD6E8FEB86659FD93L;
    return x ^ x >>> 32;
  }

  static long below(long draw, long bound) {
    return Math.multiplyHigh(draw, bound) + ((draw >> 63) & bound);
  }

  static long letters(long draw) {
    return (draw & 0x0F0F0F0F0F0F0F0FL) + 0x6161616161616161L;
  }

  static long hashOf(long key, long value) {
    return mixed(mixed(key) ^ value);
  }

  /** 128 buckets to each power of two. */
  static class Histogram implements java.io.Serializable {
    private static final int SUB_BITS = 7;
    private static final int SUB_BUCKETS = 1 << SUB_BITS;
    private final long[] counts = new long[(65 - SUB_BITS) * SUB_BUCKETS];
    private long most = 0;
    private long total = 0;

    void add(long nanoseconds) {
      final long value = Math.max(nanoseconds, 0);
      ++counts[bucketOf(value)];
      most = Math.max(most, value);
      ++total;
    }

    synchronized void add(Histogram other) {
      for (int i = 0; i < counts.length; ++i) {
        counts[i] += other.counts[i];
      }
      most = Math.max(most, other.most);
      total += other.total;
    }

    static int bucketOf(long value) {
      if (value < SUB_BUCKETS) {
        return (int) value;
      }
      final int shift = 63 - Long.numberOfLeadingZeros(value) - SUB_BITS;
      return (shift + 1) * SUB_BUCKETS + (int) (value >> shift) - SUB_BUCKETS;
    }

    static long lastOf(int bucket) {
      if (bucket < SUB_BUCKETS) {
        return bucket;
      }
      final int shift = bucket / SUB_BUCKETS - 1;
      return ((bucket % SUB_BUCKETS + SUB_BUCKETS + 1L) << shift) - 1;
    }

    double atUs(double share) {
      final long wanted = (long) (share * total);
      long seen = 0;
      for (int i = 0; i < counts.length; ++i) {
        seen += counts[i];
        if (seen > wanted) {
          return Math.min(lastOf(i), most) / 1e3;
        }
      }
      return most / 1e3;
    }
  }

  static class Schedule implements java.io.Serializable {
    final String row;
    final int parallelism;
    final double rate;
    final double eventRate;
    final double seconds;
    final double warmSeconds;
    final long keys;
    final long windowMs;
    final int streams;

    Schedule(String[] args) {
      row = args[0];
      parallelism = Integer.parseInt(args[1]);
      streams = row.equals("join") ? 2 : 1;
      rate = Double.parseDouble(args[2]) / streams;
      eventRate = Double.parseDouble(args[3]) / streams;
      seconds = Double.parseDouble(args[4]);
      warmSeconds = Double.parseDouble(args[5]);
      keys = row.equals("join") ? 0 : Long.parseLong(args[6]);
      windowMs = Long.parseLong(args[7]);
    }

    int sources() {
      return streams * parallelism;
    }

    long records() {
      return (long) (rate * seconds);
    }

    double periodNs() {
      return 1e9 / (rate > 0 ? rate : eventRate);
    }

    long measureFrom() {
      return start.get() + (long) (warmSeconds * 1e9);
    }

    long endNs() {
      return start.get() + (long) (seconds * 1e9);
    }

    long keyOf(long index) {
      return below(mixed(index), keys);
    }
  }

  /** See ArrivalSource in arrivals.hpp. */
  abstract static class Arrivals<T> extends RichParallelSourceFunction<T> {
    private static final int AT_ONCE = 1024;
    protected final Schedule schedule;
    private final int stream;
    private final boolean timed;
    private long watermark = 0;

    Arrivals(Schedule schedule, int stream, boolean timed) {
      this.schedule = schedule;
      this.stream = stream;
      this.timed = timed;
    }

    abstract T make(long index, long due);

    abstract T fill(long key);

    @Override
    public void run(SourceContext<T> out) throws InterruptedException {
      final int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
      final int subtasks = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
      for (long key = subtask; key < schedule.keys; ) {
        synchronized (out.getCheckpointLock()) {
          for (int i = 0; i < AT_ONCE && key < schedule.keys; ++i, key += subtasks) {
            out.collect(fill(key));
          }
        }
      }
      if (ready.incrementAndGet() == schedule.sources()) {
        start.set(System.nanoTime() + 300_000_000L);
      }
      while (start.get() == 0 || System.nanoTime() < start.get()) {
        Thread.sleep(1);
      }
      if (schedule.rate > 0) {
        made[stream][subtask] = makeDue(out, subtask, subtasks);
      } else {
        made[stream][subtask] = makeAll(out, subtask, subtasks);
      }
    }

    private long makeDue(SourceContext<T> out, int subtask, int subtasks) {
      final long records = schedule.records();
      final double period = schedule.periodNs();
      final long begin = start.get();
      long count = 0;
      for (long index = subtask; index < records; ) {
        final double elapsed = System.nanoTime() - begin;
        synchronized (out.getCheckpointLock()) {
          for (int i = 0; i < AT_ONCE && index < records; ++i, index += subtasks, ++count) {
            final double due = index * period;
            if (due > elapsed) {
              break;
            }
            emit(out, make(index, begin + (long) due), due);
          }
          follow(out, index * period);
        }
        final double wait = index * period - (System.nanoTime() - begin);
        if (wait > 0) {
          LockSupport.parkNanos((long) wait);
        }
      }
      return count;
    }

    private long makeAll(SourceContext<T> out, int subtask, int subtasks) {
      final double period = schedule.periodNs();
      long index = subtask;
      long count = 0;
      for (long now = System.nanoTime(); now < schedule.endNs(); now = System.nanoTime()) {
        synchronized (out.getCheckpointLock()) {
          for (int i = 0; i < AT_ONCE; ++i, index += subtasks) {
            emit(out, make(index, now), index * period);
          }
          follow(out, index * period);
        }
        count += AT_ONCE;
        if (now >= schedule.measureFrom()) {
          madeWarm.addAndGet(AT_ONCE);
        }
      }
      return count;
    }

    private void emit(SourceContext<T> out, T record, double sinceStart) {
      if (timed) {
        out.collectWithTimestamp(record, (long) (sinceStart / 1e6));
      } else {
        out.collect(record);
      }
    }

    private void follow(SourceContext<T> out, double next) {
      final long time = (long) (next / 1e6);
      if (timed && time != watermark) {
        watermark = time;
        out.emitWatermark(new Watermark(time - 1));
      }
    }

    @Override
    public void cancel() {}
  }

  public static class Keyed extends Arrivals<Tuple2<Long, Long>> {
    private final Tuple2<Long, Long> arrival = Tuple2.of(0L, 0L);

    Keyed(Schedule schedule) {
      super(schedule, 0, false);
    }

    @Override
    Tuple2<Long, Long> make(long index, long due) {
      arrival.f0 = schedule.keyOf(index);
      arrival.f1 = due;
      return arrival;
    }

    @Override
    Tuple2<Long, Long> fill(long key) {
      arrival.f0 = key;
      arrival.f1 = 0L;
      return arrival;
    }
  }

  public static class Sides extends Arrivals<Tuple3<Long, Long, byte[]>> {
    private final Tuple3<Long, Long, byte[]> record = Tuple3.of(0L, 0L, new byte[84]);

    Sides(Schedule schedule, int stream) {
      super(schedule, stream, true);
    }

    @Override
    Tuple3<Long, Long, byte[]> make(long index, long due) {
      record.f0 = index;
      record.f1 = due;
      final long word = letters(mixed(index));
      final byte[] payload = record.f2;
      int at = 0;
      for (; at + 8 <= payload.length; at += 8) {
        WORDS.set(payload, at, word);
      }
      for (; at < payload.length; ++at) {
        payload[at] = (byte) (word >>> (at % 8 * 8));
      }
      return record;
    }

    @Override
    Tuple3<Long, Long, byte[]> fill(long key) {
      return make(key, 0);
    }
  }

  public static class CountInState
      extends KeyedProcessFunction<Long, Tuple2<Long, Long>, Tuple3<Long, Long, Long>> {
    private final Tuple3<Long, Long, Long> result = Tuple3.of(0L, 0L, 0L);
    private transient ValueState<Long> count;

    @Override
    public void open(OpenContext context) {
      count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    }

    @Override
    public void processElement(
        Tuple2<Long, Long> arrival, Context context, Collector<Tuple3<Long, Long, Long>> out)
        throws Exception {
      final Long before = count.value();
      final long now = before == null ? 1 : before + 1;
      count.update(now);
      result.f0 = arrival.f0;
      result.f1 = now;
      result.f2 = arrival.f1;
      out.collect(result);
    }
  }

  public static class LatencySink extends RichSinkFunction<Tuple3<Long, Long, Long>>
      implements CheckpointListener {
    private static final int AT_ONCE = 64;
    private static final long STALE_NS = 1_000_000;
    private final Schedule schedule;
    private final Histogram seen = new Histogram();
    private long count = 0;
    private long total = 0;
    private long now = 0;
    private int until = 0;

    LatencySink(Schedule schedule) {
      this.schedule = schedule;
    }

    @Override
    public void invoke(Tuple3<Long, Long, Long> result, Context context) {
      // A reading serves for records of one batch; one due behind it proves that it is old.
      final long due = result.f2;
      if (--until <= 0 || due > now - STALE_NS) {
        now = System.nanoTime();
        until = AT_ONCE;
      }
      ++count;
      total += hashOf(result.f0, result.f1);
      if (start.get() != 0 && due >= schedule.measureFrom()) {
        seen.add(now - due);
      }
    }

    @Override
    public void notifyCheckpointComplete(long id) {
      checkpoints.accumulateAndGet(id, Math::max);
    }

    @Override
    public void finish() {
      results.addAndGet(count);
      sum.addAndGet(total);
      latencies.add(seen);
      last.accumulateAndGet(System.nanoTime(), Math::max);
    }
  }

  static DataStream<Tuple3<Long, Long, Long>> build(
      LocalStreamEnvironment environment, Schedule schedule) {
    if (!schedule.row.equals("join")) {
      return environment
          .addSource(new Keyed(schedule), "arrivals", ARRIVAL)
          .keyBy(arrival -> arrival.f0, Types.LONG)
          .process(new CountInState(), RESULT);
    }
    final long windowNs = schedule.windowMs * 1_000_000L;
    return environment
        .addSource(new Sides(schedule, 0), "left", SIDE)
        .join(environment.addSource(new Sides(schedule, 1), "right", SIDE))
        .where(left -> left.f0, Types.LONG)
        .equalTo(right -> right.f0, Types.LONG)
        .window(TumblingEventTimeWindows.of(Duration.ofMillis(schedule.windowMs)))
        .apply(
            (left, right) ->
                Tuple3.of(
                    left.f0,
                    (long) WORDS.get(right.f2, 0),
                    start.get() + ((left.f1 - start.get()) / windowNs + 1) * windowNs),
            RESULT);
  }

  /** Whether the results are those of a plain loop over what was made. */
  static boolean right(Schedule schedule) {
    long expected = 0;
    long count = 0;
    if (schedule.row.equals("join")) {
      for (int s = 0; s < schedule.parallelism; ++s) {
        for (long i = 0; i < Math.min(made[0][s], made[1][s]); ++i, ++count) {
          final long index = s + i * schedule.parallelism;
          expected += hashOf(index, letters(mixed(index)));
        }
      }
      return count == results.get() && expected == sum.get();
    }
    final int[] counts = new int[(int) schedule.keys];
    Arrays.fill(counts, 1);
    for (long key = 0; key < schedule.keys; ++key, ++count) {
      expected += hashOf(key, 1);
    }
    for (int s = 0; s < schedule.parallelism; ++s) {
      for (long i = 0; i < made[0][s]; ++i, ++count) {
        final long key = schedule.keyOf(s + i * schedule.parallelism);
        expected += hashOf(key, ++counts[(int) key]);
      }
    }
    return count == results.get() && expected == sum.get();
  }

  public static void main(String[] args) throws Exception {
    final Schedule schedule = new Schedule(args);
    made = new long[2][schedule.parallelism];
    final Configuration configuration = new Configuration();
    configuration.set(TaskManagerOptions.NUM_TASK_SLOTS, schedule.parallelism);
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.parse("64m"));
    configuration.setString("execution.checkpointing.storage", "filesystem");
    configuration.setString("execution.checkpointing.dir", "file://" + args[8]);
    configuration.setString("execution.checkpointing.interval", args[9] + " ms");
    configuration.setString("restart-strategy.type", "none");
    configuration.setString("state.backend.type", args[11]);
    if (args[11].equals("rocksdb")) {
      configuration.setString("execution.checkpointing.incremental", "true");
      configuration.setString(
          "state.backend.rocksdb.memory.fixed-per-slot",
          Long.parseLong(args[12]) / schedule.parallelism + "b");
    }
    final LocalStreamEnvironment environment =
        StreamExecutionEnvironment.createLocalEnvironment(schedule.parallelism, configuration);
    environment.setRuntimeMode(RuntimeExecutionMode.STREAMING);
    environment.getConfig().enableObjectReuse();
    environment.setBufferTimeout(Long.parseLong(args[10]));
    build(environment, schedule).addSink(new LatencySink(schedule));
    environment.execute(schedule.row);
    long records = 0;
    for (final long[] stream : made) {
      records += Arrays.stream(stream).sum();
    }
    final boolean right = right(schedule);
    final StringBuilder percentiles = new StringBuilder();
    final String[] names = {"p50", "p90", "p99", "p99.9", "p99.99"};
    final double[] shares = {0.5, 0.9, 0.99, 0.999, 0.9999};
    for (int i = 0; i < names.length; ++i) {
      percentiles.append(
          String.format(Locale.ROOT, "\"%s\": %.1f, ", names[i], latencies.atUs(shares[i])));
    }
    System.out.printf(
        Locale.ROOT,
        "{\"name\": \"flink\", \"row\": \"%s\", \"rate\": %.0f, \"records\": %d, \"results\": %d, "
            + "\"right\": %b, \"made_per_second\": %.0f, \"behind_seconds\": %.3f, "
            + "\"checkpoints\": %d, \"measured\": %d, %s\"most\": %.1f}%n",
        schedule.row,
        schedule.rate * schedule.streams,
        records,
        results.get(),
        right,
        madeWarm.get() / (schedule.seconds - schedule.warmSeconds),
        (last.get() - schedule.endNs()) / 1e9,
        checkpoints.get(),
        latencies.total,
        percentiles,
        latencies.most / 1e3);
    System.out.flush();
    System.exit(right ? 0 : 1); // service threads linger
  }
}
