package hummer.hadoop;

import java.io.DataInputStream;
import java.io.IOException;
import java.util.HexFormat;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;
import org.apache.hadoop.mapreduce.lib.partition.TotalOrderPartitioner;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * The keys that begin partitions, of a job that deals its keys out in their order: by
 * TotalOrderPartitioner, or by that of TeraSort's, which has a file of its own form.
 */
final class CutPoints {
  private static final String TERA_SORT =
      "org.apache.hadoop.examples.terasort.TeraSort$TotalOrderPartitioner";
  private static final String TERA_SORT_FILE = "_partition.lst";

  private CutPoints() {}

  static boolean areKnownTo(Class<?> partitioner) {
    return partitioner == TotalOrderPartitioner.class || partitioner.getName().equals(TERA_SORT);
  }

  /** As hexadecimal digits of what the keys' class writes, with commas between. */
  static String of(TaskInputOutputContext<?, ?, ?, ?> context)
      throws IOException, ClassNotFoundException {
    Configuration job = context.getConfiguration();
    Class<?> partitioner = context.getPartitionerClass();
    if (partitioner == TotalOrderPartitioner.class) {
      return ofSequenceFile(job, context.getMapOutputKeyClass());
    }
    return ofTeraSort(job, context.getNumReduceTasks() - 1);
  }

  private static String ofSequenceFile(Configuration job, Class<?> keyClass) throws IOException {
    String name = TotalOrderPartitioner.getPartitionFile(job);
    Path path = new Path(name);
    // By its own name it is in the task's folder, where Hadoop has brought it.
    if (name.equals(TotalOrderPartitioner.DEFAULT_PATH)) {
      path = FileSystem.getLocal(job).makeQualified(path);
    }
    Writable key = keyClass.asSubclass(Writable.class).cast(
        ReflectionUtils.newInstance(keyClass, job));
    StringBuilder keys = new StringBuilder();
    try (SequenceFile.Reader reader =
        new SequenceFile.Reader(job, SequenceFile.Reader.file(path))) {
      while (reader.next(key, NullWritable.get())) {
        append(key, keys);
      }
    }
    return keys.toString();
  }

  private static String ofTeraSort(Configuration job, int count) throws IOException {
    StringBuilder keys = new StringBuilder();
    FileSystem local = FileSystem.getLocal(job);
    try (DataInputStream in = local.open(new Path(TERA_SORT_FILE))) {
      Text key = new Text();
      for (int i = 0; i < count; i++) {
        key.readFields(in);
        append(key, keys);
      }
    }
    return keys.toString();
  }

  private static void append(Writable key, StringBuilder keys) throws IOException {
    DataOutputBuffer bytes = new DataOutputBuffer();
    key.write(bytes);
    keys.append(keys.length() == 0 ? "" : ",")
        .append(HexFormat.of().formatHex(bytes.getData(), 0, bytes.getLength()));
  }
}
