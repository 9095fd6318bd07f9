package hummer.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;

/**
 * Where records of a native mapper or reducer become lines of TextOutputFormat, which the native
 * side has made: the job's own writer is given those of a batch as one value, without a key. So the
 * file, its codec and how it is committed are Hadoop's, and nothing is called per record.
 *
 * <p>A batch is the number of its records, 4 bytes in the machine's order, and their lines without
 * the last end of a line, which the writer adds.
 *
 * <p>Thread: one at a time.
 */
final class LineSink implements OutputSink {
  /** Counts tasks whose lines were made natively. */
  private static final String WRITE_TASKS = "NATIVE_WRITE_TASKS";
  /** Classes of which the native side knows what Java's toString says. */
  private static final Set<Class<?>> NATIVE_TEXTS =
      Set.of(Text.class, NullWritable.class, IntWritable.class, LongWritable.class);

  private final TaskInputOutputContext<?, ?, Object, Object> context;
  private final TaskCounter records;
  private final Text lines = new Text();
  private byte[] array = new byte[0];

  private LineSink(TaskInputOutputContext<?, ?, Object, Object> context, TaskCounter records) {
    this.context = context;
    this.records = records;
    context.getCounter(NativeMapOutputCollector.COUNTER_GROUP, WRITE_TASKS).increment(1);
  }

  /** Why records have to go out as objects; null: nothing hinders lines. */
  static String hindrance(TaskInputOutputContext<?, ?, Object, Object> context)
      throws ClassNotFoundException {
    Class<?> format = context.getOutputFormatClass();
    if (format != TextOutputFormat.class) {
      return "the OutputFormat " + format.getName() + " has no native form";
    }
    Class<?> keys = context.getOutputKeyClass();
    Class<?> values = context.getOutputValueClass();
    for (Class<?> each : new Class<?>[] {keys, values}) {
      if (!NATIVE_TEXTS.contains(each)) {
        return "the text of the class " + each.getName() + " has no native form";
      }
    }
    return keys == NullWritable.class && values == NullWritable.class
        ? "neither keys nor values have a text" : null;
  }

  /** Lines where nothing hinders them, else objects. The native side is told by the settings. */
  static OutputSink create(TaskInputOutputContext<?, ?, Object, Object> context,
      TaskCounter records, TaskSettings settings) throws IOException, ClassNotFoundException {
    if (hindrance(context) != null) {
      return new RecordSink(context, context.getOutputKeyClass(), context.getOutputValueClass());
    }
    settings.set("lines", true).set("separator",
        context.getConfiguration().get(TextOutputFormat.SEPARATOR, "\t"));
    return new LineSink(context, records);
  }

  @Override
  public void take(ByteBuffer batch) throws IOException, InterruptedException {
    int count = batch.order(ByteOrder.nativeOrder()).getInt();
    int size = batch.remaining();
    if (array.length < size) {
      array = new byte[size];
    }
    batch.get(array, 0, size);
    lines.set(array, 0, size);
    context.write(NullWritable.get(), lines);
    // One of them Hadoop has counted.
    context.getCounter(records).increment(count - 1L);
  }
}
