import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.api.java.tuple.Tuple8;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.legacy.RichSinkFunction;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.streaming.api.functions.windowing.WindowFunction;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/**
 * The rows of this folder in Flink, in one process: FlinkStateful ROW PARALLELISM RECORDS KEYS
 * RECORDS_PER_WINDOW WINDOW_MS. State on the heap, object reuse, no checkpoints. Input and checksum
 * are those of workload.hpp; a watermark follows every 1,024 records of a subtask. Records are tuples,
 * the text of a record is one array of bytes, and sources fill the same ones again: each is cheaper
 * for Flink than classes with a field per column.
 *
 * <p>Prints the line of JSON of stateful_bare. The clock starts with the first record and stops with
 * the last result; the warm part starts with the second round of keys, or, where there are no rounds,
 * behind a quarter of the records.
 */
public class FlinkStateful {
  static final AtomicLong begin = new AtomicLong(Long.MAX_VALUE);
  static final AtomicLong warm = new AtomicLong();
  static final AtomicLong end = new AtomicLong();
  static final AtomicLong results = new AtomicLong();
  static final AtomicLong sum = new AtomicLong();

  static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  static final TypeInformation<byte[]> TEXT = PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO;
  static final TypeInformation<long[]> RESULT = TypeInformation.of(long[].class);
  // id, time, text
  static final TypeInformation<Tuple3<Long, Long, byte[]>> PERSON =
      Types.TUPLE(Types.LONG, Types.LONG, TEXT);
  // id, seller, time, expires, first, reserve, category, text
  static final TypeInformation<Tuple8<Long, Long, Long, Long, Long, Long, Integer, byte[]>> AUCTION =
      Types.TUPLE(
          Types.LONG, Types.LONG, Types.LONG, Types.LONG, Types.LONG, Types.LONG, Types.INT, TEXT);
  // auction, bidder, price, time
  static final TypeInformation<Tuple4<Long, Long, Long, Long>> BID =
      Types.TUPLE(Types.LONG, Types.LONG, Types.LONG, Types.LONG);
  // key, time, kind or processor usage, what else there is
  static final TypeInformation<Tuple4<Long, Long, Integer, byte[]>> EVENT =
      Types.TUPLE(Types.LONG, Types.LONG, Types.INT, TEXT);

  static long mixed(long x) {
    x *= 0x9E3779B97F4A7C15L;
    x ^= x >>> 32;
    x *= 0xD6E8FEB86659FD93L;
    return x ^ x >>> 32;
  }

  /** Of a draw without sign; bound is positive. */
  static long below(long draw, long bound) {
    return Math.multiplyHigh(draw, bound) + ((draw >> 63) & bound);
  }

  static void fill(byte[] text, long draw) {
    final long word = (draw & 0x0F0F0F0F0F0F0F0FL) + 0x6161616161616161L;
    int at = 0;
    for (; at + 8 <= text.length; at += 8) {
      WORDS.set(text, at, word);
    }
    for (; at < text.length; ++at) {
      text[at] = (byte) (word >>> (at % 8 * 8));
    }
  }

  static long firstLetters(byte[] text) {
    return (long) WORDS.get(text, 0);
  }

  /** What workload.hpp makes of an index. */
  static class Scale implements java.io.Serializable {
    final String row;
    final long records;
    final long keys;
    final long perWindow;
    final long windowMs;

    Scale(String[] args) {
      row = args[0];
      records = Long.parseLong(args[2]);
      keys = Long.parseLong(args[3]);
      perWindow = Long.parseLong(args[4]);
      windowMs = Long.parseLong(args[5]);
    }

    boolean inRounds() {
      return row.equals("count") || row.equals("function");
    }

    long time(long event) {
      return event * windowMs / perWindow;
    }

    long skewed(long draw) {
      final long octaves = 64 - Long.numberOfLeadingZeros(keys);
      final long first = 1L << below(draw, octaves);
      return first - 1 + below(mixed(draw), Math.min(first, keys - first + 1));
    }

