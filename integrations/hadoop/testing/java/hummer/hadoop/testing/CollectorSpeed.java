package hummer.hadoop.testing;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.JobConf;

/**
 * How much of a processor a map task takes with its collector, from the first record to the file
 * at the end: rows as TeraSort has them, keys of 10 bytes and values of 88, to 16 partitions. It is
 * the time of all threads of the process, which does not depend on what else the machine does.
 * Hadoop's collector and the native one take turns, and the best run of each counts. What makes the
 * rows is in both.
 *
 * <p>Arguments: a folder, and how many rows.
 */
final class CollectorSpeed {
  private static final int TURNS = 3;
  private static final int PARTITIONS = 16;
  private static final int SORT_MEGABYTES = 320;
  private static final int KEY_BYTES = 10;
  private static final int VALUE_BYTES = 88;

  private CollectorSpeed() {}

  private static long processorNanoseconds() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static double secondsOf(String collector, Path directory, int rows) throws Exception {
    JobConf job = new JobConf();
    job.setNumReduceTasks(PARTITIONS);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(Text.class);
    job.setInt("mapreduce.task.io.sort.mb", SORT_MEGABYTES);
    CollectorRun run = new CollectorRun(job, directory);
    run.init(collector);
    Text key = new Text();
    Text value = new Text();
    byte[] keyBytes = new byte[KEY_BYTES];
    byte[] valueBytes = new byte[VALUE_BYTES];
    long random = 88172645463325252L;
    long begin = processorNanoseconds();
    for (int i = 0; i < rows; i++) {
      random ^= random << 13;
      random ^= random >>> 7;
      random ^= random << 17;
      for (int at = 0; at < KEY_BYTES; at++) {
        keyBytes[at] = (byte) (random >>> (at * 6));
      }
      key.set(keyBytes, 0, KEY_BYTES);
      value.set(valueBytes, 0, VALUE_BYTES);
      run.collect(key, value, (int) (random >>> 60));
    }
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
    List<String> collectors = List.of(CollectorComparison.OWN, CollectorComparison.NATIVE);
    double[] best = {Double.MAX_VALUE, Double.MAX_VALUE};
    for (int turn = 0; turn < TURNS; turn++) {
      for (int which = 0; which < best.length; which++) {
        double seconds =
            secondsOf(collectors.get(which), directory.resolve("speed-" + turn + which), rows);
        best[which] = Math.min(best[which], seconds);
      }
    }
    System.out.println(String.format(Locale.ROOT,
        "speed: %.2f processor seconds natively, %.2f by Hadoop's collector, for %d rows: "
            + "%.2f times as fast",
        best[1], best[0], rows, best[0] / best[1]));
  }
}
