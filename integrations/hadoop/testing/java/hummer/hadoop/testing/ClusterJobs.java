package hummer.hadoop.testing;

import static hummer.hadoop.testing.TestCluster.hadoopPath;
import static hummer.hadoop.testing.TestCluster.logsSay;
import static hummer.hadoop.testing.TestCluster.output;
import static hummer.hadoop.testing.TestCluster.require;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.map.InverseMapper;
import org.apache.hadoop.mapreduce.lib.map.TokenCounterMapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.mapreduce.v2.MiniMRYarnCluster;

/**
 * Jobs on a Hadoop cluster of two NodeManagers with the native collector in front, and the same
 * ones with Hadoop's alone, in this process: both leave the same output. Where it is not native the
 * log of the task says why. The jar of the plug-in comes with the job, as by -libjars.
 *
 * <p>Arguments: a folder, the jar, the class library `letters` of batch/testing, and `short` for
 * the first jobs only.
 */
final class ClusterJobs {
  private static final int MAPS = 3;
  private static final int REDUCES = 2;
  private static final int LINES_PER_MAP = 4_000;

  private final Path directory;
  private final Path jar;
  private final Path library;
  private final Configuration cluster;
  private int jobs;

  private ClusterJobs(Path directory, Path jar, Path library, Configuration cluster) {
    this.directory = directory;
    this.jar = jar;
    this.library = library;
    this.cluster = cluster;
  }

  /** Fills in what a job is. */
  private interface Description {
    void describe(Job job) throws IOException;
  }