    static long oneOfNewest(long newest, long draw) {
      final long among = draw < 0 ? 50 : 5_000;
      return newest - below(draw << 1, Math.min(among, newest + 1));
    }
  }

  /** Subtask s of p makes the indexes s, s + p, ...; takes the lock of checkpoints once for many. */
  abstract static class Make<T> extends RichParallelSourceFunction<T> {
    private static final int AT_ONCE = 1024;
    protected final Scale scale;
    private final long count;
    private final long mark;
    private volatile boolean cancelled = false;

    Make(Scale scale, long count) {
      this.scale = scale;
      this.count = count;
      this.mark = scale.inRounds() ? scale.keys : count / 4;
    }

    abstract T make(long index);

    abstract long timeOf(long index);

    @Override
    public void run(SourceContext<T> out) {
      final int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
      final int subtasks = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
      begin.accumulateAndGet(System.nanoTime(), Math::min);
      long index = subtask;
      while (index < count && !cancelled) {
        synchronized (out.getCheckpointLock()) {
          for (int i = 0; i < AT_ONCE && index < count; ++i, index += subtasks) {
            out.collectWithTimestamp(make(index), timeOf(index));
          }
          if (!scale.inRounds() && index < count) {
            out.emitWatermark(new Watermark(timeOf(index) - 1));
          }
        }
        if (index >= mark) {
          warm.compareAndSet(0, System.nanoTime());
        }
      }
    }

    @Override
    public void cancel() {
      cancelled = true;
    }
  }

  public static class MakeKeys extends Make<Long> {
    MakeKeys(Scale scale) {
      super(scale, scale.records);
    }

    @Override
    Long make(long index) {
      return index * 2_654_435_761L % scale.keys;
    }

    @Override
    long timeOf(long index) {
      return 0;
    }
  }

  /** An advertisement event (78 bytes) or a task event (64). */
  public static class MakeEvents extends Make<Tuple4<Long, Long, Integer, byte[]>> {
    private final boolean isAd;
    private final Tuple4<Long, Long, Integer, byte[]> event;

    MakeEvents(Scale scale) {
      super(scale, scale.records);
      isAd = scale.row.equals("ysb");
      event = Tuple4.of(0L, 0L, 0, new byte[isAd ? 61 : 44]);
    }

    @Override
    Tuple4<Long, Long, Integer, byte[]> make(long index) {
      final long draw = mixed(index);
      event.f0 = below(draw, scale.keys);
      event.f1 = timeOf(index);
      event.f2 = (int) (isAd ? below(draw << 32, 3) : mixed(draw) & 0xFFFFF);
      fill(event.f3, draw);
      return event;
    }

    @Override
    long timeOf(long index) {
      return scale.time(index);
    }
  }

  public static class MakeSkewedBids extends Make<Tuple4<Long, Long, Long, Long>> {
    private final Tuple4<Long, Long, Long, Long> bid = Tuple4.of(0L, 0L, 0L, 0L);

    MakeSkewedBids(Scale scale) {
      super(scale, scale.records);
    }

    @Override
    Tuple4<Long, Long, Long, Long> make(long index) {
      final long draw = mixed(index);
      bid.f0 = scale.skewed(draw);
      bid.f1 = draw & 0xFFFF;
      bid.f2 = mixed(draw) & 0xFFFFF;
      bid.f3 = timeOf(index);
      return bid;
    }

    @Override
    long timeOf(long index) {
      return scale.time(index);
    }
  }

  public static class MakePersons extends Make<Tuple3<Long, Long, byte[]>> {
    private final long others;
    private final Tuple3<Long, Long, byte[]> person = Tuple3.of(0L, 0L, new byte[190]);

    MakePersons(Scale scale, long others) {
      super(scale, scale.records / (1 + others));
      this.others = others;
    }

    @Override
    Tuple3<Long, Long, byte[]> make(long index) {
      person.f0 = index;
      person.f1 = timeOf(index);
      fill(person.f2, mixed(index));
      return person;
    }

    @Override
    long timeOf(long index) {
      return scale.time(index * (1 + others));
    }
  }

