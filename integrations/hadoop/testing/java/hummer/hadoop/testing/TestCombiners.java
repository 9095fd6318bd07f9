package hummer.hadoop.testing;

import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapreduce.Reducer;

/** Combiners that leave the first value of each key, as combiners of either API. */
final class TestCombiners {
  private TestCombiners() {}

  static final class First extends Reducer<Writable, BytesWritable, Writable, BytesWritable> {
    @Override
    protected void reduce(Writable key, Iterable<BytesWritable> values, Context context)
        throws IOException, InterruptedException {
      context.write(key, values.iterator().next());
    }
  }

  static final class FirstOfOldApi
      implements org.apache.hadoop.mapred.Reducer<Writable, BytesWritable, Writable,
          BytesWritable> {
    @Override
    public void configure(JobConf job) {}

    @Override
    public void reduce(Writable key, Iterator<BytesWritable> values,
        OutputCollector<Writable, BytesWritable> out, Reporter reporter) throws IOException {
      out.collect(key, values.next());
    }

    @Override
    public void close() {}
  }

  /** Fails at the first key, as code of a job may. */
  static final class Failing extends Reducer<Writable, BytesWritable, Writable, BytesWritable> {
    @Override
    protected void reduce(Writable key, Iterable<BytesWritable> values, Context context) {
      throw new IllegalStateException("a combiner that fails");
    }
  }
}
