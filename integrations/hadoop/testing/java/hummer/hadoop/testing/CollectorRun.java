package hummer.hadoop.testing;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.mapred.IFile;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapred.Task.TaskReporter;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitIndex;
import org.apache.hadoop.util.Progress;
import org.apache.hadoop.util.ReflectionUtils;

/** One collector by itself, as a map task would have it, in a folder of its own. */
final class CollectorRun {
  /** A record as bytes, which can be compared. */
  static final class RawRecord {
    final byte[] key;
    final byte[] value;

    RawRecord(byte[] key, byte[] value) {
      this.key = key;
      this.value = value;
    }
  }

  private static final TaskAttemptID ATTEMPT =
      new TaskAttemptID("202601010000", 1, TaskType.MAP, 0, 0);

  final JobConf job;
  final MapTask task;
  final TaskReporter reporter;
  private MapOutputCollector<Writable, Writable> collector;

  CollectorRun(JobConf given, Path directory) throws IOException {
    job = new JobConf(given);
    job.set(MRConfig.LOCAL_DIR, Files.createDirectories(directory).toString());
    task = new MapTask("job.xml", ATTEMPT, 0, new TaskSplitIndex(), 1);
    task.setConf(job);
    addSortPhase();
    reporter = task.new TaskReporter(new Progress(), null);
  }

  /** A task has it once it runs, and both collectors end it. */
  private void addSortPhase() throws IOException {
    try {
      Field phase = MapTask.class.getDeclaredField("sortPhase");
      phase.setAccessible(true);
      phase.set(task, new Progress());
    } catch (ReflectiveOperationException e) {
      throw new IOException("This Hadoop has no sort phase in its map task.", e);
    }
  }

  @SuppressWarnings("unchecked")
  void init(String type) throws IOException, ClassNotFoundException {
    collector =
        (MapOutputCollector<Writable, Writable>) ReflectionUtils.newInstance(
            job.getClassByName(type), job);
    collector.init(new MapOutputCollector.Context(task, job, reporter));
  }

  void collect(Writable key, Writable value, int partition)
      throws IOException, InterruptedException {
    collector.collect(key, value, partition);
  }

  void finish() throws IOException, InterruptedException, ClassNotFoundException {
    collector.flush();
    collector.close();
  }

  void close() throws IOException, InterruptedException {
    collector.close();
  }

  long counter(TaskCounter which) {
    return reporter.getCounter(which).getValue();
  }

  byte[] output() throws IOException {
    return Files.readAllBytes(local(task.getMapOutputFile().getOutputFile()));
  }

  byte[] index() throws IOException {
    return Files.readAllBytes(local(task.getMapOutputFile().getOutputIndexFile()));
  }

  SpillRecord places() throws IOException {
    return new SpillRecord(task.getMapOutputFile().getOutputIndexFile(), job);
  }

  /** The records of a partition, through Hadoop's reader, which also compares checksums. */
  List<RawRecord> records(int partition) throws IOException {
    CompressionCodec codec = job.getCompressMapOutput()
        ? ReflectionUtils.newInstance(job.getMapOutputCompressorClass(DefaultCodec.class), job)
        : null;
    IndexRecord place = places().getIndex(partition);
    List<RawRecord> records = new ArrayList<>();
    FileSystem files = FileSystem.getLocal(job).getRaw();
    try (FSDataInputStream in = files.open(task.getMapOutputFile().getOutputFile())) {
      in.seek(place.startOffset);
      IFile.Reader<Writable, Writable> reader =
          new IFile.Reader<>(job, in, place.partLength, codec, null);
      DataInputBuffer key = new DataInputBuffer();
      DataInputBuffer value = new DataInputBuffer();
      while (reader.nextRawKey(key)) {
        reader.nextRawValue(value);
        records.add(new RawRecord(copy(key), copy(value)));
      }
      reader.close();
    }
    return records;
  }

  static byte[] bytesOf(Writable writable) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    writable.write(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  private static byte[] copy(DataInputBuffer buffer) {
    byte[] bytes = new byte[buffer.getLength() - buffer.getPosition()];
    System.arraycopy(buffer.getData(), buffer.getPosition(), bytes, 0, bytes.length);
    return bytes;
  }

  private static Path local(org.apache.hadoop.fs.Path path) {
    return Path.of(path.toUri().getPath());
  }
}
