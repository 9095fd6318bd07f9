package hummer.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A collector of the batch core, behind JNI: records in, sorted segments of all partitions out.
 *
 * <p>A failure is an IOException with the sentence of the native side. After one the collector can
 * only be closed, and every other call fails with the first one again.
 *
 * <p>Thread: one at a time.
 */
final class NativeCollector implements AutoCloseable {
  /** What it has done, in the order in which the native side tells it. */
  static final class Metrics {
    final long spills;
    final long spilledRecords;
    final long spilledBytes;
    final long merges;
    final long writtenRecords;
    /** Of a combiner of a class library. */
    final long combinedRecords;
    final long recordsAfterCombining;
    final long sortMilliseconds;
    /** Of writing spills, without sorting. */
    final long spillMilliseconds;
    /** Of merging spills, and of writing the file at the end. */
    final long mergeMilliseconds;

    private Metrics(long[] values) {
      spills = values[0];
      spilledRecords = values[1];
      spilledBytes = values[2];
      merges = values[3];
      writtenRecords = values[4];
      combinedRecords = values[5];
      recordsAfterCombining = values[6];
      sortMilliseconds = values[7];
      spillMilliseconds = values[8];
      mergeMilliseconds = values[9];
    }
  }

  /** A call of the native side. */
  private interface Call {
    void run() throws IOException;
  }

  private long handle;
  private IOException failure;

  /** The combiner may be null. */
  NativeCollector(TaskSettings settings, JobCombiner<?, ?> combiner) throws IOException {
    NativeLibrary.load();
    handle = create(settings.toArray(), combiner);
  }

  /** What the native side knows it by, for those that put records into it there. */
  long handle() throws IOException {
    if (handle == 0) {
      throw new IOException("The native collector is closed.");
    }
    return handle;
  }

  /** Takes the records of a batch, the first so many bytes of a direct buffer. */
  void collect(ByteBuffer records, int sizeBytes) throws IOException {
    guard(() -> collect(handle, records, sizeBytes));
  }

  /** Writes all partitions to the file, and their index beside it, to that name and ".index". */
  void finish(String path) throws IOException {
    guard(() -> finish(handle, path));
  }

  Metrics metrics() throws IOException {
    return new Metrics(metrics(handle()));
  }

  @Override
  public void close() {
    if (handle != 0) {
      destroy(handle);
      handle = 0;
    }
  }

  private void guard(Call call) throws IOException {
    if (failure != null) {
      throw new IOException("The native collector has failed before.", failure);
    }
    handle();
    try {
      call.run();
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  private static native long create(String[] settings, JobCombiner<?, ?> combiner)
      throws IOException;

  private static native void collect(long handle, ByteBuffer records, int sizeBytes)
      throws IOException;

  private static native void finish(long handle, String path) throws IOException;

  private static native long[] metrics(long handle);

  private static native void destroy(long handle);
}
