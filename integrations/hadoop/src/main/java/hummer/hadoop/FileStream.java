package hummer.hadoop;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;

/**
 * A file of any FileSystem, as the native side reads it: into its own memory where the stream can
 * do that, else through an array.
 *
 * <p>Thread: one at a time.
 */
final class FileStream implements Closeable {
  private static final int ARRAY_BYTES = 256 * 1024;

  private final FSDataInputStream stream;
  private byte[] array;

  FileStream(Path path, Configuration configuration) throws IOException {
    stream = path.getFileSystem(configuration).open(path);
  }

  /** Called by the native side: how many bytes of the room it has filled; 0 at the end. */
  int read(long offset, ByteBuffer room) throws IOException {
    if (stream.getPos() != offset) {
      stream.seek(offset);
    }
    if (array == null) {
      try {
        return Math.max(stream.read(room), 0);
      } catch (UnsupportedOperationException e) {
        array = new byte[ARRAY_BYTES];
      }
    }
    int got = stream.read(array, 0, Math.min(array.length, room.remaining()));
    if (got <= 0) {
      return 0;
    }
    room.put(array, 0, got);
    return got;
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }
}
