import java.time.Duration;
import java.util.Locale;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.legacy.RichSinkFunction;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.streaming.api.functions.windowing.WindowFunction;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/**
 * The windowed count of this folder in Flink, in one process, at parallelism 1, with object reuse
 * and state on the heap: FlinkWindows RECORDS KEYS RECORDS_PER_MS SIZE_MS. The input and the
 * checksum are those of workload.hpp; a watermark follows every 1,024 records. Prints the same line
 * of JSON as windows_bare; the clock starts with the first record and stops with the last result.
 */
public class FlinkWindows {
  static volatile long begin;
  static volatile long end;
  static volatile long results;
  static volatile long sum;

  static long mixed(long x) {
    x *= 0x9E3779B97F4A7C15L;
    x ^= x >>> 32;
    x *= 0xD6E8FEB86659FD93L;
    return x ^ x >>> 32;
  }

  public static void main(String[] args) throws Exception {
    final long records = Long.parseLong(args[0]);
    final long keys = Long.parseLong(args[1]);
    final long recordsPerMs = Long.parseLong(args[2]);
    final long sizeMs = Long.parseLong(args[3]);

    final Configuration configuration = new Configuration();
    configuration.set(TaskManagerOptions.NUM_TASK_SLOTS, 1);
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.parse("64m"));
    final LocalStreamEnvironment environment =
        StreamExecutionEnvironment.createLocalEnvironment(1, configuration);
    environment.setRuntimeMode(RuntimeExecutionMode.STREAMING);
    environment.getConfig().enableObjectReuse();
    environment
        .addSource(new Make(records, keys, recordsPerMs), "make", Types.LONG)
        .keyBy(new Self(), Types.LONG)
        .window(TumblingEventTimeWindows.of(Duration.ofMillis(sizeMs)))
        .aggregate(
            new Count(), new Stamp(), Types.LONG, TypeInformation.of(long[].class))
        .addSink(new SumSink());
    environment.execute("windows");
    System.out.printf(
        Locale.ROOT,
        "{\"name\": \"flink\", \"records\": %d, \"seconds\": %.6f, \"results\": %d, "
            + "\"hash\": \"%016x\"}%n",
        records,
        (end - begin) / 1e9,
        results,
        sum);
    System.out.flush();
    System.exit(0); // service threads linger
  }

  /** Takes the lock of checkpoints once for many records. */
  public static class Make extends RichParallelSourceFunction<Long> {
    private static final long AT_ONCE = 1024;
    private final long records;
    private final long keys;
    private final long recordsPerMs;
    private volatile boolean cancelled = false;

    Make(long records, long keys, long recordsPerMs) {
      this.records = records;
      this.keys = keys;
      this.recordsPerMs = recordsPerMs;
    }

    @Override
    public void run(SourceContext<Long> out) {
      begin = System.nanoTime();
      for (long first = 0; first < records && !cancelled; first += AT_ONCE) {
        final long last = Math.min(first + AT_ONCE, records);
        synchronized (out.getCheckpointLock()) {
          for (long index = first; index < last; ++index) {
            final long hash = mixed(index);
            // The upper half of the unsigned product; keys is positive.
            final long key = Math.multiplyHigh(hash, keys) + ((hash >> 63) & keys);
            out.collectWithTimestamp(key, index / recordsPerMs);
          }
          out.emitWatermark(new Watermark((last - 1) / recordsPerMs - 1));
        }
      }
    }

    @Override
    public void cancel() {
      cancelled = true;
    }
  }

  public static class Self implements KeySelector<Long, Long> {
    @Override
    public Long getKey(Long key) {
      return key;
    }
  }

  public static class Count implements AggregateFunction<Long, Long, Long> {
    @Override
    public Long createAccumulator() {
      return 0L;
    }

    @Override
    public Long add(Long key, Long count) {
      return count + 1;
    }

    @Override
    public Long getResult(Long count) {
      return count;
    }

    @Override
    public Long merge(Long a, Long b) {
      return a + b;
    }
  }

  /** key, start, end, count */
  public static class Stamp implements WindowFunction<Long, long[], Long, TimeWindow> {
    private final long[] result = new long[4];

    @Override
    public void apply(Long key, TimeWindow window, Iterable<Long> counts, Collector<long[]> out) {
      result[0] = key;
      result[1] = window.getStart();
      result[2] = window.getEnd();
      result[3] = counts.iterator().next();
      out.collect(result);
    }
  }

  public static class SumSink extends RichSinkFunction<long[]> {
    private long seen = 0;
    private long total = 0;

    @Override
    public void invoke(long[] one, Context context) {
      ++seen;
      total += mixed(one[0] ^ mixed((one[1] + 3 * one[2]) ^ (one[3] << 40)));
    }

    @Override
    public void finish() {
      results = seen;
      sum = total;
      end = System.nanoTime();
    }
  }
}
