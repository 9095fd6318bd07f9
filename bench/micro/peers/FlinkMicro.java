import java.util.Locale;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.legacy.RichSinkFunction;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.types.LongValue;

/**
 * The paths chain and channel of this folder in Flink, in one process: FlinkMicro chain|channel
 * value|long WARM_UP RECORDS SEED ADDEND MASK TIMED. Prints one line: path, form, records,
 * records measured, seconds, records per second, checksum, separated by tabs.
 *
 * <p>source → map → sink with object reuse, without checkpoints, at parallelism 1; where TIMED is
 * false without watermarks or timestamps. chain: fused into one task, no record is ever serialised.
 * channel: the sink is a task of its own, in another slot, with its own thread, behind a forward edge
 * with the default buffer timeout.
 *
 * <p>TIMED is true: every record gets its event time, as TimeOf in kernels.hpp says, and a watermark
 * follows each 1,024th; the checksum is over the timestamps too.
 *
 * <p>The form says what carries the eight bytes: value, a LongValue that every operator keeps and
 * fills anew (nothing is allocated in the chain); long, a Long per record. Which one is faster
 * depends on the path and on the JVM's collector. The functions compute what kernels.hpp does.
 *
 * <p>Source and sink are of the older interface; Flink's own sequence source, of the newer one, was
 * slower than the fastest of these forms on both paths.
 *
 * <p>RECORDS are all that flow and that the checksum covers. The clock of the sink starts behind
 * the first WARM_UP of them, when the job runs and its code is compiled, and stops at the last.
 */
