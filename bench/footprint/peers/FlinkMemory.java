import com.sun.management.OperatingSystemMXBean;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.legacy.RichSinkFunction;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.util.Collector;

/**
 * The rows of memory_per_key in Flink, state on the heap: FlinkMemory ROW KEYS. When all keys are
 * there and the process has no more to do, the live set is what MemoryMXBean says is used behind
 * System.gc(). Then all state is used, as in the other programs. Prints a line of JSON.
 *
 * <p>Object reuse is on, so Flink keeps records as they come, without copies; the source makes a new
 * one each time. The built-in count of Flink (sum of a tuple) keeps a tuple per key; its row is that
 * of the ValueState, which is smaller.
 */
public class FlinkMemory {
  static final AtomicLong results = new AtomicLong();
  static final AtomicLong sum = new AtomicLong();
  static volatile boolean filled = false;
  static volatile boolean mayGoOn = false;

  static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  static final TypeInformation<long[]> RESULT = TypeInformation.of(long[].class);
  static final TypeInformation<Tuple2<Long, byte[]>> KEPT =
      Types.TUPLE(Types.LONG, PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);

  static long mixed(long x) {
    x *= 0x9E3779B97F4A7C15L;
    x ^= x >>> 32;
    x *= 0xD6E8FEB86659FD93L;
    return x ^ x >>> 32;
  }

  /** The first records, a pause, the second ones. */
  abstract static class Pausing<T> extends RichParallelSourceFunction<T> {
    private static final int AT_ONCE = 1024;
    private final long keys;
    private final long first;
    private final long second;

    Pausing(long keys, long first, long second) {
      this.keys = keys;
      this.first = first;
      this.second = second;
    }

    abstract T make(long key);

    @Override
    public void run(SourceContext<T> out) throws InterruptedException {
      emit(out, 0, first);
      if (first > 0 || second == 0) {
        filled = true;
      }
      while (!mayGoOn) {
        Thread.sleep(10);
      }
      emit(out, first, first + second);
    }

    private void emit(SourceContext<T> out, long from, long until) {
      for (long index = from; index < until; ) {
        synchronized (out.getCheckpointLock()) {
          for (int i = 0; i < AT_ONCE && index < until; ++i, ++index) {
            out.collectWithTimestamp(make(index * 2_654_435_761L % keys), 0);
          }
        }
      }
    }

    @Override
    public void cancel() {}
  }

  public static class MakeKeys extends Pausing<Long> {
    MakeKeys(long keys, long first, long second) {
      super(keys, first, second);
    }

    @Override
    Long make(long key) {
      return key;
    }
  }

  public static class MakeKept extends Pausing<Tuple2<Long, byte[]>> {
    MakeKept(long keys) {
      super(keys, keys, 0);
    }

    @Override
    Tuple2<Long, byte[]> make(long key) {
      final byte[] payload = new byte[100];
      final long word = (mixed(key) & 0x0F0F0F0F0F0F0F0FL) + 0x6161616161616161L;
      for (int at = 0; at < payload.length; ++at) {
        payload[at] = (byte) (word >>> (at % 8 * 8));
      }
      return Tuple2.of(key, payload);
    }
  }

  public static class CountInState extends KeyedProcessFunction<Long, Long, long[]> {
    private transient ValueState<Long> count;

    @Override
    public void open(OpenContext context) {
      count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    }

    @Override
    public void processElement(Long key, Context context, Collector<long[]> out) throws Exception {
      final Long before = count.value();
      final long now = before == null ? 1 : before + 1;
      count.update(now);
      if (now == 2) {
        out.collect(new long[] {key, now});
      }
    }
  }

  public static class SetTimer extends KeyedProcessFunction<Long, Long, long[]> {
    @Override
    public void processElement(Long key, Context context, Collector<long[]> out) {
      context.timerService().registerEventTimeTimer(key + 1);
    }

    @Override
    public void onTimer(long time, OnTimerContext context, Collector<long[]> out) {
      out.collect(new long[] {context.getCurrentKey(), time});
    }
  }

  public static class SumSink extends RichSinkFunction<long[]> {
    private long seen = 0;
    private long total = 0;

    @Override
    public void invoke(long[] values, Context context) {
      long hash = 0;
      for (final long value : values) {
        hash = mixed(hash ^ value);
      }
      ++seen;
      total += hash;
    }

    @Override
    public void finish() {
      results.addAndGet(seen);
      sum.addAndGet(total);
    }
  }

  static DataStream<long[]> build(LocalStreamEnvironment environment, String row, long keys) {
    switch (row) {
      case "value":
        return environment
            .addSource(new MakeKeys(keys, keys, keys), "make", Types.LONG)
            .keyBy(key -> key, Types.LONG)
            .process(new CountInState(), RESULT);
      case "timer":
        return environment
            .addSource(new MakeKeys(keys, keys, 0), "make", Types.LONG)
            .keyBy(key -> key, Types.LONG)
            .process(new SetTimer(), RESULT);
      case "join":
        return environment
            .addSource(new MakeKept(keys), "kept", KEPT)
            .join(environment.addSource(new MakeKeys(keys, 0, keys), "others", Types.LONG))
            .where(kept -> kept.f0, Types.LONG)
            .equalTo(other -> other, Types.LONG)
            .window(TumblingEventTimeWindows.of(Duration.ofMillis(1000)))
            .apply((kept, other) -> new long[] {other, (long) WORDS.get(kept.f1, 0)}, RESULT);
      default:
        throw new IllegalArgumentException("no row " + row);
    }
  }

  /** Waits until the process uses next to no processor time, collects, and measures. */
  static long liveBytes() throws InterruptedException {
    final OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    while (!filled) {
      Thread.sleep(10);
    }
    for (long before = Long.MIN_VALUE; system.getProcessCpuTime() - before > 100_000_000L; ) {
      before = system.getProcessCpuTime();
      Thread.sleep(1_000);
    }
    System.gc();
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  public static void main(String[] args) throws Exception {
    final String row = args[0];
    final long keys = Long.parseLong(args[1]);
    final Configuration configuration = new Configuration();
    configuration.set(TaskManagerOptions.NUM_TASK_SLOTS, 1);
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.parse("64m"));
    final LocalStreamEnvironment environment =
        StreamExecutionEnvironment.createLocalEnvironment(1, configuration);
    environment.setRuntimeMode(RuntimeExecutionMode.STREAMING);
    environment.getConfig().enableObjectReuse();
    build(environment, row, keys).addSink(new SumSink());
    final long[] live = new long[1];
    final Thread measuring =
        new Thread(
            () -> {
              try {
                live[0] = liveBytes();
              } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
              }
              mayGoOn = true;
            });
    measuring.start();
    environment.execute(row);
    measuring.join();
    System.out.printf(
        Locale.ROOT,
        "{\"name\": \"flink\", \"row\": \"%s\", \"keys\": %d, \"live_bytes\": %d, "
            + "\"results\": %d, \"hash\": \"%016x\"}%n",
        row,
        keys,
        live[0],
        results.get(),
        sum.get());
    System.out.flush();
    System.exit(0); // service threads linger
  }
}
