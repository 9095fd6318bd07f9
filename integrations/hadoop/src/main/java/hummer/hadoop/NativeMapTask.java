package hummer.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A mapper of a class library, behind JNI, with what it reads and where its records go
 * (map_task.hpp of the native half).
 *
 * <p>A failure is an IOException with the sentence of the native side, or what a call from there
 * into Java has thrown. After one it can only be closed.
 *
 * <p>Thread: one at a time.
 */
final class NativeMapTask implements AutoCloseable {
  /** What it has done so far, in the order in which the native side tells it. */
  static final class Report {
    final long inputRecords;
    final long bytesRead;
    final long outputRecords;
    final long outputBytes;

    /** What a task has done that has not begun. */
    static final Report NOTHING = new Report(new long[4]);

    private Report(long[] values) {
      inputRecords = values[0];
      bytesRead = values[1];
      outputRecords = values[2];
      outputBytes = values[3];
    }
  }

  private long handle;

  /** The collector, the stream and the sink may be null. The collector is closed after this. */
  NativeMapTask(TaskSettings settings, NativeCollector collector, FileStream stream,
      OutputSink sink) throws IOException {
    NativeLibrary.load();
    handle = create(settings.toArray(), collector == null ? 0 : collector.handle(), stream, sink);
  }

  /** Maps some MiB of the split; false when it has ended. */
  boolean mapSome() throws IOException {
    return mapSome(handle);
  }

  /** Maps the records of a batch, the first so many bytes of a direct buffer. */
  void mapBatch(ByteBuffer records, int sizeBytes) throws IOException {
    mapBatch(handle, records, sizeBytes);
  }

  /** There are no more records. */
  void finish() throws IOException {
    close(handle);
  }

  Report report() {
    return new Report(report(handle));
  }

  /** Those of the mapper: group, name, value, and again. */
  String[] counters() {
    return counters(handle);
  }

  @Override
  public void close() {
    if (handle != 0) {
      destroy(handle);
      handle = 0;
    }
  }

  private static native long create(String[] settings, long collector, FileStream stream,
      OutputSink sink) throws IOException;

  private static native boolean mapSome(long handle) throws IOException;

  private static native void mapBatch(long handle, ByteBuffer records, int sizeBytes)
      throws IOException;

  private static native void close(long handle) throws IOException;

  private static native long[] report(long handle);

  private static native String[] counters(long handle);

  private static native void destroy(long handle);
}
