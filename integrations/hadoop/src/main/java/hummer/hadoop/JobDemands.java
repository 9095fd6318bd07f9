package hummer.hadoop;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.io.BooleanWritable;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.ShortWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VIntWritable;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.DeflateCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.io.compress.ZStandardCodec;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.io.serializer.WritableSerialization;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.CryptoUtils;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * What a job asks of its collector, and whether the native one can do it. What it can't is an
 * IOException with one sentence that says why: Hadoop logs it, and takes the next collector.
 */
final class JobDemands {
  static final String NO_CODEC = "none";
  private static final int DEFAULT_SORT_MEGABYTES = 100;
  private static final int BUFFER_BYTES = 256 * 1024;
  /** With less, memory is full when most partitions have few records, and spills become many. */
  private static final long LEAST_BYTES_PER_PARTITION = 1024;

  /** Classes of keys that have a native order, and the comparator that stands for it. */
  private static final Map<String, String> NATIVE_ORDERS = new HashMap<>();

  /** Classes of codecs that have a native form, and what names the size of their blocks, if any. */
  private static final Map<String, String> NATIVE_CODECS = new HashMap<>();

  static {
    addOrder(Text.class, Text.Comparator.class);
    addOrder(BytesWritable.class, BytesWritable.Comparator.class);
    addOrder(NullWritable.class, NullWritable.Comparator.class);
    addOrder(BooleanWritable.class, BooleanWritable.Comparator.class);
    addOrder(MD5Hash.class, MD5Hash.Comparator.class);
    addOrder(ByteWritable.class, ByteWritable.Comparator.class);
    addOrder(ShortWritable.class, ShortWritable.Comparator.class);
    addOrder(IntWritable.class, IntWritable.Comparator.class);
    addOrder(LongWritable.class, LongWritable.Comparator.class);
    addOrder(FloatWritable.class, FloatWritable.Comparator.class);
    addOrder(DoubleWritable.class, DoubleWritable.Comparator.class);
    // These have none of their own, and are compared as objects.
    addOrder(VIntWritable.class, WritableComparator.class);
    addOrder(VLongWritable.class, WritableComparator.class);

    NATIVE_CODECS.put(SnappyCodec.class.getName(), "io.compression.codec.snappy.buffersize");
    NATIVE_CODECS.put(Lz4Codec.class.getName(), "io.compression.codec.lz4.buffersize");
    NATIVE_CODECS.put(GzipCodec.class.getName(), "");
    NATIVE_CODECS.put(DefaultCodec.class.getName(), "");
    NATIVE_CODECS.put(DeflateCodec.class.getName(), "");
    NATIVE_CODECS.put(ZStandardCodec.class.getName(), "");
  }

  final int partitions;
  final long memoryBytes;
  final String keyClass;
  final String codec;

  JobDemands(JobConf job) throws IOException {
    partitions = job.getNumReduceTasks();
    memoryBytes = memoryOf(job);
    if (partitions > memoryBytes / LEAST_BYTES_PER_PARTITION) {
      throw new IOException(
          "The job has " + partitions + " partitions, and with " + JobContext.IO_SORT_MB + " = "
              + (memoryBytes >> 20) + " the native collector takes "
              + memoryBytes / LEAST_BYTES_PER_PARTITION + " at most.");
    }
    keyClass = keysOf(job);
    codec = codecOf(job);
    refuseEncryption(job);
  }

  static void refuseEncryption(JobConf job) throws IOException {
    if (CryptoUtils.isEncryptedSpillEnabled(job)) {
      throw new IOException("Map output is to be encrypted, which the native collector can't do.");
    }
  }

  static boolean isNativeCodec(String className) {
    return NATIVE_CODECS.containsKey(className);
  }

  private static void addOrder(Class<?> keys, Class<?> comparator) {
    NATIVE_ORDERS.put(keys.getName(), comparator.getName());
  }

  private static long memoryOf(JobConf job) throws IOException {
    int megabytes = job.getInt(JobContext.IO_SORT_MB, DEFAULT_SORT_MEGABYTES);
    if (megabytes <= 0) {
      throw new IOException(JobContext.IO_SORT_MB + " is " + megabytes + ", and must be above 0.");
    }
    return (long) megabytes << 20;
  }

  static String keysOf(JobConf job) throws IOException {
    Class<?> keys = job.getMapOutputKeyClass();
    String order = NATIVE_ORDERS.get(keys.getName());
    if (order == null) {
      throw new IOException("Keys of the class " + keys.getName() + " have no native order.");
    }
    RawComparator<?> comparator = job.getOutputKeyComparator();
    if (!comparator.getClass().getName().equals(order)) {
      throw new IOException(
          "The job sorts its keys by " + comparator.getClass().getName()
              + ", which has no native form.");
    }
    // The order is one of the bytes that Writable writes.
    Serializer<?> serializer = new SerializationFactory(job).getSerializer(keys);
    if (serializer == null) {
      throw new IOException("No serialization takes the class " + keys.getName() + ".");
    }
    if (serializer.getClass().getEnclosingClass() != WritableSerialization.class) {
      throw new IOException(
          "Keys are serialized by " + serializer.getClass().getName() + ", not by Writable.");
    }
    return keys.getName();
  }

  static String codecOf(JobConf job) throws IOException {
    if (!job.getCompressMapOutput()) {
      return NO_CODEC;
    }
    Class<? extends CompressionCodec> type = job.getMapOutputCompressorClass(DefaultCodec.class);
    String blockSize = NATIVE_CODECS.get(type.getName());
    if (blockSize == null) {
      throw new IOException("The codec " + type.getName() + " has no native form.");
    }
    // Readers have buffers of that size, and ours fill those of the usual one.
    if (!blockSize.isEmpty() && job.getInt(blockSize, BUFFER_BYTES) < BUFFER_BYTES) {
      throw new IOException(
          blockSize + " is " + job.getInt(blockSize, BUFFER_BYTES)
              + ", and the native codec's blocks need " + BUFFER_BYTES + ".");
    }
    // What reducers can't read is not to be written.
    try {
      ReflectionUtils.newInstance(type, job).getDecompressorType();
    } catch (RuntimeException e) {
      throw new IOException(
          "Hadoop itself can't use the codec " + type.getName() + " here: " + e.getMessage(), e);
    }
    return type.getName();
  }
}
