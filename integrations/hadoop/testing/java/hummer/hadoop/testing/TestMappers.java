package hummer.hadoop.testing;

import java.io.IOException;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapreduce.Mapper;

/** Mappers that give lines keys of several classes. A line's last word is its number. */
final class TestMappers {
  /** How many times each line goes out, each time by another key. */
  static final String COPIES = "hummer.testing.copies";

  private TestMappers() {}

  /** What they share: a line goes out with its key, or several. */
  abstract static class Lines extends Mapper<LongWritable, Text, Writable, Text> {
    abstract Writable keyOf(String line, long number);

    @Override
    protected void map(LongWritable position, Text line, Context context)
        throws IOException, InterruptedException {
      String text = line.toString();
      long number = Long.parseLong(text.substring(text.lastIndexOf(' ') + 1));
      int copies = context.getConfiguration().getInt(COPIES, 1);
      for (int copy = 0; copy < copies; copy++) {
        context.write(keyOf(text, number * copies + copy), line);
      }
    }
  }

  static final class TextKeys extends Lines {
    @Override
    Writable keyOf(String line, long number) {
      return new Text(line);
    }
  }

  static final class IntKeys extends Lines {
    @Override
    Writable keyOf(String line, long number) {
      return new IntWritable((int) (number * 0x9E3779B1L));
    }
  }

  static final class LongKeys extends Lines {
    @Override
    Writable keyOf(String line, long number) {
      return new LongWritable(number * 0x9E3779B97F4A7C15L);
    }
  }

  static final class BytesKeys extends Lines {
    @Override
    Writable keyOf(String line, long number) {
      return new BytesWritable(Long.toString(number * 0x9E3779B97F4A7C15L, 7).getBytes());
    }
  }

  /** Sorts texts the other way round. */
  static final class Backwards extends WritableComparator {
    Backwards() {
      super(Text.class);
    }

    @Override
    public int compare(byte[] a, int aStart, int aLength, byte[] b, int bStart, int bLength) {
      return -compareBytes(a, aStart, aLength, b, bStart, bLength);
    }
  }
}
