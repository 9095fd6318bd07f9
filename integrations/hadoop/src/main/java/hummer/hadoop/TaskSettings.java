package hummer.hadoop;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/**
 * What the native side is told of a task: texts by name, which settings.hpp of the native half
 * reads. And the options by which a job names classes of class libraries:
 *
 * <pre>
 *   hummer.libraries     class libraries, with commas between; of -files by their names alone
 *   hummer.mapper        library.Class, for NativeMapper
 *   hummer.reader        what reads a split natively: text, sequence, fixed:10,90, library.Class
 *   hummer.partitioner   library.Class, instead of the job's partitioner
 *   hummer.combiner      library.Class, instead of the job's combiner
 *   hummer.reducer       library.Class, for NativeReducer
 *   hummer.define.NAME   a parameter of these classes
 * </pre>
 */
final class TaskSettings {
  static final String LIBRARIES = "hummer.libraries";
  static final String MAPPER = "hummer.mapper";
  static final String READER = "hummer.reader";
  static final String PARTITIONER = "hummer.partitioner";
  static final String COMBINER = "hummer.combiner";
  static final String REDUCER = "hummer.reducer";
  private static final String DEFINE = "hummer.define.";

  private final List<String> namesAndValues = new ArrayList<>();

  TaskSettings set(String name, Object value) {
    namesAndValues.add(name);
    namesAndValues.add(value.toString());
    return this;
  }

  /** The libraries, and the parameters of their classes. */
  TaskSettings setLibraries(Configuration job) {
    set("libraries", String.join(",", job.getTrimmedStringCollection(LIBRARIES)));
    for (Map.Entry<String, String> each : job.getPropsWithPrefix(DEFINE).entrySet()) {
      set("define." + each.getKey(), each.getValue());
    }
    return this;
  }

  String[] toArray() {
    return namesAndValues.toArray(new String[0]);
  }
}
