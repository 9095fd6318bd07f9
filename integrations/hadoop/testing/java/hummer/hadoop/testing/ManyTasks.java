package hummer.hadoop.testing;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/**
 * Many tasks in one process, with native mappers, combiners, merges and reducers: what the process
 * has of memory and open files does not grow with them. The heap is all there from the begin, so
 * what grows is outside of it.
 *
 * <p>Arguments: a folder, the class library `letters`, how many tasks, and how many MiB the process
 * may grow.
 */
final class ManyTasks {
  private static final int LINE_BYTES = 64;
  private static final int WARM_UP_ROUNDS = 2;

  private final Path directory;
  private final Path library;
  private int jobs;

  private ManyTasks(Path directory, Path library) {
    this.directory = directory;
    this.library = library;
  }

  private void run(int tasks) throws Exception {
    Path input = Files.createDirectories(directory.resolve("input-" + ++jobs));
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < tasks * 4; i++) {
      lines.append("line ".repeat(LINE_BYTES / 5)).append("\n");
    }
    Files.writeString(input.resolve("lines"), lines);
    Configuration configuration = new Configuration();
    configuration.set("fs.defaultFS", "file:///");
    configuration.set("mapreduce.framework.name", "local");
    configuration.set("hadoop.tmp.dir", directory.resolve("local").toString());
    configuration.setInt("mapreduce.task.io.sort.mb", 1);
    configuration.setInt("mapreduce.client.completion.pollinterval", 50);
    Job job = Job.getInstance(configuration, "many tasks");
    job.setOutputKeyClass(Text.class);
    job.setMapOutputValueClass(Text.class);
    job.setOutputValueClass(Text.class);
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(input.toUri()));
    FileInputFormat.setMaxInputSplitSize(job, Math.max(1, lines.length() / tasks));
    FileOutputFormat.setOutputPath(job,
        new org.apache.hadoop.fs.Path(directory.resolve("output-" + jobs).toUri()));
    NativeJobs.mapNatively(job, "letters.LetterMapper");
    job.getConfiguration().set("hummer.libraries", library.toString());
    job.getConfiguration().set("hummer.combiner", "letters.TextSumCombiner");
    NativeJobs.mergeNatively(job);
    NativeJobs.reduceNatively(job, "letters.TextSumReducer");
    if (!job.waitForCompletion(false)) {
      throw new IOException("a job failed");
    }
    long nativeTasks = job.getCounters().findCounter("Hummer", "NATIVE_MAP_TASKS").getValue();
    if (nativeTasks < tasks) {
      throw new IOException("only " + nativeTasks + " tasks are native");
    }
  }

  private static long residentBytes() throws IOException {
    String[] pages = Files.readString(Path.of("/proc/self/statm")).split(" ");
    return Long.parseLong(pages[1]) * 4096;
  }

  private static int openFiles() {
    String[] names = new File("/proc/self/fd").list();
    return names == null ? -1 : names.length;
  }

  public static void main(String[] arguments) throws Exception {
    ManyTasks many = new ManyTasks(Path.of(arguments[0]).toAbsolutePath(),
        Path.of(arguments[1]).toAbsolutePath());
    int tasks = Integer.parseInt(arguments[2]);
    long mostBytes = Long.parseLong(arguments[3]) << 20;
    // So that all is loaded, compiled and allocated once.
    for (int round = 0; round < WARM_UP_ROUNDS; round++) {
      many.run(tasks / 2);
    }
    System.gc();
    long bytes = residentBytes();
    int files = openFiles();
    many.run(tasks);
    System.gc();
    long grown = residentBytes() - bytes;
    int moreFiles = openFiles() - files;
    System.out.println("many: " + tasks + " tasks: " + (grown >> 10) + " KiB more, " + moreFiles
        + " files more");
    if (grown > mostBytes || moreFiles > 4) {
      throw new IOException("the process grows with its tasks");
    }
  }
}
