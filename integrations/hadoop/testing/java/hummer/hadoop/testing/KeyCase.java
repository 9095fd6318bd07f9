package hummer.hadoop.testing;

import java.util.Random;
import java.util.function.Supplier;
import org.apache.hadoop.io.BooleanWritable;
import org.apache.hadoop.io.ByteWritable;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.DoubleWritable;
import org.apache.hadoop.io.FloatWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.ShortWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.VIntWritable;
import org.apache.hadoop.io.VLongWritable;
import org.apache.hadoop.io.Writable;

/** Keys of one class, by chance; some are equal, and each class has its edges among them. */
enum KeyCase {
  TEXT(Text.class, random -> new Text(word(random))),
  BYTES(BytesWritable.class, random -> new BytesWritable(bytes(random, 24))),
  NOTHING(NullWritable.class, random -> NullWritable.get()),
  BOOLEAN(BooleanWritable.class, random -> new BooleanWritable(random.nextBoolean())),
  HASH(MD5Hash.class, random -> MD5Hash.digest(word(random))),
  BYTE(ByteWritable.class, random -> new ByteWritable((byte) random.nextInt())),
  SHORT(ShortWritable.class, random -> new ShortWritable((short) random.nextInt())),
  INT(IntWritable.class, random -> new IntWritable((int) number(random))),
  LONG(LongWritable.class, random -> new LongWritable(number(random))),
  VARIABLE_INT(VIntWritable.class, random -> new VIntWritable((int) number(random))),
  VARIABLE_LONG(VLongWritable.class, random -> new VLongWritable(number(random))),
  FLOAT(FloatWritable.class, random -> new FloatWritable((float) fraction(random))),
  DOUBLE(DoubleWritable.class, random -> new DoubleWritable(fraction(random)));

  /** Makes the next key. */
  private interface Source {
    Writable next(Random random);
  }

  final Class<? extends Writable> type;
  private final Source source;

  KeyCase(Class<? extends Writable> type, Source source) {
    this.type = type;
    this.source = source;
  }

  Supplier<Writable> keys(long seed) {
    Random random = new Random(seed);
    return () -> source.next(random);
  }

  private static String word(Random random) {
    int length = random.nextInt(20);
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      // Some beyond ASCII, and long runs that are alike.
      text.append(random.nextInt(8) == 0 ? (char) (0xE0 + random.nextInt(400)) : (char) ('a'
          + random.nextInt(3)));
    }
    // Lengths that take a vint of two bytes.
    return random.nextInt(50) == 0 ? text.toString().repeat(20) : text.toString();
  }

  private static byte[] bytes(Random random, int most) {
    byte[] bytes = new byte[random.nextInt(most)];
    random.nextBytes(bytes);
    return bytes;
  }

  private static long number(Random random) {
    switch (random.nextInt(8)) {
      case 0:
        return Long.MAX_VALUE - random.nextInt(3);
      case 1:
        return Long.MIN_VALUE + random.nextInt(3);
      case 2:
      case 3:
        return random.nextInt(500) - 250;
      default:
        return random.nextLong() >> random.nextInt(64);
    }
  }

  private static double fraction(Random random) {
    double[] edges = {0.0, -0.0, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY,
      Float.MIN_VALUE, -Float.MIN_VALUE, 1e30, -1e30};
    return random.nextInt(4) == 0 ? edges[random.nextInt(edges.length)] : random.nextGaussian();
  }
}
