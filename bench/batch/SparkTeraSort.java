import java.io.BufferedOutputStream;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;

/**
 * Sorts TeraSort's records by Spark in this process, to files part-r-00000 and so on, in order.
 *
 *   SparkTeraSort rdd|sql THREADS INPUT OUTPUT-DIRECTORY
 *
 * `rdd` sorts pairs of bytes by sortByKey, `sql` rows of two binary columns by a global sort of
 * Spark SQL. Prints one JSON object with the seconds from reading to the last file; the start of
 * the JVM and of Spark are not among them.
 */
public final class SparkTeraSort {
  private static final int KEY_BYTES = 10;
  private static final int RECORD_BYTES = 100;

  private static final class ByBytes implements Comparator<byte[]>, Serializable {
    @Override
    public int compare(byte[] one, byte[] other) {
      return Arrays.compareUnsigned(one, other);
    }
  }

  private interface Bytes<T> extends Serializable {
    byte[] of(T record, int part);
  }

  private static <T> void write(String output, Iterator<T> records, Bytes<T> bytes)
      throws Exception {
    Path path = Path.of(output, String.format("part-r-%05d", TaskContext.getPartitionId()));
    try (BufferedOutputStream out =
        new BufferedOutputStream(Files.newOutputStream(path), 1 << 20)) {
      while (records.hasNext()) {
        T record = records.next();
        out.write(bytes.of(record, 0));
        out.write(bytes.of(record, 1));
      }
    }
  }

  private static byte[] key(byte[] record) {
    return Arrays.copyOf(record, KEY_BYTES);
  }

  private static byte[] value(byte[] record) {
    return Arrays.copyOfRange(record, KEY_BYTES, RECORD_BYTES);
  }

  public static void main(String[] words) throws Exception {
    int threads = Integer.parseInt(words[1]);
    String output = words[3];
    SparkSession session =
        SparkSession.builder()
            .master("local[" + threads + "]")
            .appName("terasort")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .config("spark.sql.shuffle.partitions", String.valueOf(threads))
            .config("spark.sql.adaptive.enabled", "false")
            .getOrCreate();
    Files.createDirectories(Path.of(output));
    JavaSparkContext context = new JavaSparkContext(session.sparkContext());
    long begin = System.nanoTime();
    JavaRDD<byte[]> records = context.binaryRecords(words[2], RECORD_BYTES);
    if (words[0].equals("rdd")) {
      records
          .mapToPair(record -> new Tuple2<>(key(record), value(record)))
          .sortByKey(new ByBytes(), true, threads)
          .foreachPartition(
              each -> write(output, each, (pair, part) -> part == 0 ? pair._1() : pair._2()));
    } else {
      StructType columns =
          DataTypes.createStructType(
              List.of(
                  DataTypes.createStructField("key", DataTypes.BinaryType, false),
                  DataTypes.createStructField("value", DataTypes.BinaryType, false)));
      session
          .createDataFrame(
              records.map(record -> RowFactory.create(key(record), value(record))), columns)
          .sort("key")
          .javaRDD()
          .foreachPartition(
              each -> write(output, each, (Row row, int part) -> (byte[]) row.get(part)));
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    System.out.printf(
        "{\"seconds\": %.3f, \"version\": \"%s\"}%n", seconds, session.version());
    session.stop();
  }
}