  public static class MakeAuctions
      extends Make<Tuple8<Long, Long, Long, Long, Long, Long, Integer, byte[]>> {
    private final Tuple8<Long, Long, Long, Long, Long, Long, Integer, byte[]> auction =
        Tuple8.of(0L, 0L, 0L, 0L, 100L, 0L, 0, new byte[217]);

    MakeAuctions(Scale scale) {
      super(scale, scale.records / 4 * 3);
    }

    @Override
    Tuple8<Long, Long, Long, Long, Long, Long, Integer, byte[]> make(long index) {
      final long draw = mixed(index);
      auction.f0 = index;
      auction.f1 = Scale.oneOfNewest(index / 3, draw);
      auction.f2 = timeOf(index);
      auction.f3 = auction.f2 + 20_000;
      auction.f5 = below(mixed(draw), 100_000);
      auction.f6 = (int) (10 + Long.remainderUnsigned(draw, 5));
      fill(auction.f7, draw);
      return auction;
    }

    @Override
    long timeOf(long index) {
      return scale.time(index + index / 3 + 1);
    }
  }

  public static class MakeBids extends Make<Tuple4<Long, Long, Long, Long>> {
    private final Tuple4<Long, Long, Long, Long> bid = Tuple4.of(0L, 0L, 0L, 0L);

    MakeBids(Scale scale) {
      super(scale, scale.records / 11 * 10);
    }

    @Override
    Tuple4<Long, Long, Long, Long> make(long index) {
      final long draw = mixed(index);
      final long further = mixed(draw);
      bid.f0 = below(further, 1_000);
      bid.f1 = Scale.oneOfNewest(index / 10, draw);
      bid.f2 = further & 0xFFFFF;
      bid.f3 = timeOf(index);
      return bid;
    }

    @Override
    long timeOf(long index) {
      return scale.time(index + index / 10 + 1);
    }
  }

  /** Emits a key with its count when its last record has come. */
  public static class CountUp extends KeyedProcessFunction<Long, Long, long[]> {
    private final long last;
    private transient ValueState<Long> count;

    CountUp(long last) {
      this.last = last;
    }

    @Override
    public void open(OpenContext context) {
      count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    }

    @Override
    public void processElement(Long key, Context context, Collector<long[]> out) throws Exception {
      final Long before = count.value();
      final long now = before == null ? 1 : before + 1;
      count.update(now);
      if (now == last) {
        out.collect(new long[] {key, now});
      }
    }
  }

  /** A sum and a count, or a maximum in place of the sum. */
  abstract static class Fold<T> implements AggregateFunction<T, long[], Long> {
    @Override
    public long[] createAccumulator() {
      return new long[2];
    }

    @Override
    public long[] merge(long[] a, long[] b) {
      throw new UnsupportedOperationException("windows on a grid do not merge");
    }
  }

  public static class Count implements AggregateFunction<Long, Long, Long> {
    @Override
    public Long createAccumulator() {
      return 0L;
    }

