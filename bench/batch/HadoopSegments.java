package org.apache.hadoop.mapred;

import com.github.luben.zstd.ZstdInputStream;
import com.github.luben.zstd.ZstdOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionInputStream;
import org.apache.hadoop.io.compress.CompressionOutputStream;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Hadoop's side of batch_segments.cpp: the same records, by the classes with which a map task
 * writes its spills and a reducer reads them. They are visible to their package alone, so this is
 * in it.
 *
 *   HadoopSegments write DIRECTORY
 *   HadoopSegments read DIRECTORY...
 *
 * The lines are those of batch_segments; "DIRECTORY CODEC missing MESSAGE" for a codec of which
 * this Hadoop lacks the library. ZStandardCodec needs Hadoop's native library, which is not in
 * Maven's repository: where it is missing, streams of zstd-jni take its place, and "by zstd-jni" is
 * behind the line.
 */
public final class HadoopSegments {
  private static final String[] NAMES = {"none", "snappy", "lz4", "gzip", "zstd"};
  private static final String[] CLASSES = {
    null, "SnappyCodec", "Lz4Codec", "GzipCodec", "ZStandardCodec"
  };
  private static final int PARTITIONS = 4;

  private final Configuration configuration = new Configuration(false);
  private final FileSystem files = new RawLocalFileSystem();
  private final JobConf job;

  private HadoopSegments() throws IOException {
    configuration.set("fs.file.impl", "org.apache.hadoop.fs.LocalFileSystem");
    files.initialize(URI.create("file:///"), configuration);
    job = new JobConf(configuration);
  }

  private static int recordsOf(int partition) {
    return partition == 1 ? 0 : partition == 3 ? 1 : 230;
  }

  private static byte[] keyOf(int partition, int record) {
    return bytesOf((int) ((record * 7919L + partition * 131L) % 300), partition, record, 1);
  }

  private static byte[] valueOf(int partition, int record) {
    int size = record % 50 == 49 ? 400_000 + record : (int) ((record * 104_729L) % 5_000);
    return bytesOf(size, partition, record, 2);
  }

  private static byte[] bytesOf(int size, int partition, int record, int salt) {
    byte[] bytes = new byte[size];
    long state = partition * 1_000_003L + record * 7L + salt;
    for (int i = 0; i < size; i++) {
      if (i % 100 < 50) {
        state = state * 6364136223846793005L + 1442695040888963407L;
        bytes[i] = (byte) (state >>> 33);
      } else {
        bytes[i] = (byte) record;
      }
    }
    return bytes;
  }

  /** Streams of zstd frames. What compressors IFile asks for are those of zlib, and are left idle. */
  private static final class ZstdStreams extends DefaultCodec {
    @Override
    public CompressionOutputStream createOutputStream(OutputStream out, Compressor idle)
        throws IOException {
      ZstdOutputStream zstd = new ZstdOutputStream(out);
      zstd.setCloseFrameOnFlush(true);
      return new CompressionOutputStream(out) {
        private OutputStream plain = zstd;

        @Override
        public void write(int value) throws IOException {
          plain.write(value);
        }

        @Override
        public void write(byte[] bytes, int begin, int size) throws IOException {
          plain.write(bytes, begin, size);
        }

        // What is under it stays open, as IFile writes the CRC there.
        @Override
        public void finish() throws IOException {
          if (plain != out) {
            zstd.flush();
            plain = out;
          }
        }

        @Override
        public void resetState() {}
      };
    }

    @Override
    public CompressionInputStream createInputStream(InputStream in, Decompressor idle)
        throws IOException {
      ZstdInputStream zstd = new ZstdInputStream(in);
      return new CompressionInputStream(in) {
        @Override
        public int read() throws IOException {
          return zstd.read();
        }

        @Override
        public int read(byte[] into, int begin, int size) throws IOException {
          return zstd.read(into, begin, size);
        }

        @Override
        public void resetState() {}
      };
    }
  }

