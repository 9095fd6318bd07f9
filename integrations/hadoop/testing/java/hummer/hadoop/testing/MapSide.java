package hummer.hadoop.testing;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.terasort.TeraInputFormat;
import org.apache.hadoop.examples.terasort.TeraOutputFormat;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobCounter;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.TaskReport;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.map.TokenCounterMapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;
import org.apache.hadoop.mapreduce.v2.MiniMRYarnCluster;
import org.apache.hadoop.util.ClassUtil;

/**
 * What map tasks take with Hadoop's collector, with the native one, and with a native mapper, on a
 * cluster of two NodeManagers: their time and their processor time, as the counters have them, and
 * the time of the whole job. A line of JSON for each job.
 *
 * <p>Arguments: a folder, the jar, and for each workload `terasort`, `wordcount` or `small`, MiB of
 * input, and rounds.
 */
final class MapSide {
  private static final int MAPS = 2;
  private static final int REDUCES = 2;
  private static final int ROW_BYTES = 100;
  private static final int SORT_MEGABYTES = 100;
  private static final int WORDS_PER_LINE = 10;
  private static final int VOCABULARY = 1_000_000;

  /** Who does what. */
  private enum Side { HADOOP, COLLECTOR, MAPPER }

  private final Path directory;
  private final Path jar;
  private final Configuration cluster;
  private int jobs;

  private MapSide(Path directory, Path jar, Configuration cluster) {
    this.directory = directory;
    this.jar = jar;
    this.cluster = cluster;
  }

  private static void putJar(Job job, Path jar) {
    job.getConfiguration().set("tmpjars", String.join(",", jar.toUri().toString(),
        ClassUtil.findContainingJar(TeraInputFormat.class)));
    // Where the cluster's files are local ones Hadoop leaves jars in their places, and its wildcard
    // names a folder without them.
    job.getConfiguration().setBoolean("mapreduce.client.libjars.wildcard", false);
  }

