import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.terasort.TeraSort;
import org.apache.hadoop.examples.terasort.TeraValidate;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * Hadoop's own TeraSort and TeraValidate, by the local job runner with as many tasks at once as
 * THREADS.
 *
 *   HadoopTeraSort sort|validate THREADS INPUT-DIRECTORY OUTPUT-DIRECTORY
 *
 * Prints one JSON object with the seconds from the job's start to its end; the start of the JVM is
 * not among them.
 */
public final class HadoopTeraSort {
  public static void main(String[] words) throws Exception {
    int threads = Integer.parseInt(words[1]);
    Configuration configuration = new Configuration();
    configuration.set("mapreduce.framework.name", "local");
    configuration.set("fs.defaultFS", "file:///");
    configuration.setInt("mapreduce.local.map.tasks.maximum", threads);
    configuration.setInt("mapreduce.local.reduce.tasks.maximum", threads);
    configuration.setInt("mapreduce.job.reduces", threads);
    configuration.setInt("mapreduce.task.io.sort.mb", 256);
    Tool tool = words[0].equals("sort") ? new TeraSort() : new TeraValidate();
    long begin = System.nanoTime();
    int code = ToolRunner.run(configuration, tool, new String[] {words[2], words[3]});
    double seconds = (System.nanoTime() - begin) / 1e9;
    System.out.printf("{\"seconds\": %.3f, \"code\": %d}%n", seconds, code);
    System.exit(code);
  }
}
