package hummer.hadoop;

import java.io.IOException;

/**
 * A reducer of a class library, behind JNI (reduce_task.hpp of the native half).
 *
 * <p>A failure is an IOException with the sentence of the native side, or what a call from there
 * into Java has thrown.
 *
 * <p>Thread: one, but for report and stop: any, until it is closed.
 */
final class NativeReduceTask implements AutoCloseable {
  /** What it has done so far, in the order in which the native side tells it. */
  static final class Report {
    /** What a task has done that has not begun. */
    static final Report NOTHING = new Report(new long[3]);

    final long records;
    /** When it has ended. */
    final long groups;
    final long bytes;

    private Report(long[] values) {
      records = values[0];
      groups = values[1];
      bytes = values[2];
    }
  }

  private long handle;

  /** Records come from the merge, or where that is null from the source. */
  NativeReduceTask(TaskSettings settings, NativeMerge merge, RecordSource source, OutputSink sink)
      throws IOException {
    NativeLibrary.load();
    handle = create(settings.toArray(), merge == null ? 0 : merge.handle(), source, sink);
  }

  void run() throws IOException {
    run(handle);
  }

  synchronized void stop() {
    if (handle != 0) {
      stop(handle);
    }
  }

  synchronized Report report() {
    return handle == 0 ? Report.NOTHING : new Report(report(handle));
  }

  /** Those of the reducer: group, name, value, and again. */
  String[] counters() {
    return counters(handle);
  }

  @Override
  public synchronized void close() {
    if (handle != 0) {
      destroy(handle);
      handle = 0;
    }
  }

  private static native long create(String[] settings, long merge, RecordSource source,
      OutputSink sink) throws IOException;

  private static native void run(long handle) throws IOException;

  private static native void stop(long handle);

  private static native long[] report(long handle);

  private static native String[] counters(long handle);

  private static native void destroy(long handle);
}
