// Any bytes as the note of a rolling sink, as names in its directory, and as a partition's path:
// what is read of a note is what is written of it again, and no path that is taken leaves the
// directory.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "connectors/file_store/part_names.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hummer;
  const auto require = [](bool condition) {
    if (!condition) std::abort();
  };
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const SinkNote note = parse_note(text);
  const SinkNote again = parse_note(to_text(note, "operator"));
  require(again.committed == note.committed && again.resumed == note.resumed);
  require(again.watermark == note.watermark && again.partitions == note.partitions);
  for (const auto& [path, ends_at] : note.partitions) {
    require(!path.starts_with('/') && ("/" + path + "/").find("/../") == path.npos);
  }
  if (const auto name = parse_part(text)) require(parse_part(to_text(*name, "")).has_value());
  if (const auto name = parse_note_name(text)) require(parse_note_name(to_text(*name)).has_value());
  return 0;
}
