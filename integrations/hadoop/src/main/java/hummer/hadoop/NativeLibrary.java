package hummer.hadoop;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The native half of the plug-in, which lies in the jar. It is written to a file of the task's
 * folder for temporary ones, loaded, and the file removed: what is loaded stays.
 *
 * <p>It is loaded once per process, by the first task that asks. What hinders it is told to every
 * one, so that each can leave its work to Hadoop's own collector.
 */
final class NativeLibrary {
  private static final Logger LOG = LoggerFactory.getLogger(NativeLibrary.class);
  private static final long NANOSECONDS_PER_MILLISECOND = 1_000_000;
  private static final String NAME = "libhummer_hadoop.so";
  private static final String RESOURCE = "/hummer/hadoop/native/linux-x86-64/" + NAME;

  private static boolean isLoaded;
  private static String failure;

  private NativeLibrary() {}

  static synchronized void load() throws IOException {
    if (isLoaded) {
      return;
    }
    if (failure == null) {
      try {
        long begin = System.nanoTime();
        loadOnce();
        isLoaded = true;
        LOG.info("The native library was loaded in {} ms",
            (System.nanoTime() - begin) / NANOSECONDS_PER_MILLISECOND);
        return;
      } catch (IOException | LinkageError | SecurityException e) {
        // Errors of linking are no exceptions, and would end the task.
        failure = e.getMessage() == null ? e.toString() : e.getMessage();
      }
    }
    throw new IOException("The native collector can't be loaded: " + failure);
  }

  private static void loadOnce() throws IOException {
    String system = System.getProperty("os.name");
    String machine = System.getProperty("os.arch");
    if (!system.equals("Linux") || !(machine.equals("amd64") || machine.equals("x86_64"))) {
      throw new IOException(
          "it is there for Linux on x86-64, and this is " + system + " on " + machine);
    }
    try (InputStream bytes = NativeLibrary.class.getResourceAsStream(RESOURCE)) {
      if (bytes == null) {
        throw new IOException("the jar was packed without " + NAME);
      }
      File file = File.createTempFile("hummer_hadoop", ".so");
      try {
        Files.copy(bytes, file.toPath(), StandardCopyOption.REPLACE_EXISTING);
        System.load(file.getAbsolutePath());
      } finally {
        Files.deleteIfExists(file.toPath());
      }
    }
  }
}
