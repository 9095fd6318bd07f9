package hummer.hadoop.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/** What tests on a cluster in this process share: its configuration, and what its jobs leave. */
final class TestCluster {
  private TestCluster() {}

  /** Of a cluster, and of jobs, that are small. */
  static Configuration configuration() {
    Configuration configuration = new Configuration();
    configuration.set("fs.defaultFS", "file:///");
    configuration.setInt("yarn.scheduler.minimum-allocation-mb", 256);
    configuration.setInt("yarn.app.mapreduce.am.resource.mb", 512);
    configuration.set("yarn.app.mapreduce.am.command-opts",
        "-Xmx300m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
    for (String kind : List.of("map", "reduce")) {
      configuration.setInt("mapreduce." + kind + ".memory.mb", 512);
      configuration.set("mapreduce." + kind + ".java.opts",
          "-Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
    }
    configuration.setInt("mapreduce.task.io.sort.mb", 32);
    for (String interval : List.of("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms",
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms",
        "mapreduce.client.completion.pollinterval")) {
      configuration.setInt(interval, 200);
    }
    // A disk may be fuller than what nodes take for healthy.
    configuration.setFloat(
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", 99.5f);
    configuration.setBoolean("yarn.nodemanager.vmem-check-enabled", false);
    return configuration;
  }

  /** Asks for the native collector, with the plug-in as by -libjars. */
  static void collectNatively(Configuration job, Path jar) {
    job.set("mapreduce.job.map.output.collector.class",
        CollectorComparison.NATIVE + "," + CollectorComparison.OWN);
    job.set("tmpjars", jar.toUri().toString());
    // Where the cluster's files are local ones Hadoop leaves the jar in its place, and its
    // wildcard names a folder without it.
    job.setBoolean("mapreduce.client.libjars.wildcard", false);
  }

  /** Of a job that runs in this process, which takes a second. */
  static void runLocally(Configuration job, Path directory) {
    job.set("mapreduce.framework.name", "local");
    job.set("hadoop.tmp.dir", directory.resolve("local").toString());
  }

  /** All parts, with their names. */
  static byte[] output(Job job) throws IOException {
    List<Path> parts;
    Path output = Path.of(FileOutputFormat.getOutputPath(job).toUri().getPath());
    try (Stream<Path> files = Files.list(output)) {
      parts = new ArrayList<>(files.filter(file -> file.getFileName().toString()
          .startsWith("part-")).sorted().toList());
    }
    require(parts.size() == job.getNumReduceTasks(), "a job left " + parts.size() + " parts");
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (Path part : parts) {
      all.writeBytes((part.getFileName() + "\n").getBytes());
      all.writeBytes(Files.readAllBytes(part));
    }
    return all.toByteArray();
  }

  /** Of the job's files on the nodes, its logs among them, those whose path is wanted. */
  static List<Path> filesOf(Job job, Predicate<String> isWanted) throws IOException {
    String application = job.getJobID().toString().replace("job_", "application_");
    try (Stream<Path> files = Files.walk(Path.of("target"))) {
      return files.filter(file -> file.toString().contains(application)
          && isWanted.test(file.toString()) && Files.isRegularFile(file)).toList();
    }
  }

  /** Whether a log of one of its tasks has the text: `syslog`, `stdout` or `stderr`. */
  static boolean logsSay(Job job, String log, String text) throws IOException {
    for (Path file : filesOf(job, path -> path.endsWith("/" + log))) {
      if (new String(Files.readAllBytes(file)).contains(text)) {
        return true;
      }
    }
    return false;
  }

  static org.apache.hadoop.fs.Path hadoopPath(Path path) {
    return new org.apache.hadoop.fs.Path(path.toUri());
  }

  static void require(boolean holds, String otherwise) throws IOException {
    if (!holds) {
      throw new IOException(otherwise);
    }
  }
}
