// checkpoint_forge FROM TO FIELD VALUE: copies a snapshot file of a checkpoint with one thing
// changed and every check right, as another job or a program of the future would have written it.
//
// FIELD: `job` or `version` of the head (docs/checkpoint_format.md), or `uid` of all pieces. Exit
// code 1 with the reason when FROM can't be read or TO can't be written.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <hummer/detail/key_hash.hpp>

#include "platform/platform.hpp"
#include "state/snapshot_file.hpp"

namespace {

constexpr std::size_t version_at = 8;
constexpr std::size_t head_check_at = 56;

using namespace hummer;

// The same blocks behind another head, or with another uid.
Status rewrite(Files& files, const std::string& from, const std::string& to,
               const std::string& field, const std::string& value) {
  auto reader = SnapshotFileReader::open(files, from);
  if (!reader.ok()) return reader.status();
  SnapshotFileHead head = reader->head();
  if (field == "job") head.job = std::stoull(value);
  auto writer = SnapshotFileWriter::create(files, to, head);
  if (!writer.ok()) return writer.status();
  SnapshotPart part;
  for (;;) {
    const Result<bool> more = reader->next_part(part);
    if (!more.ok()) return more.status();
    if (!*more) return writer->finish().status();
    HUMMER_TRY(writer->add(field == "uid" ? value : std::string(part.uid), part.bytes, !part.last));
  }
}

// The writer knows no other version than its own.
bool set_version(const std::string& path, std::uint32_t version) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  std::memcpy(bytes.data() + version_at, &version, sizeof version);
  const std::uint64_t check = hash_bytes(bytes.data(), head_check_at);
  std::memcpy(bytes.data() + head_check_at, &check, sizeof check);
  return static_cast<bool>(std::ofstream(path, std::ios::binary) << bytes);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string field = argc == 5 ? argv[3] : "";
  if (field != "job" && field != "version" && field != "uid") {
    std::fprintf(stderr, "checkpoint_forge FROM TO job|version|uid VALUE\n");
    return 2;
  }
  const std::string to = argv[2];
  const std::string value = argv[4];
  const std::unique_ptr<Platform> platform = make_linux_platform();
  const Status status = rewrite(platform->files(), argv[1], to, field, value);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.to_string().c_str());
    return 1;
  }
  const bool changed =
      field != "version" || set_version(to, static_cast<std::uint32_t>(std::stoul(value)));
  return changed ? 0 : 1;
}