public class FlinkMicro {
  public static void main(String[] args) throws Exception {
    final boolean channel = args[0].equals("channel");
    final String form = args[1];
    final long warmUp = Long.parseLong(args[2]);
    final long records = Long.parseLong(args[3]);
    final long seed = Long.parseLong(args[4]);
    final long addend = Long.parseLong(args[5]);
    final long mask = Long.parseLong(args[6]);
    final boolean timed = Boolean.parseBoolean(args[7]);

    final Configuration configuration = new Configuration();
    configuration.set(TaskManagerOptions.NUM_TASK_SLOTS, 2);
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.parse("128m"));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.parse("128m"));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.parse("128m"));
    final LocalStreamEnvironment environment =
        StreamExecutionEnvironment.createLocalEnvironment(1, configuration);
    environment.setRuntimeMode(RuntimeExecutionMode.STREAMING);
    environment.getConfig().enableObjectReuse();

    final DataStreamSink<?> sink;
    if (form.equals("value")) {
      DataStream<LongValue> made =
          environment.addSource(new MakeValues(records, seed), "make", VALUE);
      if (timed) {
        made =
            made.assignTimestampsAndWatermarks(
                EveryRecords.<LongValue>strategy()
                    .withTimestampAssigner((value, before) -> timeOf(value.getValue(), seed)));
      }
      sink =
          made.map(new ChangeValue(addend, mask)).returns(VALUE).addSink(new ValueSink(warmUp, timed));
    } else if (form.equals("long")) {
      DataStream<Long> made =
          environment.addSource(new MakeLongs(records, seed), "make", Types.LONG);
      if (timed) {
        made =
            made.assignTimestampsAndWatermarks(
                EveryRecords.<Long>strategy()
                    .withTimestampAssigner((value, before) -> timeOf(value, seed)));
      }
      sink =
          made.map(new ChangeLong(addend, mask))
              .returns(Types.LONG)
              .addSink(new LongSink(warmUp, timed));
    } else {
      throw new IllegalArgumentException("unknown form " + form);
    }
    if (channel) {
      sink.disableChaining().slotSharingGroup("back");
    }
    environment.execute(args[0]);

    final Checksum sum = Result.checksum;
    if (sum.records != records) {
      throw new IllegalStateException(sum.records + " records of " + records + " came");
    }
    final double seconds = (Result.end - Result.begin) / 1e9;
    System.out.printf(
        Locale.ROOT,
        "%s\t%s\t%d\t%d\t%.6f\t%.0f\t%016x%n",
        args[0],
        form,
        records,
        records - warmUp,
        seconds,
        (records - warmUp) / seconds,
        timed ? sum.value() * Checksum.FACTOR + Result.times.value() : sum.value());
    System.out.flush();
    System.exit(0); // service threads linger
  }

  private static final TypeInformation<LongValue> VALUE = TypeInformation.of(LongValue.class);

  private static final long RECORDS_PER_MILLISECOND = 1024;

  private static long timeOf(long made, long seed) {
    return (made ^ seed) / RECORDS_PER_MILLISECOND;
  }

  /** A watermark behind each 1,024th record, as the engine's generators make them. */
  private static class EveryRecords<T> implements WatermarkGenerator<T> {
    private static final int RECORDS = 1024;
    private long latest = Long.MIN_VALUE + 1;
    private int since = 0;

    static <T> WatermarkStrategy<T> strategy() {
      return WatermarkStrategy.forGenerator(context -> new EveryRecords<T>());
    }

    @Override
    public void onEvent(T record, long time, WatermarkOutput out) {
      latest = Math.max(latest, time);
      if (++since == RECORDS) {
        since = 0;
        out.emitWatermark(new Watermark(latest - 1));
      }
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput out) {}
  }

  /** What the sink leaves: it runs in this very process. */
  private static class Result {
    static volatile Checksum checksum;
    static volatile Checksum times;
    static volatile long begin;
    static volatile long end;
  }

  /** Fletcher's two sums in eight lanes, as in kernels.hpp. */
  private static class Checksum {
    static final long FACTOR = 0x9e3779b97f4a7c15L;
    final long[] sums = new long[8];
    final long[] orders = new long[8];
    long records = 0;

    void add(long value) {
      final int lane = (int) records & 7;
      orders[lane] += sums[lane] += value;
      ++records;
    }

    long value() {
      long all = 0;
      for (long sum : sums) {
        all = all * FACTOR + sum;
      }
      for (long order : orders) {
        all = all * FACTOR + order;
      }
      return all;
    }
  }

  /** Takes the lock of checkpoints once for many records. */
  private abstract static class Make<T> extends RichParallelSourceFunction<T> {
    private static final long AT_ONCE = 1024;
    private final long records;
    protected final long seed;
    private volatile boolean cancelled = false;

    Make(long records, long seed) {
      this.records = records;
      this.seed = seed;
    }

    abstract void make(SourceContext<T> out, long first, long end);

    @Override
    public void run(SourceContext<T> out) {
      for (long first = 0; first < records && !cancelled; first += AT_ONCE) {
        synchronized (out.getCheckpointLock()) {
          make(out, first, Math.min(first + AT_ONCE, records));
        }
      }
    }

    @Override
    public void cancel() {
      cancelled = true;
    }
  }

  public static class MakeValues extends Make<LongValue> {
    private final LongValue made = new LongValue();

    MakeValues(long records, long seed) {
      super(records, seed);
    }

    @Override
    void make(SourceContext<LongValue> out, long first, long end) {
      for (long index = first; index < end; ++index) {
        made.setValue(index ^ seed);
        out.collect(made);
      }
    }
  }

  public static class MakeLongs extends Make<Long> {
    MakeLongs(long records, long seed) {
      super(records, seed);
    }

    @Override
    void make(SourceContext<Long> out, long first, long end) {
      for (long index = first; index < end; ++index) {
        out.collect(index ^ seed);
      }
    }
  }

  public static class ChangeValue implements MapFunction<LongValue, LongValue> {
    private final long addend;
    private final long mask;
    private final LongValue changed = new LongValue();

    ChangeValue(long addend, long mask) {
      this.addend = addend;
      this.mask = mask;
    }

    @Override
    public LongValue map(LongValue value) {
      changed.setValue((value.getValue() + addend) ^ mask);
      return changed;
    }
  }

  public static class ChangeLong implements MapFunction<Long, Long> {
    private final long addend;
    private final long mask;

    ChangeLong(long addend, long mask) {
      this.addend = addend;
      this.mask = mask;
    }

    @Override
    public Long map(Long value) {
      return (value + addend) ^ mask;
    }
  }

  private abstract static class ChecksumSink<T> extends RichSinkFunction<T> {
    private final long warmUp;
    private final boolean timed;
    private transient Checksum sum;
    private transient Checksum times;

    ChecksumSink(long warmUp, boolean timed) {
      this.warmUp = warmUp;
      this.timed = timed;
    }

    @Override
    public void open(OpenContext context) {
      sum = new Checksum();
      times = new Checksum();
    }

    final void add(long value, Context context) {
      if (sum.records == warmUp) {
        Result.begin = System.nanoTime();
      }
      sum.add(value);
      if (timed) {
        times.add(context.timestamp());
      }
    }

    @Override
    public void finish() {
      Result.end = System.nanoTime();
      Result.times = times;
      Result.checksum = sum;
    }
  }

  public static class ValueSink extends ChecksumSink<LongValue> {
    ValueSink(long warmUp, boolean timed) {
      super(warmUp, timed);
    }

    @Override
    public void invoke(LongValue value, Context context) {
      add(value.getValue(), context);
    }
  }

  public static class LongSink extends ChecksumSink<Long> {
    LongSink(long warmUp, boolean timed) {
      super(warmUp, timed);
    }

    @Override
    public void invoke(Long value, Context context) {
      add(value, context);
    }
  }
}
