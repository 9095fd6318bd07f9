package hummer.hadoop;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapred.TaskAttemptID;

/**
 * Reaches what Hadoop shows to kinds of tasks alone: what runs a job's combiner, of the old API or
 * the new one, as its own collector does; and where the bytes are counted that a task reads and
 * writes. It is no task, and nobody makes one of it.
 */
abstract class TaskAccess extends Task {
  /** The combiner of a job. */
  static final class Runner<K, V> {
    private final CombinerRunner<K, V> runner;

    private Runner(CombinerRunner<K, V> runner) {
      this.runner = runner;
    }

    void combine(RawKeyValueIterator records, OutputCollector<K, V> out)
        throws IOException, InterruptedException, ClassNotFoundException {
      runner.combine(records, out);
    }
  }

  /** Null where the job has no combiner. */
  static <K, V> Runner<K, V> runnerOf(JobConf job, TaskAttemptID task,
      Counters.Counter inputRecords, TaskReporter reporter) throws ClassNotFoundException {
    CombinerRunner<K, V> runner = CombinerRunner.create(job, task, inputRecords, reporter, null);
    return runner == null ? null : new Runner<>(runner);
  }

  /** Those of the file system that the path is in. */
  static FileSystem.Statistics[] statisticsOf(Path path, Configuration job) throws IOException {
    return getFsStatistics(path, job).toArray(new FileSystem.Statistics[0]);
  }
}
