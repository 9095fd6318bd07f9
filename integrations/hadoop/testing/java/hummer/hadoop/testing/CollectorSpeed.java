package hummer.hadoop.testing;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;

/**
 * How much of a processor a map task takes with its collector, from the first record to the file
 * at the end: rows as TeraSort has them, keys of 10 bytes and values of 88, to 16 partitions. It is
 * the time of all threads of the process, which does not depend on what else the machine does.
 * Hadoop's collector and the native one take turns, and the best run of each counts. What makes the
 * rows and their bytes is in both, and is measured by itself, so that what sorting and spilling takes
 * can be told.
 *
 * <p>Arguments: a folder, and how many rows.
 */
final class CollectorSpeed {
  private static final int TURNS = 3;
  private static final int PARTITIONS = 16;
  private static final int SORT_MEGABYTES = 320;
  private static final int KEY_BYTES = 10;
  private static final int VALUE_BYTES = 88;
  private static final int BATCH_BYTES = 256 * 1024;

  private CollectorSpeed() {}

  private static long processorNanoseconds() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  /** Who takes the records. */
  private interface Receiver {
    void take(Text key, Text value, int partition) throws Exception;
  }

  private static void makeRows(int rows, Receiver receiver) throws Exception {
    Text key = new Text();
    Text value = new Text();
    byte[] keyBytes = new byte[KEY_BYTES];
    byte[] valueBytes = new byte[VALUE_BYTES];
    long random = 88172645463325252L;
    for (int i = 0; i < rows; i++) {
      random ^= random << 13;
      random ^= random >>> 7;
      random ^= random << 17;
      for (int at = 0; at < KEY_BYTES; at++) {
        keyBytes[at] = (byte) (random >>> (at * 6));
      }
      key.set(keyBytes, 0, KEY_BYTES);
      value.set(valueBytes, 0, VALUE_BYTES);
      receiver.take(key, value, (int) (random >>> 60));
    }
  }

  /** What a task takes that makes the rows and their bytes, and sorts and writes nothing. */
  private static double secondsOfBytes(int rows) throws Exception {
    long begin = processorNanoseconds();
    DataOutputBuffer bytes = new DataOutputBuffer();
    makeRows(rows, (key, value, partition) -> {
      if (bytes.getLength() > BATCH_BYTES) {
        bytes.reset();
      }
      key.write(bytes);
      value.write(bytes);
    });
    return (processorNanoseconds() - begin) * 1e-9;
  }

  private static double secondsOf(String collector, Path directory, int rows) throws Exception {
    JobConf job = new JobConf();
    job.setNumReduceTasks(PARTITIONS);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(Text.class);
    job.setInt("mapreduce.task.io.sort.mb", SORT_MEGABYTES);
    CollectorRun run = new CollectorRun(job, directory);
    run.init(collector);
    long begin = processorNanoseconds();
    makeRows(rows, run::collect);
    run.finish();
    double seconds = (processorNanoseconds() - begin) * 1e-9;
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
    return seconds;
  }

  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    int rows = Integer.parseInt(arguments[1]);
    double own = Double.MAX_VALUE;
    double ours = Double.MAX_VALUE;
    double bytes = Double.MAX_VALUE;
    for (int turn = 0; turn < TURNS; turn++) {
      own = Math.min(own, secondsOf(CollectorComparison.OWN, directory.resolve("own"), rows));
      ours = Math.min(ours, secondsOf(CollectorComparison.NATIVE, directory.resolve("ours"), rows));
      bytes = Math.min(bytes, secondsOfBytes(rows));
    }
    System.out.println(String.format(Locale.ROOT,
        "speed: %.2f processor seconds natively, %.2f by Hadoop's collector, %.2f to make the "
            + "bytes, for %d rows: %.2f times as fast; sorting and spilling takes %.3f of Hadoop's",
        ours, own, bytes, rows, own / ours, (ours - bytes) / (own - bytes)));
  }
}
