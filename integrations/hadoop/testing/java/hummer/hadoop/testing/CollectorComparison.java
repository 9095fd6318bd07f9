package hummer.hadoop.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.io.compress.ZStandardCodec;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Gives the same records to Hadoop's collector and to the native one, and compares what they write:
 * file.out and its index byte for byte where nothing is compressed, and with a codec the records
 * that Hadoop's reader finds, and the lengths before compression. Counters, too.
 *
 * <p>Values are made of their keys, but where a case says otherwise: Hadoop's sort leaves records
 * with equal keys in any order, which would differ where their values do.
 */
final class CollectorComparison {
  static final String NATIVE = "hummer.hadoop.NativeMapOutputCollector";
  static final String OWN = "org.apache.hadoop.mapred.MapTask$MapOutputBuffer";

  private final Path directory;
  private int runs;

  CollectorComparison(Path directory) {
    this.directory = directory;
  }

  /** By which API the case has a combiner. */
  private enum Combining { NOTHING, OLD_API, NEW_API }

  /** What one comparison is about. */
  private static final class Case {
    final KeyCase keys;
    Class<? extends CompressionCodec> codec;
    int records = 20_000;
    int partitions = 3;
    int sortMegabytes = 16;
    int valueBytes = 12;
    boolean valuesDiffer;
    Combining combining = Combining.NOTHING;

    Case(KeyCase keys) {
      this.keys = keys;
    }

    @Override
    public String toString() {
      return keys.type.getSimpleName() + " keys, codec "
          + (codec == null ? "none" : codec.getSimpleName()) + ", " + records + " records, "
          + partitions + " partitions, " + sortMegabytes + " MiB, values of " + valueBytes
          + (valuesDiffer ? " that differ" : "")
          + (combining == Combining.NOTHING ? "" : ", combiner of the " + combining);
    }
  }

  /** All of them: how many there were. */
  int compareAll() throws Exception {
    List<Case> cases = new ArrayList<>();
    for (KeyCase keys : KeyCase.values()) {
      cases.add(new Case(keys));
    }
    for (KeyCase keys : List.of(KeyCase.TEXT, KeyCase.LONG)) {
      Case spills = new Case(keys);
      spills.records = 200_000;
      spills.sortMegabytes = 1;
      cases.add(spills);
      Case differing = new Case(keys);
      differing.valuesDiffer = true;
      cases.add(differing);
    }
    for (Combining combining : List.of(Combining.OLD_API, Combining.NEW_API)) {
      for (int sortMegabytes : List.of(16, 1)) {
        Case combined = new Case(KeyCase.SHORT);
        combined.combining = combining;
        combined.sortMegabytes = sortMegabytes;
        combined.records = 160_000;
        cases.add(combined);
      }
    }
    Case empty = new Case(KeyCase.TEXT);
    empty.records = 0;
    cases.add(empty);
    Case scattered = new Case(KeyCase.INT);
    scattered.partitions = 2_000;
    cases.add(scattered);
    Case large = new Case(KeyCase.BYTES);
    large.records = 40;
    large.valueBytes = 900_000;
    large.sortMegabytes = 64;
    cases.add(large);
    for (Class<? extends CompressionCodec> codec : List.of(SnappyCodec.class, Lz4Codec.class,
        GzipCodec.class, DefaultCodec.class, ZStandardCodec.class)) {
      if (!isUsable(codec)) {
        continue;
      }
      Case compressed = new Case(KeyCase.TEXT);
      compressed.codec = codec;
      cases.add(compressed);
      Case spilled = new Case(KeyCase.BYTES);
      spilled.codec = codec;
      spilled.records = 100_000;
      spilled.sortMegabytes = 1;
      spilled.valueBytes = 100;
      cases.add(spilled);
    }
    for (Case each : cases) {
      compare(each);
    }
    return cases.size();
  }

  /** Some of Hadoop's codecs need its native library, which the artefacts do not have. */
  private static boolean isUsable(Class<? extends CompressionCodec> codec) {
    try {
      ReflectionUtils.newInstance(codec, new JobConf()).createCompressor();
      return true;
    } catch (RuntimeException e) {
      System.out.println("left out: " + codec.getSimpleName() + ", which this Hadoop can't do: "
          + e.getMessage());
      return false;
    }
  }

