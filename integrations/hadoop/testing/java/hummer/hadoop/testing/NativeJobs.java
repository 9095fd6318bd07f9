package hummer.hadoop.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.SequenceFile.CompressionType;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Jobs with native mappers, combiners and reducers beside the same ones in Java, in this process:
 * both leave the same output, and the counters are equal.
 *
 * <p>Arguments: a folder, the class library `letters` of batch/testing, and `short` for those jobs
 * only in which most calls between the two languages are.
 */
final class NativeJobs {
  private static final int REDUCES = 3;

  private final Path directory;
  private final Path library;
  private int jobs;
  private int compared;

  private NativeJobs(Path directory, Path library) {
    this.directory = directory;
    this.library = library;
  }

  /** Fills in what a job is. */
  private interface Description {
    void describe(Job job) throws IOException;
  }

  /** What Hadoop's TokenCounterMapper does, with counts as the native one has them. */
  static final class Words extends Mapper<LongWritable, Text, Text, LongWritable> {
    private static final LongWritable ONE = new LongWritable(1);

    @Override
    protected void map(LongWritable position, Text line, Context context)
        throws IOException, InterruptedException {
      for (String word : line.toString().split("[ \t\n\u000B\f\r]+")) {
        if (!word.isEmpty()) {
          context.write(new Text(word), ONE);
        }
      }
    }
  }

  /** Each byte of a line, with "1". */
  static class Letters extends Mapper<LongWritable, Text, Text, Text> {
    private static final Text ONE = new Text("1");

    @Override
    protected void map(LongWritable position, Text line, Context context)
        throws IOException, InterruptedException {
      for (int i = 0; i < line.getLength(); i++) {
        Text letter = new Text();
        letter.set(line.getBytes(), i, 1);
        context.write(letter, ONE);
      }
    }
  }

  static final class TextSum extends Reducer<Text, Text, Text, Text> {
    @Override
    protected void reduce(Text key, Iterable<Text> values, Context context)
        throws IOException, InterruptedException {
      long sum = 0;
      for (Text value : values) {
        sum += Long.parseLong(value.toString());
      }
      context.write(key, new Text(Long.toString(sum)));
    }
  }

  static final class Halves extends Partitioner<Text, Text> {
    @Override
    public int getPartition(Text key, Text value, int partitions) {
      return (key.getBytes()[0] & 0xFF) < 'n' ? 0 : partitions - 1;
    }
  }

