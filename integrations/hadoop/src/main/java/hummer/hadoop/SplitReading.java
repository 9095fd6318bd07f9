package hummer.hadoop;

import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.MapContext;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.lib.input.LineRecordReader;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;

/**
 * Whether the split of a map task can be read natively, and how. Records are the same that the
 * job's InputFormat would give.
 */
final class SplitReading {
  private static final String SEQUENCE = "sequence";
  private static final byte[] SEQUENCE_MARK = {'S', 'E', 'Q', 6};

  /** InputFormats that have a native form. */
  private static final Map<String, String> READERS = Map.of(
      TextInputFormat.class.getName(), "text",
      SequenceFileInputFormat.class.getName(), SEQUENCE,
      "org.apache.hadoop.examples.terasort.TeraInputFormat", "fixed:10,90");

  /** Why the job's own RecordReader has to read; null: it is read natively. */
  final String hindrance;
  final String reader;
  final Path path;
  final long begin;
  final long length;
  final String codec;
  final boolean isLocal;

  private SplitReading(String hindrance, String reader, FileSplit split, String codec,
      boolean isLocal) {
    this.hindrance = hindrance;
    this.reader = reader;
    path = split == null ? null : split.getPath();
    begin = split == null ? 0 : split.getStart();
    length = split == null ? 0 : split.getLength();
    this.codec = codec;
    this.isLocal = isLocal;
  }

  private static SplitReading hindered(String why) {
    return new SplitReading(why, null, null, null, false);
  }

  static SplitReading of(MapContext<?, ?, ?, ?> context)
      throws IOException, ClassNotFoundException {
    Configuration job = context.getConfiguration();
    String format = context.getInputFormatClass().getName();
    String reader = job.getTrimmed(TaskSettings.READER, READERS.get(format));
    if (reader == null) {
      return hindered("the InputFormat " + format + " has no native form");
    }
    InputSplit split = context.getInputSplit();
    if (split.getClass() != FileSplit.class) {
      return hindered("splits of the class " + split.getClass().getName() + " have no native form");
    }
    if (job.get("textinputformat.record.delimiter") != null) {
      return hindered("lines end with a delimiter of the job's own");
    }
    if (job.getInt(LineRecordReader.MAX_LINE_LENGTH, Integer.MAX_VALUE) != Integer.MAX_VALUE) {
      return hindered(LineRecordReader.MAX_LINE_LENGTH + " is set");
    }
    FileSplit file = (FileSplit) split;
    if (reader.equals(SEQUENCE)) {
      String hindrance = hindranceOfSequenceFile(file.getPath(), job);
      return hindrance == null
          ? new SplitReading(null, reader, file, "", isLocal(file.getPath(), job))
          : hindered(hindrance);
    }
    CompressionCodec codec = new CompressionCodecFactory(job).getCodec(file.getPath());
    if (codec != null && !JobDemands.isNativeCodec(codec.getClass().getName())) {
      return hindered("the codec " + codec.getClass().getName() + " has no native form");
    }
    return new SplitReading(null, reader, file, codec == null ? "" : codec.getClass().getName(),
        isLocal(file.getPath(), job));
  }

  private static boolean isLocal(Path path, Configuration job) throws IOException {
    Class<?> files = path.getFileSystem(job).getClass();
    return files == LocalFileSystem.class || files == RawLocalFileSystem.class;
  }

  /** Null: there is none. */
  private static String hindranceOfSequenceFile(Path path, Configuration job) throws IOException {
    byte[] mark = new byte[SEQUENCE_MARK.length];
    try (FSDataInputStream in = path.getFileSystem(job).open(path)) {
      int got = in.read(mark);
      if (got != mark.length || !Arrays.equals(mark, SEQUENCE_MARK)) {
        return path + " is no SequenceFile of version 6";
      }
    }
    try (SequenceFile.Reader file = new SequenceFile.Reader(job, SequenceFile.Reader.file(path))) {
      CompressionCodec codec = file.isCompressed() ? file.getCompressionCodec() : null;
      return codec == null || JobDemands.isNativeCodec(codec.getClass().getName()) ? null
          : "the codec " + codec.getClass().getName() + " has no native form";
    }
  }

  void describeTo(TaskSettings settings) {
    settings.set("reader", reader).set("path", isLocal ? path.toUri().getPath() : path)
        .set("begin", begin).set("length", length).set("codec", codec);
  }
}
