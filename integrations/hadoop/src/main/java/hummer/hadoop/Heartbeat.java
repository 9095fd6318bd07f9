package hummer.hadoop;

import java.io.IOException;

/**
 * Calls a function each second while work takes long in the native half, in which a task must not
 * seem to hang.
 *
 * <pre>
 *   Heartbeat.during(() -> collector.finish(path), reporter::progress);
 * </pre>
 *
 * <p>The function runs on a thread of its own, and not any more when this returns.
 */
final class Heartbeat {
  private static final long INTERVAL_MILLISECONDS = 1000;

  private Heartbeat() {}

  /** What takes long. */
  interface Work {
    void run() throws IOException;
  }

  static void during(Work work, Runnable eachSecond) throws IOException {
    Thread thread = new Thread(() -> {
      try {
        while (true) {
          eachSecond.run();
          Thread.sleep(INTERVAL_MILLISECONDS);
        }
      } catch (InterruptedException e) {
        // The work has ended.
      }
    }, "hummer heartbeat");
    thread.setDaemon(true);
    thread.start();
    try {
      work.run();
    } finally {
      thread.interrupt();
      join(thread);
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
