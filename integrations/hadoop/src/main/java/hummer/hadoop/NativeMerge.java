package hummer.hadoop;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The outputs of all map tasks for one reduce task, merged natively in bounded memory
 * (shuffle_merge.hpp of the native half).
 *
 * <p>Hadoop does not end the shuffle of a task that fails, so what it holds is given back at the
 * latest when nobody knows it any more.
 *
 * <p>Thread: reserve to commit any, an output one at a time; the rest one. A failure is an
 * IOException with the sentence of the native side.
 */
final class NativeMerge implements AutoCloseable {
  private static final Cleaner CLEANER = Cleaner.create();
  private static final int BUFFER_BYTES = 64 * 1024;

  /** What it has done, in the order in which the native side tells it. */
  static final class Metrics {
    final long outputs;
    final long spills;
    final long spilledRecords;
    final long allBytes;

    private Metrics(long[] values) {
      outputs = values[0];
      spills = values[1];
      spilledRecords = values[2];
      allBytes = values[3];
    }
  }

  /** What is given back once, by whoever comes first. */
  private static final class Held implements Runnable {
    final AtomicLong handle;

    Held(long handle) {
      this.handle = new AtomicLong(handle);
    }

    @Override
    public void run() {
      long last = handle.getAndSet(0);
      if (last != 0) {
        destroy(last);
      }
    }
  }

  private final Held held;
  private final Cleaner.Cleanable cleanable;

  NativeMerge(TaskSettings settings) throws IOException {
    NativeLibrary.load();
    held = new Held(create(settings.toArray()));
    cleanable = CLEANER.register(this, held);
  }

  long handle() throws IOException {
    long handle = held.handle.get();
    if (handle == 0) {
      throw new IOException("The native merge is closed.");
    }
    return handle;
  }

  /** The number of an output that is to come; 0 where there is no room now. */
  long reserve(long rawBytes) throws IOException {
    return reserve(handle(), rawBytes);
  }

  /** Takes so many bytes of the stream, and no more, as that output, and looks at its CRC. */
  void receive(long id, InputStream from, long rawBytes, long storedBytes, Runnable progress)
      throws IOException {
    begin(handle(), id, rawBytes, storedBytes);
    byte[] array = new byte[(int) Math.min(BUFFER_BYTES, Math.max(1, storedBytes))];
    ByteBuffer direct = ByteBuffer.allocateDirect(array.length);
    for (long left = storedBytes; left > 0; ) {
      int got = from.read(array, 0, (int) Math.min(array.length, left));
      if (got < 0) {
        throw new IOException("A map output of " + storedBytes + " bytes ended " + left
            + " bytes too early.");
      }
      direct.clear().put(array, 0, got);
      receive(handle(), id, direct, got);
      left -= got;
      progress.run();
    }
    check(handle(), id);
  }

  /** It counts now. */
  void commit(long id) throws IOException {
    commit(handle(), id);
  }

  void abort(long id) {
    long handle = held.handle.get();
    if (handle != 0) {
      abort(handle, id);
    }
  }

  /** There are no more outputs. Says whether there is a record. */
  boolean finish() throws IOException {
    return finish(handle());
  }

  /** The next records, in the form of RecordBuffer, until the next call; null: the end. */
  ByteBuffer nextBatch() throws IOException {
    return nextBatch(handle());
  }

  Metrics metrics() throws IOException {
    return new Metrics(metrics(handle()));
  }

  @Override
  public void close() {
    cleanable.clean();
  }

  private static native long create(String[] settings) throws IOException;

  private static native long reserve(long handle, long rawBytes) throws IOException;

  private static native void begin(long handle, long id, long rawBytes, long storedBytes)
      throws IOException;

  private static native void receive(long handle, long id, ByteBuffer bytes, int sizeBytes)
      throws IOException;

  private static native void check(long handle, long id) throws IOException;

  private static native void commit(long handle, long id) throws IOException;

  private static native void abort(long handle, long id);

  private static native boolean finish(long handle) throws IOException;

  private static native ByteBuffer nextBatch(long handle) throws IOException;

  private static native long[] metrics(long handle);

  private static native void destroy(long handle);
}