  private CollectorRun run(Case one, String collector) throws Exception {
    JobConf job = new JobConf();
    job.setNumReduceTasks(one.partitions);
    job.setMapOutputKeyClass(one.keys.type);
    job.setMapOutputValueClass(BytesWritable.class);
    job.setInt("mapreduce.task.io.sort.mb", one.sortMegabytes);
    if (one.codec != null) {
      job.setCompressMapOutput(true);
      job.setMapOutputCompressorClass(one.codec);
    }
    if (one.combining == Combining.OLD_API) {
      job.setCombinerClass(TestCombiners.FirstOfOldApi.class);
    } else if (one.combining == Combining.NEW_API) {
      job.setBoolean("mapred.mapper.new-api", true);
      job.setClass("mapreduce.job.combine.class", TestCombiners.First.class, Reducer.class);
    }
    CollectorRun run = new CollectorRun(job, directory.resolve("run-" + runs++));
    run.init(collector);
    Supplier<Writable> keys = one.keys.keys(one.records);
    for (int i = 0; i < one.records; i++) {
      Writable key = keys.get();
      int hash = Arrays.hashCode(CollectorRun.bytesOf(key));
      byte[] value = new byte[one.valueBytes];
      Arrays.fill(value, (byte) (one.valuesDiffer ? i : hash));
      run.collect(key, new BytesWritable(value), (hash & Integer.MAX_VALUE) % one.partitions);
    }
    run.finish();
    return run;
  }

  private void compare(Case one) throws Exception {
    CollectorRun own = run(one, OWN);
    CollectorRun ours = run(one, NATIVE);
    if (one.codec == null && !one.valuesDiffer) {
      require(Arrays.equals(own.output(), ours.output()), one, "file.out differs");
      require(Arrays.equals(own.index(), ours.index()), one, "file.out.index differs");
    }
    for (int partition = 0; partition < one.partitions; partition++) {
      IndexRecord ownPlace = own.places().getIndex(partition);
      IndexRecord place = ours.places().getIndex(partition);
      require(ownPlace.rawLength == place.rawLength, one, "the raw length of a segment differs");
      compareRecords(one, own.records(partition), ours.records(partition));
    }
    for (TaskCounter counter : List.of(TaskCounter.MAP_OUTPUT_RECORDS,
        TaskCounter.MAP_OUTPUT_BYTES)) {
      require(own.counter(counter) == ours.counter(counter), one, counter + " is "
          + ours.counter(counter) + ", and Hadoop's " + own.counter(counter));
    }
    require(ours.counter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES) == ours.output().length, one,
        "MAP_OUTPUT_MATERIALIZED_BYTES is not the length of file.out");
    // When something is spilled is a collector's own business, and then how often it is written.
    long ownSpilled = own.counter(TaskCounter.SPILLED_RECORDS);
    long spilled = ours.counter(TaskCounter.SPILLED_RECORDS);
    if (one.sortMegabytes > 1) {
      require(spilled == ownSpilled, one,
          "SPILLED_RECORDS is " + spilled + ", and Hadoop's " + ownSpilled);
      for (TaskCounter counter : List.of(TaskCounter.COMBINE_INPUT_RECORDS,
          TaskCounter.COMBINE_OUTPUT_RECORDS)) {
        require(own.counter(counter) == ours.counter(counter), one, counter + " is "
            + ours.counter(counter) + ", and Hadoop's " + own.counter(counter));
      }
    } else {
      require(spilled > one.records || one.combining != Combining.NOTHING, one,
          "nothing was spilled");
    }
    System.out.println("equal: " + one);
  }

  private static void compareRecords(Case one, List<CollectorRun.RawRecord> own,
      List<CollectorRun.RawRecord> ours) throws IOException {
    require(own.size() == ours.size(), one, "the number of records in a segment differs");
    if (one.valuesDiffer) {
      sortValues(own);
      sortValues(ours);
    }
    for (int i = 0; i < own.size(); i++) {
      require(Arrays.equals(own.get(i).key, ours.get(i).key)
          && Arrays.equals(own.get(i).value, ours.get(i).value), one, "record " + i + " differs");
    }
  }

  /** Among records with equal keys. */
  private static void sortValues(List<CollectorRun.RawRecord> records) {
    int begin = 0;
    for (int i = 1; i <= records.size(); i++) {
      if (i == records.size() || !Arrays.equals(records.get(i).key, records.get(begin).key)) {
        records.subList(begin, i).sort((a, b) -> Arrays.compare(a.value, b.value));
        begin = i;
      }
    }
  }

  private static void require(boolean holds, Case one, String what) throws IOException {
    if (!holds) {
      throw new IOException(one + ": " + what);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    int cases = new CollectorComparison(directory.resolve("comparison")).compareAll();
    System.out.println("comparison: " + cases + " cases are equal");
  }
}
