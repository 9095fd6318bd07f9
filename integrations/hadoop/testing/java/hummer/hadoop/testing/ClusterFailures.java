package hummer.hadoop.testing;

import static hummer.hadoop.testing.TestCluster.filesOf;
import static hummer.hadoop.testing.TestCluster.hadoopPath;
import static hummer.hadoop.testing.TestCluster.logsSay;
import static hummer.hadoop.testing.TestCluster.output;
import static hummer.hadoop.testing.TestCluster.require;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobCounter;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.apache.hadoop.mapreduce.TaskReport;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.apache.hadoop.mapreduce.v2.MiniMRYarnCluster;

/**
 * Jobs on a Hadoop cluster of two NodeManagers, of which a map task is killed or crashes after it
 * has spilled, or whose map output is lost or damaged before reducers have it. Each leaves what the
 * same job leaves that nothing happened to, and no file of the attempt that has failed.
 *
 * <p>The nodes keep a job's files for as long as the test runs, so that what tasks leave is seen.
 *
 * <p>Arguments: a folder, the jar, the class library `letters` of batch/testing, and `short` for
 * three of them.
 */
final class ClusterFailures {
  private static final int MAPS = 4;
  private static final int REDUCES = 2;
  private static final int LINES_PER_MAP = 6_000;
  private static final int MOST_WAIT_MILLISECONDS = 300_000;
  private static final int LOOK_MILLISECONDS = 100;
  private static final int LINES_BETWEEN_LOOKS = 64;
  private static final String FAULT = "hummer.define.fault";
  private static final String MARKER = "hummer.define.marker";
  private static final String GATE = "hummer.testing.gate";

  private final Path directory;
  private final Path jar;
  private final Path library;
  private final Configuration cluster;
  private final byte[] expected;
  private int jobs;

  private ClusterFailures(Path directory, Path jar, Path library, Configuration cluster)
      throws Exception {
    this.directory = directory;
    this.jar = jar;
    this.library = library;
    this.cluster = cluster;
    writeInput();
    Configuration local = TestCluster.configuration();
    TestCluster.runLocally(local, directory);
    Job job = create(local);
    require(job.waitForCompletion(false), "the job that nothing happens to has failed");
    expected = output(job);
  }

  /** What is done to a job, or what it is besides. */
  private interface Change {
    void apply(Job job) throws Exception;
  }

  /** As letters.FaultyMapper does it: the first attempt of the first task ends in the middle. */
  static final class FaultyLetters extends NativeJobs.Letters {
    private boolean isFaulty;
    private int lines;

    @Override
    protected void setup(Context context) {
      isFaulty = context.getTaskAttemptID().getId() == 0
          && context.getTaskAttemptID().getTaskID().getId() == 0;
    }

    @Override
    protected void map(LongWritable position, Text line, Context context)
        throws IOException, InterruptedException {
      super.map(position, line, context);
      if (!isFaulty || ++lines % LINES_BETWEEN_LOOKS != 0 || !hasSpilled()) {
        return;
      }
      if (context.getConfiguration().get(FAULT).equals("kill")) {
        new ProcessBuilder("kill", "-KILL", Long.toString(ProcessHandle.current().pid())).start();
      } else {
        Files.createFile(Path.of(context.getConfiguration().get(MARKER)));
      }
      Thread.sleep(MOST_WAIT_MILLISECONDS);
    }

    /** Whether this process has a file without a name where map tasks put theirs. */
    private static boolean hasSpilled() throws IOException {
      try (var descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
        for (Path descriptor : descriptors) {
          String file = fileOf(descriptor);
          if (file.contains("/appcache/application_") && file.endsWith(".run (deleted)")) {
            return true;
          }
        }
      }
      return false;
    }

    private static String fileOf(Path descriptor) throws IOException {
      try {
        return Files.readSymbolicLink(descriptor).toString();
      } catch (NoSuchFileException e) {
        // Another thread has closed it.
        return "";
      }
    }
  }

