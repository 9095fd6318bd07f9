// WordCount whose data edge goes through the interface --interface ("eth1"; empty: the default).
#include <hummer/hummer.hpp>

void wordcount_over_interface(hummer::StreamExecutionEnvironment& env) {
  env.from_file(env.argument("input", "file, directory or pattern to read"))
      .flat_map(hummer::split_words)
      .network({.interface_or_address = env.argument_or("interface", "", "of the data edge")})
      .key_by(hummer::identity)
      .count()
      .write_file(env.argument_or("output", "-", "file to write; - is standard output"));
  env.execute("WordCount");
}

HUMMER_JOB(wordcount_over_interface)
