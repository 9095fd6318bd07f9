// WordCount whose edges go through the interface --interface ("eth1"; empty: the default).
#include <hummer/hummer.hpp>

void wordcount_over_interface(hummer::StreamExecutionEnvironment& env) {
  const hummer::NetworkSettings through{.interface_or_address =
                                            env.argument_or("interface", "", "of the data edges")};
  env.from_file(env.argument("input", "file, directory or pattern to read"))
      .flat_map(hummer::split_words)
      .network(through)
      .key_by(hummer::identity)
      .count()
      .network(through)
      .write_file(env.argument_or("output", "-", "file to write; - is standard output"));
  env.execute("WordCount");
}

HUMMER_JOB(wordcount_over_interface)
