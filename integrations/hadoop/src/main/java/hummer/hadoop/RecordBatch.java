package hummer.hadoop;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Records on their way to the native side, some thousands at a time: it hands over what it has when
 * a record does not fit any more.
 *
 * <p>A record that is larger than the buffer gets a larger one, which is given back when it has
 * gone.
 */
final class RecordBatch extends RecordBuffer {
  /** Who takes the records, the first so many bytes of the buffer. */
  interface Receiver {
    void take(ByteBuffer records, int sizeBytes, int count, long contentBytes) throws IOException;
  }

  private final Receiver receiver;
  private final ByteBuffer usual;
  private int count;

  RecordBatch(int sizeBytes, Receiver receiver) {
    super(sizeBytes);
    this.receiver = receiver;
    usual = bytes;
  }

  @Override
  void endRecord() {
    super.endRecord();
    count++;
  }

  /** Hands over all that has ended. */
  void handOver() throws IOException {
    if (count > 0) {
      int handed = count;
      count = 0;
      receiver.take(bytes, recordStart, handed, recordStart - (long) handed * HEAD_BYTES);
    }
    // What has begun goes to the front.
    ByteBuffer begun = bytes.duplicate();
    begun.limit(bytes.position()).position(recordStart);
    if (begun.remaining() <= usual.capacity()) {
      bytes = usual;
    }
    clear();
    bytes.put(begun.slice());
  }

  @Override
  void makeRoom(int more) throws IOException {
    if (recordStart > 0) {
      handOver();
    }
    if (more > bytes.remaining()) {
      super.makeRoom(more);
    }
  }
}