  /** As TeraSort itself makes its job, but that its counters can be asked for. */
  private void teraSort(Job job, Side side) throws IOException {
    job.setInputFormatClass(TeraInputFormat.class);
    job.setOutputFormatClass(TeraOutputFormat.class);
    job.setMapperClass(Mapper.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(Text.class);
    job.getConfiguration().set("mapreduce.job.partitioner.class",
        TeraInputFormat.class.getPackageName() + ".TeraSort$TotalOrderPartitioner");
    // Where the cluster's files are local ones tasks look for it where the client has its folder.
    org.apache.hadoop.fs.Path partitions =
        hadoopPath(Path.of("_partition.lst").toAbsolutePath());
    try {
      TeraInputFormat.writePartitionFile(job, partitions);
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw new IOException(e);
    }
    job.getConfiguration().set("tmpfiles", partitions.toString());
    if (side == Side.MAPPER) {
      NativeJobs.mapNatively(job, "hummer.IdentityMapper");
    }
  }

  private void wordCount(Job job, Side side) {
    job.setMapperClass(TokenCounterMapper.class);
    job.setCombinerClass(IntSumReducer.class);
    job.setReducerClass(IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    if (side == Side.MAPPER) {
      NativeJobs.mapNatively(job, "hummer.WordMapper");
      job.getConfiguration().set("hummer.combiner", "hummer.SumCombiner");
      job.setReducerClass(LongSumReducer.class);
      job.setOutputValueClass(LongWritable.class);
    }
  }

  private Job submit(String workload, Side side) throws Exception {
    Configuration configuration = new Configuration(cluster);
    for (String kind : List.of("map", "reduce")) {
      configuration.setInt("mapreduce." + kind + ".memory.mb", 1024);
      configuration.set("mapreduce." + kind + ".java.opts", "-Xmx600m");
    }
    configuration.setInt("mapreduce.task.io.sort.mb", SORT_MEGABYTES);
    if (side != Side.HADOOP) {
      configuration.set("mapreduce.job.map.output.collector.class",
          CollectorComparison.NATIVE + "," + CollectorComparison.OWN);
    }
    Job job = Job.getInstance(configuration, workload + " " + side);
    putJar(job, jar);
    job.setNumReduceTasks(REDUCES);
    boolean isTeraSort = workload.equals("terasort");
    FileInputFormat.addInputPath(job, hadoopPath(directory.resolve("input-" + workload)));
    FileInputFormat.setMinInputSplitSize(job, Long.MAX_VALUE);
    FileOutputFormat.setOutputPath(job, hadoopPath(directory.resolve("output-" + ++jobs)));
    if (isTeraSort) {
      teraSort(job, side);
    } else {
      wordCount(job, side);
    }
    job.submit();
    return job;
  }

  /** Waits for it, and says what it has taken. */
  private void report(String workload, Side side, Job job) throws Exception {
    if (!job.waitForCompletion(false)) {
      throw new IOException("a job failed: " + job.getStatus().getFailureInfo());
    }
    long processor = 0;
    for (TaskReport task : job.getTaskReports(TaskType.MAP)) {
      processor += task.getTaskCounters().findCounter(TaskCounter.CPU_MILLISECONDS).getValue();
    }
    long nativeTasks =
        job.getCounters().findCounter("Hummer", "NATIVE_MAP_TASKS").getValue();
    System.out.println(String.format(Locale.ROOT,
        "{\"workload\": \"%s\", \"side\": \"%s\", \"map_ms\": %d, \"map_cpu_ms\": %d, "
            + "\"job_ms\": %d, \"native_tasks\": %d, \"output\": \"%s\"}",
        workload, side.name().toLowerCase(Locale.ROOT),
        job.getCounters().findCounter(JobCounter.MILLIS_MAPS).getValue(), processor,
        job.getFinishTime() - job.getStatus().getStartTime(), nativeTasks,
        FileOutputFormat.getOutputPath(job).toUri().getPath()));
    System.out.flush();
  }

  private void run(String workload, int rounds) throws Exception {
    for (int round = 0; round < rounds; round++) {
      if (workload.equals("small")) {
        // Both at once: it is processor time that is compared.
        Job own = submit(workload, Side.HADOOP);
        Job ours = submit(workload, Side.COLLECTOR);
        report(workload, Side.HADOOP, own);
        report(workload, Side.COLLECTOR, ours);
        continue;
      }
      for (Side side : Side.values()) {
        report(workload, side, submit(workload, side));
      }
    }
  }

  /** Words, most of them seldom, in lines; or rows of TeraSort. */
  private void writeInput(String workload, int megabytes) throws IOException {
    Path folder = Files.createDirectories(directory.resolve("input-" + workload));
    int maps = workload.equals("small") ? 1 : MAPS;
    for (int file = 0; file < maps; file++) {
      Random random = new Random(file);
      long left = ((long) megabytes << 20) / maps;
      try (OutputStream out =
          new BufferedOutputStream(Files.newOutputStream(folder.resolve("part-" + file)))) {
        while (left > 0) {
          byte[] record = workload.equals("terasort") ? row(random) : line(random);
          out.write(record);
          left -= record.length;
        }
      }
    }
  }

  private static byte[] row(Random random) {
    byte[] row = new byte[ROW_BYTES];
    random.nextBytes(row);
    return row;
  }

  private static byte[] line(Random random) {
    StringBuilder line = new StringBuilder();
    for (int word = 0; word < WORDS_PER_LINE; word++) {
      long number = (long) Math.pow(VOCABULARY, random.nextDouble());
      line.append(Long.toString(number * 0x9E3779B1L & 0xFFFFFFFFL, 36)).append(' ');
    }
    return line.append('\n').toString().getBytes(StandardCharsets.US_ASCII);
  }

  private static org.apache.hadoop.fs.Path hadoopPath(Path path) {
    return new org.apache.hadoop.fs.Path(path.toUri());
  }

  public static void main(String[] arguments) throws Exception {
    MiniMRYarnCluster cluster = new MiniMRYarnCluster("cluster", 2);
    Configuration configuration = TestCluster.configuration();
    configuration.setInt("yarn.nodemanager.resource.memory-mb", 8192);
    cluster.init(configuration);
    cluster.start();
    try {
      MapSide jobs = new MapSide(Path.of(arguments[0]).toAbsolutePath(),
          Path.of(arguments[1]).toAbsolutePath(), cluster.getConfig());
      for (int i = 2; i + 2 < arguments.length; i += 3) {
        jobs.writeInput(arguments[i], Integer.parseInt(arguments[i + 1]));
        jobs.run(arguments[i], Integer.parseInt(arguments[i + 2]));
      }
    } finally {
      cluster.stop();
    }
    // Some threads of its services would go on.
    System.exit(0);
  }
}