  private CompressionCodec codec(int number) throws ClassNotFoundException {
    if (CLASSES[number] == null) {
      return null;
    }
    Class<?> type = Class.forName("org.apache.hadoop.io.compress." + CLASSES[number]);
    return (CompressionCodec) ReflectionUtils.newInstance(type, configuration);
  }

  private static DataInputBuffer buffer(byte[] bytes) {
    DataInputBuffer buffer = new DataInputBuffer();
    buffer.reset(bytes, bytes.length);
    return buffer;
  }

  private void write(String base, CompressionCodec codec) throws IOException {
    SpillRecord places = new SpillRecord(PARTITIONS);
    try (FSDataOutputStream out = files.create(new Path(base + ".out"))) {
      for (int partition = 0; partition < PARTITIONS; partition++) {
        long begin = out.getPos();
        IFile.Writer<?, ?> writer = new IFile.Writer<>(configuration, out, null, null, codec, null);
        for (int record = 0; record < recordsOf(partition); record++) {
          writer.append(buffer(keyOf(partition, record)), buffer(valueOf(partition, record)));
        }
        writer.close();
        places.putIndex(
            new IndexRecord(begin, writer.getRawLength(), writer.getCompressedLength()), partition);
      }
    }
    places.writeToFile(new Path(base + ".index"), job);
  }

  private static boolean holds(DataInputBuffer buffer, byte[] wanted) {
    int begin = buffer.getPosition();
    return Arrays.equals(buffer.getData(), begin, buffer.getLength(), wanted, 0, wanted.length);
  }

  private String read(String base, CompressionCodec codec) throws IOException {
    SpillRecord places = new SpillRecord(new Path(base + ".index"), job);
    if (places.size() != PARTITIONS) {
      return "WRONG: another number of partitions";
    }
    int all = 0;
    boolean same = true;
    for (int partition = 0; partition < PARTITIONS; partition++) {
      IndexRecord place = places.getIndex(partition);
      try (FSDataInputStream in = files.open(new Path(base + ".out"))) {
        in.seek(place.startOffset);
        IFile.Reader<?, ?> reader =
            new IFile.Reader<>(configuration, in, place.partLength, codec, null);
        DataInputBuffer key = new DataInputBuffer();
        DataInputBuffer value = new DataInputBuffer();
        int record = 0;
        for (; reader.nextRawKey(key); record++) {
          reader.nextRawValue(value);
          same &= holds(key, keyOf(partition, record)) && holds(value, valueOf(partition, record));
        }
        same &= record == recordsOf(partition) && reader.bytesRead == place.rawLength;
        all += record;
        reader.close();
      }
    }
    return (same ? "read " : "WRONG records, ") + all;
  }

  private String tried(boolean writes, String base, int number) {
    CompressionCodec codec;
    String by = "";
    try {
      codec = codec(number);
      if (codec != null) {
        codec.createCompressor();
      }
    } catch (ReflectiveOperationException | RuntimeException | LinkageError lacks) {
      if (!NAMES[number].equals("zstd")) {
        return "missing " + lacks;
      }
      codec = ReflectionUtils.newInstance(ZstdStreams.class, configuration);
      by = " by zstd-jni";
    }
    try {
      if (writes) {
        write(base, codec);
        return "written" + by;
      }
      return read(base, codec) + by;
    } catch (IOException | RuntimeException | Error refused) {
      return "refused " + String.valueOf(refused).replace('\n', ' ');
    }
  }

  public static void main(String[] words) throws IOException {
    HadoopSegments segments = new HadoopSegments();
    boolean writes = words[0].equals("write");
    for (String directory : Arrays.copyOfRange(words, 1, words.length)) {
      for (int number = 0; number < NAMES.length; number++) {
        String base = directory + "/" + NAMES[number];
        System.out.println(
            directory + " " + NAMES[number] + " " + segments.tried(writes, base, number));
      }
    }
  }
}
