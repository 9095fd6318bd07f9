import java.io.File;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.functions.TableFunction;
import org.apache.flink.util.Collector;

/**
 * WordCount in Flink, in one process: FlinkWordcount stream|sql PARALLELISM WARM_UP WARM_UP_OUT
 * FILE OUT. Prints the seconds of the second job. The outs are directories of
 * `word<tab>count` part files.
 *
 * <p>stream: DataStream with object reuse, streaming mode, state on the heap; every word goes to
 * its key's state and each key fires once, at the end of the input. (Batch mode would sort all
 * words.) sql: batch mode, a table function that splits, and Flink's own two-phase hash aggregate.
 */
public class FlinkWordcount {
  public static void main(String[] args) throws Exception {
    final boolean sql = args[0].equals("sql");
    final int parallelism = Integer.parseInt(args[1]);
    run(sql, parallelism, args[2], args[3]);
    final long begin = System.nanoTime();
    run(sql, parallelism, args[4], args[5]);
    System.out.printf("%.6f%n", (System.nanoTime() - begin) / 1e9);
    System.out.flush();
    System.exit(0); // metaspace and other service threads linger
  }

  private static void run(boolean sql, int parallelism, String file, String out) throws Exception {
    if (sql) {
      runSql(parallelism, file, out);
    } else {
      runStream(parallelism, file, out);
    }
  }

  private static Configuration configuration() {
    final Configuration configuration = new Configuration();
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.parse("1g"));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.parse("128m"));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.parse("128m"));
    return configuration;
  }

  private static void runStream(int parallelism, String file, String out) throws Exception {
    final LocalStreamEnvironment environment =
        StreamExecutionEnvironment.createLocalEnvironment(parallelism, configuration());
    environment.setRuntimeMode(RuntimeExecutionMode.STREAMING);
    environment.getConfig().enableObjectReuse();
    final FileSource<String> source =
        FileSource.forRecordStreamFormat(new TextLineInputFormat(), new Path(file)).build();
    environment
        .fromSource(source, WatermarkStrategy.noWatermarks(), "text")
        .flatMap(new Split())
        .returns(Types.TUPLE(Types.STRING, Types.LONG))
        .keyBy(word -> word.f0, Types.STRING)
        .process(new Count())
        .returns(Types.STRING)
        .sinkTo(FileSink.forRowFormat(new Path(out), new SimpleStringEncoder<String>()).build());
    environment.execute("wordcount");
  }

  /** Reuses one tuple; cuts words without a regular expression. */
  public static class Split implements FlatMapFunction<String, Tuple2<String, Long>> {
    private final Tuple2<String, Long> word = Tuple2.of("", 1L);

    @Override
    public void flatMap(String line, Collector<Tuple2<String, Long>> out) {
      int begin = 0;
      for (int end = line.indexOf(' '); end >= 0; end = line.indexOf(' ', begin)) {
        if (end > begin) {
          word.f0 = line.substring(begin, end);
          out.collect(word);
        }
        begin = end + 1;
      }
      if (begin < line.length()) {
        word.f0 = line.substring(begin);
        out.collect(word);
      }
    }
  }

  /** Counts in state; a timer at the end of time prints each key once. */
  public static class Count extends KeyedProcessFunction<String, Tuple2<String, Long>, String> {
    private transient ValueState<long[]> count;

    @Override
    public void open(org.apache.flink.api.common.functions.OpenContext context) {
      count =
          getRuntimeContext()
              .getState(
                  new ValueStateDescriptor<>(
                      "count",
                      org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo
                          .LONG_PRIMITIVE_ARRAY_TYPE_INFO));
    }

    @Override
    public void processElement(Tuple2<String, Long> word, Context context, Collector<String> out)
        throws Exception {
      final long[] value = count.value();
      if (value == null) {
        count.update(new long[] {word.f1});
        context.timerService().registerEventTimeTimer(Long.MAX_VALUE);
      } else {
        value[0] += word.f1; // the heap backend hands out the object itself
      }
    }

    @Override
    public void onTimer(long time, OnTimerContext context, Collector<String> out)
        throws Exception {
      out.collect(context.getCurrentKey() + "\t" + count.value()[0]);
    }
  }

  private static void runSql(int parallelism, String file, String out) throws Exception {
    final Configuration configuration = configuration();
    configuration.setString("parallelism.default", Integer.toString(parallelism));
    configuration.setString("table.exec.resource.default-parallelism", "" + parallelism);
    configuration.setString("pipeline.object-reuse", "true");
    configuration.setString("taskmanager.numberOfTaskSlots", "" + parallelism);
    final TableEnvironment environment =
        TableEnvironment.create(
            EnvironmentSettings.newInstance().inBatchMode().withConfiguration(configuration)
                .build());
    environment.createTemporarySystemFunction("SPLIT_WORDS", SplitWords.class);
    environment.executeSql(
        "CREATE TEMPORARY TABLE text (line STRING) WITH ('connector' = 'filesystem', "
            + "'format' = 'raw', 'path' = '" + new File(file).toURI() + "')");
    environment.executeSql(
        "CREATE TEMPORARY TABLE counts (line STRING) WITH ('connector' = 'filesystem', "
            + "'format' = 'raw', 'path' = '" + new File(out).toURI() + "')");
    environment
        .executeSql(
            "INSERT INTO counts SELECT CONCAT(word, CHR(9), CAST(COUNT(*) AS STRING)) "
                + "FROM text, LATERAL TABLE(SPLIT_WORDS(line)) AS t(word) GROUP BY word")
        .await();
  }

  public static class SplitWords extends TableFunction<String> {
    public void eval(String line) {
      int begin = 0;
      for (int end = line.indexOf(' '); end >= 0; end = line.indexOf(' ', begin)) {
        if (end > begin) {
          collect(line.substring(begin, end));
        }
        begin = end + 1;
      }
      if (begin < line.length()) {
        collect(line.substring(begin));
      }
    }
  }
}
