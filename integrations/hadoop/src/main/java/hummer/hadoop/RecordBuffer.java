package hummer.hadoop;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Records as the native side reads them, in a direct buffer that grows: serializers write into it.
 *
 * <p>Each record is three numbers of 4 bytes, in the machine's order (partition, length of the key,
 * length of the value), then key and value.
 *
 * <p>Thread: one at a time.
 */
class RecordBuffer extends OutputStream {
  static final int HEAD_BYTES = 12;
  private static final int KEY_LENGTH = 4;
  private static final int VALUE_LENGTH = 8;
  private static final int LARGEST_BYTES = Integer.MAX_VALUE - 8;

  ByteBuffer bytes;
  int recordStart;
  private int keyEnd;

  RecordBuffer(int sizeBytes) {
    bytes = ByteBuffer.allocateDirect(sizeBytes).order(ByteOrder.nativeOrder());
  }

  /** Of the record that begins there in a buffer of the machine's order. */
  static int keyBytes(ByteBuffer heads, int at) {
    return heads.getInt(at + KEY_LENGTH);
  }

  static int valueBytes(ByteBuffer heads, int at) {
    return heads.getInt(at + VALUE_LENGTH);
  }

  /** What a record before it has left without an end is dropped. */
  final void beginRecord(int partition) throws IOException {
    bytes.position(recordStart);
    if (HEAD_BYTES > bytes.remaining()) {
      makeRoom(HEAD_BYTES);
    }
    bytes.putInt(recordStart, partition);
    bytes.position(recordStart + HEAD_BYTES);
  }

  final void endKey() {
    keyEnd = bytes.position() - recordStart;
  }

  void endRecord() {
    int end = bytes.position();
    bytes.putInt(recordStart + KEY_LENGTH, keyEnd - HEAD_BYTES);
    bytes.putInt(recordStart + VALUE_LENGTH, end - recordStart - keyEnd);
    recordStart = end;
  }

  /** All that has ended, as a buffer of its own over the same bytes. */
  final ByteBuffer records() {
    return bytes.duplicate().position(0).limit(recordStart).slice();
  }

  final void clear() {
    bytes.clear();
    recordStart = 0;
  }

  /** Called where so many more bytes have no room. */
  void makeRoom(int more) throws IOException {
    long needed = (long) bytes.position() + more;
    if (needed > LARGEST_BYTES) {
      throw new IOException("Records of more than " + LARGEST_BYTES + " bytes have no room.");
    }
    int capacity = (int) Math.min(LARGEST_BYTES, Math.max(needed, 2L * bytes.capacity()));
    ByteBuffer larger = ByteBuffer.allocateDirect(capacity).order(ByteOrder.nativeOrder());
    bytes.flip();
    larger.put(bytes);
    bytes = larger;
  }

  @Override
  public final void write(int value) throws IOException {
    if (!bytes.hasRemaining()) {
      makeRoom(1);
    }
    bytes.put((byte) value);
  }

  @Override
  public final void write(byte[] from, int offset, int length) throws IOException {
    if (length > bytes.remaining()) {
      makeRoom(length);
    }
    bytes.put(from, offset, length);
  }
}
