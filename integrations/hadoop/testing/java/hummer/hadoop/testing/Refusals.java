package hummer.hadoop.testing;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.compress.BZip2Codec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * What the native collector does not do it says when it is asked for, by a sentence; what goes
 * wrong later fails the task with one, and never the process.
 *
 * <p>With the argument `platform` behind the folder, in a Java that was started with a wrong
 * os.arch: that the library is not loaded there.
 */
final class Refusals {
  private final Path directory;
  private int runs;

  private Refusals(Path directory) {
    this.directory = directory;
  }

  /** A key of a class of the job's own. */
  static final class OwnKey implements WritableComparable<OwnKey> {
    @Override
    public void write(DataOutput out) {}

    @Override
    public void readFields(DataInput in) {}

    @Override
    public int compareTo(OwnKey other) {
      return 0;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof OwnKey;
    }

    @Override
    public int hashCode() {
      return 0;
    }
  }

  /** What makes a job of the usual one. */
  private interface Change {
    void apply(JobConf job);
  }

  /** What a task does. */
  private interface Action {
    void run(CollectorRun task) throws Exception;
  }

  private CollectorRun task(Change change) throws IOException {
    JobConf job = new JobConf();
    job.setNumReduceTasks(2);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(BytesWritable.class);
    job.setInt("mapreduce.task.io.sort.mb", 4);
    change.apply(job);
    return new CollectorRun(job, directory.resolve("refusal-" + runs++));
  }

  private void refuses(String sentence, Change change) throws Exception {
    fails(sentence, change, task -> {});
  }

  private void fails(String sentence, Change change, Action action) throws Exception {
    CollectorRun task = task(change);
    try {
      task.init(CollectorComparison.NATIVE);
      action.run(task);
    } catch (IOException | IllegalStateException e) {
      if (!String.valueOf(e.getMessage()).contains(sentence)) {
        throw new IOException("The sentence is another one than: " + sentence, e);
      }
      System.out.println("said: " + e.getMessage());
      return;
    }
    throw new IOException("Nothing was said, and it should be: " + sentence);
  }

  private static BytesWritable value(int bytes) {
    return new BytesWritable(new byte[bytes]);
  }

  private void refuseAll() throws Exception {
    refuses("sorts its keys by", job ->
        job.setOutputKeyComparatorClass(TestMappers.Backwards.class));
    refuses("sorts its keys by", job -> {
      job.setMapOutputKeyClass(LongWritable.class);
      job.setOutputKeyComparatorClass(LongWritable.DecreasingComparator.class);
    });
    refuses("have no native order", job -> job.setMapOutputKeyClass(OwnKey.class));
    refuses("has no native form", job -> {
      job.setCompressMapOutput(true);
      job.setMapOutputCompressorClass(BZip2Codec.class);
    });
    refuses("snappy.buffersize is 65536", job -> {
      job.setCompressMapOutput(true);
      job.setMapOutputCompressorClass(SnappyCodec.class);
      job.setInt("io.compression.codec.snappy.buffersize", 65536);
    });
    refuses("is to be encrypted", job ->
        job.setBoolean("mapreduce.job.encrypted-intermediate-data", true));
    refuses("must be above 0", job -> job.setInt("mapreduce.task.io.sort.mb", 0));
    refuses("takes 1024 at most", job -> {
      job.setInt("mapreduce.task.io.sort.mb", 1);
      job.setNumReduceTasks(1025);
    });
  }

  private void failAll() throws Exception {
    fails("Type mismatch in key from map", job -> {}, task ->
        task.collect(new IntWritable(1), value(1), 0));
    fails("Illegal partition", job -> {}, task -> task.collect(new Text("a"), value(1), 2));
    fails("has no room for it", job -> {}, task -> {
      task.collect(new Text("large"), value(5 << 20), 0);
      task.collect(new Text("next"), value(1), 0);
      task.finish();
    });
    fails("a combiner that fails", job -> {
      job.setBoolean("mapred.mapper.new-api", true);
      job.setClass("mapreduce.job.combine.class", TestCombiners.Failing.class, Reducer.class);
    }, task -> {
      task.collect(new Text("a"), value(1), 0);
      task.finish();
    });
    // A folder that has gone, and a file in its place.
    fails("E40", job -> {}, task -> {
      Path output = Path.of(task.task.getMapOutputFile().getOutputFileForWrite(1).toUri()
          .getPath());
      Files.deleteIfExists(output.getParent());
      Files.createDirectories(output);
      Files.writeString(output.resolve("inside"), "so that it can't be replaced");
      task.collect(new Text("a"), value(1), 0);
      task.finish();
    });
  }

  public static void main(String[] arguments) throws Exception {
    Refusals refusals = new Refusals(Path.of(arguments[0]));
    if (arguments.length > 1) {
      refusals.refuses("is there for Linux on x86-64, and this is Linux on", job -> {});
    } else {
      refusals.refuseAll();
      refusals.failAll();
    }
    System.out.println("refusals: " + refusals.runs + " were said");
  }
}
