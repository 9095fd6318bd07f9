package hummer.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Where what a native mapper or reducer gives out becomes Java's, some thousands at a time. */
interface OutputSink {
  /** Called by the native side. */
  void take(ByteBuffer batch) throws IOException, InterruptedException;
}
