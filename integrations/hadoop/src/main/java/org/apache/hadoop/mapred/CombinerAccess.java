package org.apache.hadoop.mapred;

import java.io.IOException;
import org.apache.hadoop.mapred.Task.CombinerRunner;
import org.apache.hadoop.mapred.Task.TaskReporter;

/**
 * Runs a job's combiner, of the old API or the new one, as Hadoop's own collector does. It stands
 * in Hadoop's package, since what runs combiners is shown to that package alone.
 */
public final class CombinerAccess<K, V> {
  private final CombinerRunner<K, V> runner;

  private CombinerAccess(CombinerRunner<K, V> runner) {
    this.runner = runner;
  }

  /** Null where the job has no combiner. */
  public static <K, V> CombinerAccess<K, V> create(
      JobConf job, TaskAttemptID task, Counters.Counter inputRecords, TaskReporter reporter)
      throws ClassNotFoundException {
    CombinerRunner<K, V> runner = CombinerRunner.create(job, task, inputRecords, reporter, null);
    return runner == null ? null : new CombinerAccess<>(runner);
  }

  public void combine(RawKeyValueIterator records, OutputCollector<K, V> out)
      throws IOException, InterruptedException, ClassNotFoundException {
    runner.combine(records, out);
  }
}
