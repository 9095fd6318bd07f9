package hummer.hadoop;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Records on their way to the native side, some thousands at a time: serializers write into it, and
 * it hands over what it has when a record does not fit any more.
 *
 * <p>Each record is three numbers of 4 bytes, in the machine's order (partition, length of the key,
 * length of the value), then key and value. A record that is larger than the buffer gets a larger
 * one, which is given back when it has gone.
 *
 * <p>Thread: one at a time.
 */
final class RecordBatch extends OutputStream {
  /** Who takes the records, the first so many bytes of the buffer. */
  interface Receiver {
    void take(ByteBuffer records, int sizeBytes, int count, long contentBytes) throws IOException;
  }

  private static final int HEAD_BYTES = 12;
  private static final int KEY_LENGTH = 4;
  private static final int VALUE_LENGTH = 8;
  private static final int LARGEST_BYTES = Integer.MAX_VALUE - 8;

  private final Receiver receiver;
  private final ByteBuffer usual;
  private ByteBuffer bytes;
  private int recordStart;
  private int keyEnd;
  private int records;

  RecordBatch(int sizeBytes, Receiver receiver) {
    this.receiver = receiver;
    usual = ByteBuffer.allocateDirect(sizeBytes).order(ByteOrder.nativeOrder());
    bytes = usual;
  }

  /** What a record before it has left without an end is dropped. */
  void beginRecord(int partition) throws IOException {
    bytes.position(recordStart);
    makeRoom(HEAD_BYTES);
    bytes.putInt(recordStart, partition);
    bytes.position(recordStart + HEAD_BYTES);
  }

  void endKey() {
    keyEnd = bytes.position() - recordStart;
  }

  void endRecord() {
    int end = bytes.position();
    bytes.putInt(recordStart + KEY_LENGTH, keyEnd - HEAD_BYTES);
    bytes.putInt(recordStart + VALUE_LENGTH, end - recordStart - keyEnd);
    recordStart = end;
    records++;
  }

  /** Hands over all that has ended. */
  void handOver() throws IOException {
    if (records > 0) {
      int count = records;
      int sizeBytes = recordStart;
      records = 0;
      receiver.take(bytes, sizeBytes, count, sizeBytes - (long) count * HEAD_BYTES);
    }
    // What has begun goes to the front.
    int begun = bytes.position() - recordStart;
    if (bytes != usual && begun <= usual.capacity()) {
      ByteBuffer larger = bytes;
      bytes = usual;
      moveBegun(larger, begun);
    } else if (recordStart > 0) {
      moveBegun(bytes, begun);
    }
    recordStart = 0;
  }

  private void moveBegun(ByteBuffer from, int begun) {
    ByteBuffer record = from.duplicate();
    record.limit(recordStart + begun).position(recordStart);
    bytes.clear();
    bytes.put(record.slice());
  }

  private void makeRoom(int more) throws IOException {
    if (more <= bytes.remaining()) {
      return;
    }
    handOver();
    if (more <= bytes.remaining()) {
      return;
    }
    long needed = (long) bytes.position() + more;
    if (needed > LARGEST_BYTES) {
      throw new IOException("A record has more than " + LARGEST_BYTES + " bytes.");
    }
    int capacity = (int) Math.min(LARGEST_BYTES, Math.max(needed, 2L * bytes.capacity()));
    ByteBuffer larger = ByteBuffer.allocateDirect(capacity).order(ByteOrder.nativeOrder());
    bytes.flip();
    larger.put(bytes);
    bytes = larger;
  }

  @Override
  public void write(int value) throws IOException {
    if (!bytes.hasRemaining()) {
      makeRoom(1);
    }
    bytes.put((byte) value);
  }

  @Override
  public void write(byte[] from, int offset, int length) throws IOException {
    if (length > bytes.remaining()) {
      makeRoom(length);
    }
    bytes.put(from, offset, length);
  }
}