  /** Its reduce tasks wait, before they fetch, until there is a file. */
  static final class GatedOutput extends TextOutputFormat<Text, Text> {
    @Override
    public OutputCommitter getOutputCommitter(TaskAttemptContext task) throws IOException {
      if (task.getTaskAttemptID().getTaskType() == TaskType.REDUCE) {
        awaitFile(Path.of(task.getConfiguration().get(GATE)), "the gate");
      }
      return super.getOutputCommitter(task);
    }
  }

  private static void awaitFile(Path file, String what) throws IOException {
    for (int waited = 0; !Files.exists(file); waited += LOOK_MILLISECONDS) {
      require(waited < MOST_WAIT_MILLISECONDS, what + " has not come");
      pause();
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(LOOK_MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private Job create(Configuration configuration) throws IOException {
    Job job = Job.getInstance(configuration, "job " + ++jobs);
    job.setNumReduceTasks(REDUCES);
    FileInputFormat.addInputPath(job, hadoopPath(directory.resolve("input")));
    FileOutputFormat.setOutputPath(job, hadoopPath(directory.resolve("output-" + jobs)));
    NativeJobs.countLetters(job);
    // There are spills, and no other attempts than those that the test is about.
    job.getConfiguration().setInt("mapreduce.task.io.sort.mb", 1);
    job.setSpeculativeExecution(false);
    job.getConfiguration().set(MARKER, directory.resolve("marker-" + jobs).toString());
    job.getConfiguration().set(GATE, directory.resolve("gate-" + jobs).toString());
    return job;
  }

  private Job createNative(Change change) throws Exception {
    Configuration configuration = new Configuration(cluster);
    TestCluster.collectNatively(configuration, jar);
    Job job = create(configuration);
    change.apply(job);
    return job;
  }

  /** All of it in class libraries. */
  private void runNatively(Job job, String mapper) {
    NativeJobs.mapNatively(job, mapper);
    NativeJobs.mergeNatively(job);
    NativeJobs.reduceNatively(job, "letters.TextSumReducer");
    job.getConfiguration().set("tmpfiles", library.toUri().toString());
    job.getConfiguration().set("hummer.libraries", library.getFileName().toString());
    job.getConfiguration().set("hummer.partitioner", "letters.HalvesPartitioner");
  }

  private void mapFaultily(Job job, boolean natively) {
    if (natively) {
      runNatively(job, "letters.FaultyMapper");
    } else {
      job.setMapperClass(FaultyLetters.class);
    }
  }

  private void expectEnd(String name, Job job, JobCounter ended) throws Exception {
    require(job.waitForCompletion(false),
        name + ": the job failed: " + job.getStatus().getFailureInfo());
    require(Arrays.equals(output(job), expected), name + ": the output differs");
    long maps = job.getCounters().findCounter("Hummer", "NATIVE_MAP_TASKS").getValue();
    require(maps == MAPS, name + ": " + maps + " of its maps are native");
    long attempts = job.getCounters().findCounter(ended).getValue();
    require(attempts == 1, name + ": " + ended + " is " + attempts);
    System.out.println("as it should be: " + name);
  }

  /** Not what a container is begun with. */
  private static boolean isOfTasks(String path) {
    return path.contains("/appcache/application_") && !path.contains("/container_")
        && !path.contains("/filecache/");
  }

  /** Of the attempt that has failed there is nothing, of others their output alone. */
  private static void expectNoFiles(String name, Job job) throws IOException {
    String failed = job.getJobID().toString().replace("job_", "attempt_") + "_m_000000_0";
    List<String> left = new ArrayList<>();
    int outputs = 0;
    for (Path file : filesOf(job, ClusterFailures::isOfTasks)) {
      String last = file.getFileName().toString();
      boolean isOutput = last.equals("file.out") || last.equals("file.out.index");
      if (file.toString().contains(failed) || !isOutput) {
        left.add(file.toString());
      } else {
        outputs++;
      }
    }
    require(left.isEmpty(), name + ": tasks left " + left);
    // Else the nodes have not kept what tasks leave, and nothing is shown.
    require(outputs == 2 * MAPS, name + ": " + outputs + " files of map outputs are there");
  }

  private void killProcess(boolean natively) throws Exception {
    String name = "a map's process is killed, " + (natively ? "native mapper" : "mapper in Java");
    Job job = createNative(each -> {
      mapFaultily(each, natively);
      each.getConfiguration().set(FAULT, "kill");
    });
    expectEnd(name, job, JobCounter.NUM_FAILED_MAPS);
    expectNoFiles(name, job);
  }

  private void killAttempt(boolean natively) throws Exception {
    String name = "a map attempt is killed by the job's client, "
        + (natively ? "native mapper" : "mapper in Java");
    Job job = createNative(each -> {
      mapFaultily(each, natively);
      each.getConfiguration().set(FAULT, "wait");
    });
    job.submit();
    awaitFile(Path.of(job.getConfiguration().get(MARKER)), "the attempt that is to be killed");
    job.killTask(TaskAttemptID.forName(
        job.getJobID().toString().replace("job_", "attempt_") + "_m_000000_0"));
    expectEnd(name, job, JobCounter.NUM_KILLED_MAPS);
    expectNoFiles(name, job);
  }

  /** The text of a log of the attempt says where that was. */
  private void crash(String fault, Map<String, String> texts) throws Exception {
    String name = "a class library crashes a map: " + fault;
    Job job = createNative(each -> {
      runNatively(each, "letters.FaultyMapper");
      each.getConfiguration().set(FAULT, fault);
      each.getConfiguration().set("mapreduce.map.java.opts",
          each.getConfiguration().get("mapreduce.map.java.opts")
              + " -XX:ErrorFile=<LOG_DIR>/hs_err.log");
    });
    expectEnd(name, job, JobCounter.NUM_FAILED_MAPS);
    expectNoFiles(name, job);
    for (Map.Entry<String, String> each : texts.entrySet()) {
      require(logsSay(job, each.getKey(), each.getValue()),
          name + ": no " + each.getKey() + " has " + each.getValue());
    }
  }

  /** Does something to an output of a map before reducers fetch it. */
  private Job lose(String name, Change besides, Damage damage) throws Exception {
    Job job = createNative(each -> {
      runNatively(each, "letters.LetterMapper");
      each.setOutputFormatClass(GatedOutput.class);
      Configuration settings = each.getConfiguration();
      settings.setInt("mapreduce.reduce.shuffle.maxfetchfailures", 1);
      settings.setInt("mapreduce.reduce.shuffle.max-fetch-failures-notifications", 1);
      settings.setFloat("mapreduce.reduce.shuffle.max-fetch-failures-fraction", 0.1f);
      settings.setLong("mapreduce.reduce.shuffle.retry-delay.max.ms", 3_000);
      besides.apply(each);
    });
    job.submit();
    damage.apply(outputOf(job, firstMap(job)));
    Files.createFile(Path.of(job.getConfiguration().get(GATE)));
    require(job.waitForCompletion(false),
        name + ": the job failed: " + job.getStatus().getFailureInfo());
    // Of a node that lacks one output Hadoop may run the other maps again, too.
    require(hasRunAgain(job), name + ": the map has not run again");
    require(Arrays.equals(output(job), expected), name + ": the output differs");
    long merges = job.getCounters().findCounter("Hummer", "NATIVE_REDUCE_MERGES").getValue();
    require(merges == REDUCES, name + ": " + merges + " merges are native");
    System.out.println("as it should be: " + name);
    return job;
  }

  /** What is done to a file. */
  private interface Damage {
    void apply(Path output) throws IOException;
  }

  /** The attempt of the first map, when all maps have ended. */
  private static TaskAttemptID firstMap(Job job) throws IOException {
    for (int waited = 0; waited < MOST_WAIT_MILLISECONDS; waited += LOOK_MILLISECONDS) {
      TaskCompletionEvent[] events = job.getTaskCompletionEvents(0);
      if (events.length == MAPS) {
        for (TaskCompletionEvent event : events) {
          require(event.getStatus() == TaskCompletionEvent.Status.SUCCEEDED, "a map failed");
          if (event.getTaskAttemptId().getTaskID().getId() == 0) {
            return event.getTaskAttemptId();
          }
        }
      }
      pause();
    }
    throw new IOException("the maps have not ended");
  }

  /** Whether the output of the first map that counts at the end is that of its second attempt. */
  private static boolean hasRunAgain(Job job) throws Exception {
    for (TaskReport task : job.getTaskReports(TaskType.MAP)) {
      if (task.getTaskID().getId() == 0) {
        return task.getSuccessfulTaskAttemptId().toString().endsWith("_m_000000_1");
      }
    }
    return false;
  }

  private static Path outputOf(Job job, TaskAttemptID map) throws IOException {
    List<Path> found = filesOf(job, path -> path.endsWith("/output/" + map + "/file.out"));
    require(found.size() == 1, "the output of " + map + " is there " + found.size() + " times");
    return found.get(0);
  }

  private static void flipByte(Path output) throws IOException {
    byte[] bytes = Files.readAllBytes(output);
    bytes[bytes.length / 4] ^= 0x20;
    Files.write(output, bytes);
  }

  private static void compressOutput(Job job) {
    job.getConfiguration().setBoolean("mapreduce.map.output.compress", true);
    job.getConfiguration().set("mapreduce.map.output.compress.codec",
        Lz4Codec.class.getName());
  }

  private void crashBySignal() throws Exception {
    crash("segv", Map.of("stdout", "FaultyMapper::fail", "hs_err.log", "MapAttempt::map_span"));
  }

  private void damage(boolean isCompressed) throws Exception {
    String name = "a byte of a map output is damaged" + (isCompressed ? ", lz4" : "");
    Job job = lose(name, each -> {
      if (isCompressed) {
        compressOutput(each);
      }
    }, ClusterFailures::flipByte);
    require(logsSay(job, "syslog.shuffle", "the CRC of a map output of"),
        name + ": no log of a reducer says so");
  }

  private void failSome() throws Exception {
    killProcess(true);
    crashBySignal();
    damage(false);
  }

  private void failAll() throws Exception {
    for (boolean natively : new boolean[] {false, true}) {
      killProcess(natively);
      killAttempt(natively);
    }
    crashBySignal();
    // Of abort() Java writes no stack, and the library does.
    crash("abort", Map.of("stderr", "MapAttempt8map_span"));
    lose("a map output is lost before it is fetched", job -> {}, Files::delete);
    damage(false);
    damage(true);
  }

  private void writeInput() throws IOException {
    Path input = Files.createDirectories(directory.resolve("input"));
    Random random = new Random(19);
    for (int file = 0; file < MAPS; file++) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < LINES_PER_MAP; i++) {
        for (int letter = 0; letter < 50; letter++) {
          text.append((char) ('a' + random.nextInt(26)));
        }
        text.append('\n');
      }
      Files.writeString(input.resolve("lines-" + file), text);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Configuration configuration = TestCluster.configuration();
    configuration.setInt("yarn.nodemanager.delete.debug-delay-sec", 3600);
    MiniMRYarnCluster cluster = new MiniMRYarnCluster("cluster", 2);
    cluster.init(configuration);
    cluster.start();
    try {
      ClusterFailures failures = new ClusterFailures(Path.of(arguments[0]).toAbsolutePath(),
          Path.of(arguments[1]).toAbsolutePath(), Path.of(arguments[2]).toAbsolutePath(),
          cluster.getConfig());
      if (arguments.length > 3 && arguments[3].equals("short")) {
        failures.failSome();
      } else {
        failures.failAll();
      }
      System.out.println("failures: " + (failures.jobs - 1) + " jobs have ended as they should");
    } finally {
      cluster.stop();
    }
    // Some threads of its services would go on.
    System.exit(0);
  }
}