  private void wordCount(Job job) {
    job.setMapperClass(TokenCounterMapper.class);
    job.setReducerClass(IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
  }

  private void sort(Job job, Class<? extends TestMappers.Lines> mapper, Class<?> keys) {
    job.setMapperClass(mapper);
    job.setOutputKeyClass(keys);
    job.setOutputValueClass(Text.class);
  }

  private static void compress(Job job, Class<?> codec) {
    job.getConfiguration().setBoolean("mapreduce.map.output.compress", true);
    job.getConfiguration().set("mapreduce.map.output.compress.codec", codec.getName());
  }

  /** How many jobs have been compared. */
  private int compareAll(boolean isShort) throws Exception {
    compare("word count", this::wordCount, "");
    compare("letters, by a native mapper and combiner of a class library", NativeJobs::countLetters,
        job -> {
          NativeJobs.mapNatively(job, "letters.LetterMapper");
          job.getConfiguration().set("tmpfiles", library.toUri().toString());
          job.getConfiguration().set("hummer.libraries", library.getFileName().toString());
          job.getConfiguration().set("hummer.combiner", "letters.TextSumCombiner");
          job.getConfiguration().set("hummer.partitioner", "letters.HalvesPartitioner");
        }, "");
    if (isShort) {
      return jobs / 2;
    }
    compare("word count with a combiner, and a class loader of the job's", job -> {
      wordCount(job);
      job.getConfiguration().setBoolean("mapreduce.job.classloader", true);
      job.setCombinerClass(IntSumReducer.class);
    }, "");
    compare("sort by Text, lz4", job -> {
      sort(job, TestMappers.TextKeys.class, Text.class);
      compress(job, Lz4Codec.class);
    }, "");
    compare("sort by IntWritable, zlib", job -> {
      sort(job, TestMappers.IntKeys.class, IntWritable.class);
      compress(job, DefaultCodec.class);
    }, "");
    compare("sort by LongWritable, with spills", job -> {
      sort(job, TestMappers.LongKeys.class, LongWritable.class);
      job.getConfiguration().setInt("mapreduce.task.io.sort.mb", 1);
      job.getConfiguration().setInt(TestMappers.COPIES, 10);
    }, "");
    compare("sort by BytesWritable, snappy", job -> {
      sort(job, TestMappers.BytesKeys.class, BytesWritable.class);
      compress(job, SnappyCodec.class);
    }, "");
    compare("sort by a comparator of the job's own", job -> {
      sort(job, TestMappers.TextKeys.class, Text.class);
      job.setSortComparatorClass(TestMappers.Backwards.class);
    }, "sorts its keys by " + TestMappers.Backwards.class.getName());
    compare("inverted lines, whose keys are a file's positions", job -> {
      job.setMapperClass(InverseMapper.class);
      job.setOutputKeyClass(Text.class);
      job.setOutputValueClass(LongWritable.class);
    }, "");
    return jobs / 2;
  }

  /** `reason`: what the log says where the native collector is passed over; else it is empty. */
  private void compare(String name, Description description, String reason) throws Exception {
    compare(name, description, job -> {}, reason);
  }

  /** `natively`: what the job is besides, on the cluster. */
  private void compare(String name, Description description, Description natively, String reason)
      throws Exception {
    Job own = run(description, false);
    Job ours = run(job -> {
      description.describe(job);
      natively.describe(job);
    }, true);
    require(Arrays.equals(output(own), output(ours)), name + ": the output differs");
    for (TaskCounter counter : List.of(TaskCounter.MAP_OUTPUT_RECORDS,
        TaskCounter.MAP_OUTPUT_BYTES, TaskCounter.REDUCE_INPUT_GROUPS,
        TaskCounter.COMBINE_INPUT_RECORDS, TaskCounter.REDUCE_INPUT_RECORDS)) {
      long expected = own.getCounters().findCounter(counter).getValue();
      long found = ours.getCounters().findCounter(counter).getValue();
      // A combiner of a class library has no place in the job in Java.
      boolean isCombined = counter == TaskCounter.COMBINE_INPUT_RECORDS && expected == 0
          || counter == TaskCounter.REDUCE_INPUT_RECORDS
          && ours.getConfiguration().get("hummer.combiner") != null;
      require(expected == found || isCombined,
          name + ": " + counter + " is " + found + ", and was " + expected);
    }
    long nativeTasks = ours.getCounters().findCounter("Hummer", "NATIVE_MAP_TASKS").getValue();
    long javaTasks = ours.getCounters().findCounter("Hummer", "JAVA_MAP_TASKS").getValue();
    if (reason.isEmpty()) {
      require(nativeTasks == MAPS && javaTasks == 0,
          name + ": not all of its maps are native");
    } else {
      require(nativeTasks == 0 && javaTasks == MAPS, name + ": its maps are native");
      require(logsSay(ours, "syslog", reason),
          name + ": no log of a task says: " + reason);
    }
    System.out.println("equal: " + name + (reason.isEmpty() ? "" : " (Hadoop's collector: \""
        + reason + "\")"));
  }

  /** On the cluster with the native collector; by itself, which takes a second, without it. */
  private Job run(Description description, boolean natively) throws Exception {
    Configuration configuration =
        new Configuration(natively ? cluster : TestCluster.configuration());
    if (natively) {
      TestCluster.collectNatively(configuration, jar);
    } else {
      TestCluster.runLocally(configuration, directory);
    }
    Job job = Job.getInstance(configuration, "job " + ++jobs);
    job.setNumReduceTasks(REDUCES);
    FileInputFormat.addInputPath(job, hadoopPath(directory.resolve("input")));
    FileOutputFormat.setOutputPath(job, hadoopPath(directory.resolve("output-" + jobs)));
    description.describe(job);
    require(job.waitForCompletion(false),
        "a job failed: " + job.getStatus().getFailureInfo());
    return job;
  }

  private void writeInput() throws IOException {
    Path input = Files.createDirectories(directory.resolve("input"));
    Random random = new Random(18);
    for (int file = 0; file < MAPS; file++) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < LINES_PER_MAP; i++) {
        int words = 1 + random.nextInt(12);
        for (int word = 0; word < words; word++) {
          text.append(Integer.toString(random.nextInt(1 << random.nextInt(16)), 36)).append(' ');
        }
        text.append(file * LINES_PER_MAP + i).append('\n');
      }
      Files.writeString(input.resolve("lines-" + file), text);
    }
  }

  public static void main(String[] arguments) throws Exception {
    boolean isShort = arguments.length > 3 && arguments[3].equals("short");
    MiniMRYarnCluster cluster = new MiniMRYarnCluster("cluster", 2);
    cluster.init(TestCluster.configuration());
    cluster.start();
    try {
      ClusterJobs jobs = new ClusterJobs(Path.of(arguments[0]).toAbsolutePath(),
          Path.of(arguments[1]).toAbsolutePath(), Path.of(arguments[2]).toAbsolutePath(),
          cluster.getConfig());
      jobs.writeInput();
      System.out.println("cluster: " + jobs.compareAll(isShort) + " jobs are equal");
    } finally {
      cluster.stop();
    }
    // Some threads of its services would go on.
    System.exit(0);
  }
}
