#include <hummer/detail/sources.hpp>
#include <hummer/files.hpp>

#include "connectors/file_store/file_unit.hpp"

namespace hummer {

TextStream follow_files(StreamExecutionEnvironment& env, const std::string& path,
                        const FollowOptions& options) {
  const FileSourceOptions& file = options.file;
  const CapturedValues captured =
      encoded_values(path, options.order, options.discovery_interval_ms, options.settle_ms,
                     options.modified_since_ms, options.remembered_files, options.changed,
                     options.removed, options.end_marker)
          .and_also(encoded_values(file.split_size_bytes, file.block_size_bytes,
                                   file.max_line_bytes, file.compression, file.repeat_first_line,
                                   file.quote))
          .and_also(options.store == nullptr ? CapturedValues() : options.store->captured());
  // One looks, and all read: its units go round.
  auto units =
      env.from_source<FileUnit>("follow_files", make_file_discovery(path, options), false, captured)
          .parallelism(1);
  if (!options.uid.empty()) units = units.uid(options.uid + " discovery");
  NetworkSettings few;  // what waits on the way holds up barriers once a reader has enough
  few.credits = 1;
  const auto text = units.rebalance().network(few).transform<TextBlock>(
      "read_files", make_unit_reader(options), false, captured);
  return TextStream(options.uid.empty() ? text : text.uid(options.uid));
}

}  // namespace hummer