    @Override
    public Long add(Long ad, Long count) {
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

  public static class HighestPrice extends Fold<Tuple4<Long, Long, Long, Long>> {
    @Override
    public long[] add(Tuple4<Long, Long, Long, Long> bid, long[] highest) {
      highest[0] = Math.max(highest[0], bid.f2);
      return highest;
    }

    @Override
    public Long getResult(long[] highest) {
      return highest[0];
    }
  }

  public static class MeanUsage extends Fold<Tuple4<Long, Long, Integer, byte[]>> {
    @Override
    public long[] add(Tuple4<Long, Long, Integer, byte[]> event, long[] usage) {
      usage[0] += event.f2;
      ++usage[1];
      return usage;
    }

    @Override
    public Long getResult(long[] usage) {
      return usage[0] / usage[1];
    }
  }

  /** key, start, value */
  public static class Stamp implements WindowFunction<Long, long[], Long, TimeWindow> {
    private final long[] result = new long[3];

    @Override
    public void apply(Long key, TimeWindow window, Iterable<Long> values, Collector<long[]> out) {
      result[0] = key;
      result[1] = window.getStart();
      result[2] = values.iterator().next();
      out.collect(result);
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
      end.accumulateAndGet(System.nanoTime(), Math::max);
    }
  }

  static DataStream<long[]> build(LocalStreamEnvironment environment, Scale scale) {
    final TumblingEventTimeWindows windows =
        TumblingEventTimeWindows.of(Duration.ofMillis(scale.windowMs));
    switch (scale.row) {
      case "count":
      case "function":
        return environment
            .addSource(new MakeKeys(scale), "make", Types.LONG)
            .keyBy(key -> key, Types.LONG)
            .process(new CountUp(scale.records / scale.keys), RESULT);
      case "ysb":
        return environment
            .addSource(new MakeEvents(scale), "make", EVENT)
            .filter(event -> event.f2 == 0)
            .map(event -> event.f0)
            .returns(Types.LONG)
            .keyBy(ad -> ad, Types.LONG)
            .window(windows)
            .aggregate(new Count(), new Stamp(), Types.LONG, RESULT);
      case "cm":
        return environment
            .addSource(new MakeEvents(scale), "make", EVENT)
            .keyBy(event -> event.f0, Types.LONG)
            .window(windows)
            .aggregate(new MeanUsage(), new Stamp(), RESULT, RESULT);
      case "nexmark7":
        return environment
            .addSource(new MakeSkewedBids(scale), "make", BID)
            .keyBy(bid -> bid.f0, Types.LONG)
            .window(windows)
            .aggregate(new HighestPrice(), new Stamp(), RESULT, RESULT);
      case "nexmark8":
        return environment
            .addSource(new MakePersons(scale, 3), "persons", PERSON)
            .join(environment.addSource(new MakeAuctions(scale), "auctions", AUCTION))
            .where(person -> person.f0, Types.LONG)
            .equalTo(auction -> auction.f1, Types.LONG)
            .window(windows)
            .apply(
                (person, auction) ->
                    new long[] {person.f0, firstLetters(person.f2), auction.f0, auction.f5},
                RESULT);
      case "nexmark11":
        // Records a gap apart are two sessions in Hummer, one in Flink.
        return environment
            .addSource(new MakePersons(scale, 10), "persons", PERSON)
            .join(environment.addSource(new MakeBids(scale), "bids", BID))
            .where(person -> person.f0, Types.LONG)
            .equalTo(bid -> bid.f1, Types.LONG)
            .window(EventTimeSessionWindows.withGap(Duration.ofMillis(scale.windowMs - 1)))
            .apply(
                (person, bid) -> new long[] {person.f0, firstLetters(person.f2), bid.f0, bid.f2},
                RESULT);
      default:
        throw new IllegalArgumentException("no row " + scale.row);
    }
  }

  public static void main(String[] args) throws Exception {
    final Scale scale = new Scale(args);
    final int parallelism = Integer.parseInt(args[1]);
    final Configuration configuration = new Configuration();
    configuration.set(TaskManagerOptions.NUM_TASK_SLOTS, parallelism);
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.parse("64m"));
    final LocalStreamEnvironment environment =
        StreamExecutionEnvironment.createLocalEnvironment(parallelism, configuration);
    environment.setRuntimeMode(RuntimeExecutionMode.STREAMING);
    environment.getConfig().enableObjectReuse();
    build(environment, scale).addSink(new SumSink());
    environment.execute(scale.row);
    System.out.printf(
        Locale.ROOT,
        "{\"name\": \"flink\", \"row\": \"%s\", \"records\": %d, \"seconds\": %.6f, "
            + "\"warm_records\": %d, \"warm_seconds\": %.6f, \"results\": %d, \"hash\": \"%016x\"}%n",
        scale.row,
        scale.records,
        (end.get() - begin.get()) / 1e9,
        scale.inRounds() ? scale.records - scale.keys : scale.records / 4 * 3,
        (end.get() - warm.get()) / 1e9,
        results.get(),
        sum.get());
    System.out.flush();
    System.exit(0); // service threads linger
  }
}