  static void countLetters(Job job) {
    job.setMapperClass(Letters.class);
    job.setReducerClass(TextSum.class);
    job.setPartitionerClass(Halves.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(Text.class);
  }

  private static void wordCount(Job job) {
    job.setMapperClass(Words.class);
    job.setReducerClass(LongSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(LongWritable.class);
  }

  static void mapNatively(Job job, String mapper) {
    job.getConfiguration().set("mapreduce.job.map.class", "hummer.hadoop.NativeMapper");
    job.getConfiguration().set("hummer.mapper", mapper);
    job.getConfiguration().set("mapreduce.job.map.output.collector.class",
        CollectorComparison.NATIVE + "," + CollectorComparison.OWN);
  }

  static void mergeNatively(Job job) {
    job.getConfiguration().set("mapreduce.job.reduce.shuffle.consumer.plugin.class",
        "hummer.hadoop.NativeShuffle");
  }

  static void reduceNatively(Job job, String reducer) {
    job.getConfiguration().set("mapreduce.job.reduce.class", "hummer.hadoop.NativeReducer");
    job.getConfiguration().set("hummer.reducer", reducer);
  }

  /** All of a word count; its native reducer gives out counts as texts. */
  private static void countWordsNatively(Job job) {
    mapNatively(job, "hummer.WordMapper");
    job.getConfiguration().set("hummer.combiner", "hummer.SumCombiner");
    reduceNatively(job, "hummer.SumReducer");
    job.setMapOutputValueClass(LongWritable.class);
    job.setOutputValueClass(Text.class);
  }

  private Job run(org.apache.hadoop.fs.Path input, long splitBytes, Description description)
      throws Exception {
    Configuration configuration = new Configuration();
    configuration.set("fs.defaultFS", "file:///");
    configuration.set("mapreduce.framework.name", "local");
    configuration.set("hadoop.tmp.dir", directory.resolve("local").toString());
    configuration.setInt("mapreduce.task.io.sort.mb", 16);
    configuration.setInt("mapreduce.local.map.tasks.maximum", 2);
    configuration.setInt("mapreduce.client.completion.pollinterval", 50);
    Job job = Job.getInstance(configuration, "job " + ++jobs);
    job.setNumReduceTasks(REDUCES);
    FileInputFormat.addInputPath(job, input);
    FileInputFormat.setMaxInputSplitSize(job, splitBytes);
    FileOutputFormat.setOutputPath(job, hadoopPath(directory.resolve("output-" + jobs)));
    description.describe(job);
    job.waitForCompletion(false);
    return job;
  }

  /** What must not end well, since its tasks would not all do the same, or can't do it. */
  private void fails(String name, Path input, Description description) throws Exception {
    Job job = run(hadoopPath(input), 100_003, description);
    require(!job.isSuccessful(), name + ": it ended well");
    compared++;
    System.out.println("fails: " + name);
  }

  private void compare(String name, Path input, long splitBytes, Description inJava,
      Description natively, boolean collectsNatively) throws Exception {
    compare(name, hadoopPath(input), splitBytes, inJava, natively, collectsNatively);
  }

  private void compare(String name, org.apache.hadoop.fs.Path input, long splitBytes,
      Description inJava, Description natively, boolean collectsNatively) throws Exception {
    Job own = run(input, splitBytes, inJava);
    Job ours = run(input, splitBytes, job -> {
      inJava.describe(job);
      natively.describe(job);
    });
    require(own.isSuccessful() && ours.isSuccessful(), name + ": a job failed");
    require(Arrays.equals(output(own), output(ours)), name + ": the output differs");
    for (Enum<?> counter : List.of(TaskCounter.MAP_INPUT_RECORDS, TaskCounter.MAP_OUTPUT_RECORDS,
        TaskCounter.MAP_OUTPUT_BYTES, TaskCounter.REDUCE_INPUT_GROUPS,
        TaskCounter.REDUCE_INPUT_RECORDS, TaskCounter.REDUCE_OUTPUT_RECORDS)) {
      long expected = own.getCounters().findCounter(counter).getValue();
      long found = ours.getCounters().findCounter(counter).getValue();
      boolean isCombined = counter == TaskCounter.REDUCE_INPUT_RECORDS
          && ours.getCounters().findCounter(TaskCounter.COMBINE_INPUT_RECORDS).getValue() > 0;
      require(expected == found || isCombined,
          name + ": " + counter + " is " + found + ", and was " + expected);
    }
    require(ours.getCounters().findCounter(FileInputFormatCounter.BYTES_READ).getValue()
        >= Math.min(1, own.getCounters().findCounter(TaskCounter.MAP_INPUT_RECORDS).getValue()),
        name + ": no bytes were read");
    boolean mergesNatively = ours.getConfiguration()
        .get("mapreduce.job.reduce.shuffle.consumer.plugin.class", "").startsWith("hummer");
    require(mergesNatively == ours.getCounters().findCounter("Hummer", "NATIVE_REDUCE_MERGES")
        .getValue() > 0, name + ": its merges are another one's");
    long tasks = ours.getCounters().findCounter("Hummer", "NATIVE_MAP_TASKS").getValue();
    boolean mapsNatively =
        ours.getMapperClass().getName().equals("hummer.hadoop.NativeMapper");
    boolean dealsNatively = ours.getPartitionerClass().getName().endsWith(".HashPartitioner")
        || ours.getConfiguration().get("hummer.partitioner") != null;
    long reads = ours.getCounters().findCounter("Hummer", "NATIVE_READ_TASKS").getValue();
    require(reads == (mapsNatively && dealsNatively ? tasks : 0),
        name + ": " + reads + " tasks read natively");
    require(tasks > 0 == collectsNatively, name + ": " + tasks + " tasks are native");
    long writes = ours.getCounters().findCounter("Hummer", "NATIVE_WRITE_TASKS").getValue();
    require(writes > 0 == writesLines(ours), name + ": " + writes + " tasks made lines");
    compared++;
    System.out.println("equal: " + name);
  }

  /** Whether its last tasks are native, and give out what has a native text. */
  private static boolean writesLines(Job job) throws Exception {
    Class<?> last = job.getNumReduceTasks() > 0 ? job.getReducerClass() : job.getMapperClass();
    List<Class<?>> texts =
        List.of(Text.class, IntWritable.class, LongWritable.class, NullWritable.class);
    return last.getName().startsWith("hummer.hadoop.Native")
        && job.getOutputFormatClass().equals(TextOutputFormat.class)
        && texts.contains(job.getOutputKeyClass()) && texts.contains(job.getOutputValueClass());
  }

  /** Lines of all kinds of ends, some empty, some long, with a mark in front. */
  private Path writeLines(String name, CompressionCodec codec) throws IOException {
    Path folder = Files.createDirectories(directory.resolve(name));
    Random random = new Random(18);
    String[] ends = {"\n", "\r\n", "\r", "\n\n", "\n"};
    for (int file = 0; file < 2; file++) {
      StringBuilder text = new StringBuilder(file == 0 ? "\uFEFF" : "");
      for (int i = 0; i < 4_000; i++) {
        int words = i % 1_000 == 999 ? 30_000 : random.nextInt(12);
        for (int word = 0; word < words; word++) {
          text.append(Integer.toString(random.nextInt(1 << (1 + random.nextInt(12))), 36))
              .append(random.nextInt(9) == 0 ? "\t\u00E4 " : " ");
        }
        text.append(ends[random.nextInt(ends.length)]);
      }
      if (file == 1) {
        text.append("the last, without an end");
      }
      Path path = folder.resolve("lines-" + file + (codec == null ? ""
          : codec.getDefaultExtension()));
      try (OutputStream plain = Files.newOutputStream(path);
          OutputStream out = codec == null ? plain : codec.createOutputStream(plain)) {
        out.write(text.toString().getBytes(StandardCharsets.UTF_8));
      }
    }
    Files.createFile(folder.resolve("empty"));
    return folder;
  }

  private Path writeSequences(KeyCase keys, CompressionType compression,
      Class<? extends CompressionCodec> codec, int records) throws IOException {
    String name = "sequences-" + keys + "-" + compression + "-" + codec.getSimpleName();
    Path folder = Files.createDirectories(directory.resolve(name));
    Supplier<Writable> source = keys.keys(3);
    try (SequenceFile.Writer writer = SequenceFile.createWriter(new Configuration(),
        SequenceFile.Writer.file(hadoopPath(folder.resolve("records"))),
        SequenceFile.Writer.keyClass(keys.type), SequenceFile.Writer.valueClass(Text.class),
        SequenceFile.Writer.compression(compression,
            ReflectionUtils.newInstance(codec, new Configuration())))) {
      for (int i = 0; i < records; i++) {
        Writable key = source.get();
        writer.append(key, new Text(key.toString()));
      }
    }
    return folder;
  }

  private void compareSequences(KeyCase keys, CompressionType compression,
      Class<? extends CompressionCodec> codec, int records, long splitBytes) throws Exception {
    compare("records by " + keys.type.getSimpleName() + ", compressed " + compression + " "
        + codec.getSimpleName(), writeSequences(keys, compression, codec, records), splitBytes,
        job -> {
          job.setInputFormatClass(SequenceFileInputFormat.class);
          job.setOutputKeyClass(keys.type);
          job.setOutputValueClass(Text.class);
        }, job -> {
          mapNatively(job, "hummer.IdentityMapper");
          mergeNatively(job);
          reduceNatively(job, "hummer.IdentityReducer");
        }, true);
  }

  private void compareReducers(Path lines) throws Exception {
    compare("word count, all of it native", lines, 100_003, NativeJobs::wordCount, job -> {
      countWordsNatively(job);
      mergeNatively(job);
    }, true);
    compare("word count, reduced natively behind Hadoop's merge", lines, 100_003,
        NativeJobs::wordCount, NativeJobs::countWordsNatively, true);
    compare("word count, reduced natively, a separator of the job's own and gzip", lines, 100_003,
        job -> {
          wordCount(job);
          job.getConfiguration().set(TextOutputFormat.SEPARATOR, " \u2192 ");
          FileOutputFormat.setCompressOutput(job, true);
          FileOutputFormat.setOutputCompressorClass(job, GzipCodec.class);
        }, NativeJobs::countWordsNatively, true);
    compare("word count, reduced natively, in an OutputFormat of the job's own", lines, 100_003,
        job -> {
          wordCount(job);
          job.setOutputFormatClass(OwnOutput.class);
        }, NativeJobs::countWordsNatively, true);
  }

  /** What is no TextOutputFormat is not known to make the same lines. */
  static final class OwnOutput extends TextOutputFormat<Text, Writable> {
    @Override
    public RecordWriter<Text, Writable> getRecordWriter(TaskAttemptContext task)
        throws IOException, InterruptedException {
      RecordWriter<Text, Writable> lines = super.getRecordWriter(task);
      return new RecordWriter<>() {
        @Override
        public void write(Text key, Writable value) throws IOException, InterruptedException {
          lines.write(new Text("[" + key + "]"), value);
        }

        @Override
        public void close(TaskAttemptContext context) throws IOException, InterruptedException {
          lines.close(context);
        }
      };
    }
  }

  private void failAll(Path lines) throws Exception {
    fails("a native partitioner without the native collector", lines, job -> {
      countLetters(job);
      mapNatively(job, "letters.LetterMapper");
      job.getConfiguration().set("hummer.libraries", library.toString());
      job.getConfiguration().set("hummer.partitioner", "letters.HalvesPartitioner");
      job.getConfiguration().set("mapreduce.job.map.output.collector.class",
          CollectorComparison.OWN);
    });
    fails("a mapper that is not there", lines, job -> {
      countLetters(job);
      mapNatively(job, "letters.LetterMapper");
    });
    fails("a native reducer with a comparator for groups", lines, job -> {
      wordCount(job);
      countWordsNatively(job);
      job.setGroupingComparatorClass(TestMappers.Backwards.class);
    });
    Path boom = Files.createDirectories(directory.resolve("boom"));
    Files.writeString(boom.resolve("lines"), "one\nboom\nthree\n");
    fails("a mapper that throws", boom, job -> {
      countLetters(job);
      mapNatively(job, "letters.ThrowingMapper");
      job.getConfiguration().set("hummer.libraries", library.toString());
    });
  }

  /** Those in which most calls between the two languages are. */
  private void compareSome() throws Exception {
    Path lines = writeLines("lines", null);
    failAll(lines);
    compareReducers(lines);
    compareFromHdfs(lines, writeLines("compressed",
        ReflectionUtils.newInstance(GzipCodec.class, new Configuration())));
    compare("letters, through a partitioner in Java", lines, 1L << 30, NativeJobs::countLetters,
        job -> {
          mapNatively(job, "letters.LetterMapper");
          job.getConfiguration().set("hummer.libraries", library.toString());
        }, true);
    compareMerge(lines, 100_003, 1L << 20, null);
    compareSequences(KeyCase.TEXT, CompressionType.BLOCK, SnappyCodec.class, 20_000, 1L << 30);
  }

  /** Bytes that Java has to read, from HDFS, plain and compressed. */
  private void compareFromHdfs(Path lines, Path compressed) throws Exception {
    Configuration configuration = new Configuration();
    configuration.setFloat("dfs.datanode.du.reserved.pct", 0);
    try (MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(configuration, directory.resolve("hdfs").toFile()).build()) {
      for (Path each : List.of(lines, compressed)) {
        org.apache.hadoop.fs.Path remote = new org.apache.hadoop.fs.Path(
            cluster.getFileSystem().getUri() + "/" + each.getFileName());
        cluster.getFileSystem().copyFromLocalFile(hadoopPath(each), remote);
        compare("word count of " + each.getFileName() + " on HDFS", remote, 100_003,
            NativeJobs::wordCount, job -> mapNatively(job, "hummer.WordMapper"), true);
      }
    }
  }

  private void compareAll() throws Exception {
    Path lines = writeLines("lines", null);
    for (long splitBytes : List.of(1L << 30, 100_003L, 20_011L)) {
      compare("word count, splits of " + splitBytes, lines, splitBytes, NativeJobs::wordCount,
          job -> mapNatively(job, "hummer.WordMapper"), true);
    }
    compare("word count with a native combiner", lines, 100_003, NativeJobs::wordCount, job -> {
      mapNatively(job, "hummer.WordMapper");
      job.getConfiguration().set("hummer.combiner", "hummer.SumCombiner");
    }, true);
    compare("word count by a native combiner behind a mapper in Java", lines, 100_003,
        NativeJobs::wordCount, job -> {
          mapNatively(job, "");
          job.setMapperClass(Words.class);
          job.getConfiguration().set("hummer.combiner", "hummer.SumCombiner");
        }, true);
    compare("word count, Hadoop's own collector", lines, 100_003, NativeJobs::wordCount, job -> {
      mapNatively(job, "hummer.WordMapper");
      job.getConfiguration().set("mapreduce.job.map.output.collector.class",
          CollectorComparison.OWN);
    }, false);
    compare("words, without reducers", lines, 100_003, job -> {
      wordCount(job);
      job.setNumReduceTasks(0);
    }, job -> mapNatively(job, "hummer.WordMapper"), false);
    for (Class<? extends CompressionCodec> codec : List.of(GzipCodec.class, DefaultCodec.class)) {
      Path compressed = writeLines(codec.getSimpleName(),
          ReflectionUtils.newInstance(codec, new Configuration()));
      compare("word count of " + codec.getSimpleName(), compressed, 100_003,
          NativeJobs::wordCount, job -> mapNatively(job, "hummer.WordMapper"), true);
    }
    compare("letters, by classes of a library", lines, 100_003, NativeJobs::countLetters, job -> {
      mapNatively(job, "letters.LetterMapper");
      job.getConfiguration().set("hummer.libraries", library.toString());
      job.getConfiguration().set("hummer.combiner", "letters.TextSumCombiner");
      job.getConfiguration().set("hummer.partitioner", "letters.HalvesPartitioner");
    }, true);
    compare("letters, through a partitioner in Java", lines, 100_003, NativeJobs::countLetters,
        job -> {
          mapNatively(job, "letters.LetterMapper");
          job.getConfiguration().set("hummer.libraries", library.toString());
        }, true);
    compareReducers(lines);
    failAll(lines);
    for (long splitBytes : List.of(1L << 30, 20_011L)) {
      for (long memoryBytes : List.of(1L << 28, 1L << 20)) {
        compareMerge(lines, splitBytes, memoryBytes, null);
      }
    }
    for (Class<? extends CompressionCodec> codec : List.of(GzipCodec.class, DefaultCodec.class,
        Lz4Codec.class, SnappyCodec.class)) {
      compareMerge(lines, 100_003, 1L << 20, codec);
    }
    compareFromHdfs(lines, directory.resolve(GzipCodec.class.getSimpleName()));
    for (KeyCase keys : KeyCase.values()) {
      compareSequences(keys, CompressionType.NONE, DefaultCodec.class, 3_000, 20_011);
    }
    for (Class<? extends CompressionCodec> codec : List.of(GzipCodec.class, DefaultCodec.class,
        Lz4Codec.class, SnappyCodec.class)) {
      compareSequences(KeyCase.TEXT, CompressionType.BLOCK, codec, 400_000, 700_001);
      compareSequences(KeyCase.BYTES, CompressionType.RECORD, codec, 20_000, 100_003);
    }
  }

  /** In memory, with spills, or from files at once: as the sizes are. */
  private void compareMerge(Path lines, long splitBytes, long memoryBytes,
      Class<? extends CompressionCodec> codec) throws Exception {
    String form = codec == null ? "" : ", " + codec.getSimpleName();
    compare("letters, splits of " + splitBytes + ", merged natively with " + memoryBytes
        + " bytes" + form, lines, splitBytes, job -> {
          countLetters(job);
          if (codec != null) {
            job.getConfiguration().setBoolean("mapreduce.map.output.compress", true);
            job.getConfiguration().set("mapreduce.map.output.compress.codec", codec.getName());
          }
        }, job -> {
          mergeNatively(job);
          job.getConfiguration().setLong("mapreduce.reduce.memory.totalbytes", memoryBytes);
        }, false);
  }

  private byte[] output(Job job) throws IOException {
    Path output = Path.of(FileOutputFormat.getOutputPath(job).toUri().getPath());
    List<Path> parts;
    try (Stream<Path> files = Files.list(output)) {
      parts = new ArrayList<>(files.filter(file -> file.getFileName().toString()
          .startsWith("part-")).sorted().toList());
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (Path part : parts) {
      all.writeBytes((part.getFileName() + "\n").getBytes(StandardCharsets.UTF_8));
      CompressionCodec codec =
          new CompressionCodecFactory(job.getConfiguration()).getCodec(hadoopPath(part));
      try (InputStream stored = Files.newInputStream(part);
          InputStream in = codec == null ? stored : codec.createInputStream(stored)) {
        all.writeBytes(in.readAllBytes());
      }
    }
    return all.toByteArray();
  }

  private static org.apache.hadoop.fs.Path hadoopPath(Path path) {
    return new org.apache.hadoop.fs.Path(path.toUri());
  }

  private static void require(boolean holds, String otherwise) throws IOException {
    if (!holds) {
      throw new IOException(otherwise);
    }
  }

  public static void main(String[] arguments) throws Exception {
    NativeJobs jobs = new NativeJobs(Path.of(arguments[0]).toAbsolutePath(),
        Path.of(arguments[1]).toAbsolutePath());
    if (arguments.length > 2 && arguments[2].equals("short")) {
      jobs.compareSome();
    } else {
      jobs.compareAll();
    }
    System.out.println("native: " + jobs.compared + " jobs are as they should be");
  }
}
