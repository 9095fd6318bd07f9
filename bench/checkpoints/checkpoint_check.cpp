// checkpoint_check DIRECTORY: reads every checkpoint in a directory back, with the files of earlier
// ones that it builds on, and compares sizes, checks and hashes.
//
// One line of JSON: an array of {"id", "own_bytes" (written for it), "all_bytes" (with what it
// builds on), "whole" (it builds on nothing)}, oldest first. Incomplete ones are passed over. Exit
// code 1, with the reason, when one is not as it was written, or there is none.
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "platform/platform.hpp"
#include "state/checkpoint_store.hpp"

int main(int argc, char** argv) {
  using namespace hummer;
  if (argc != 2) {
    std::fprintf(stderr, "checkpoint_check DIRECTORY\n");
    return 2;
  }
  const std::unique_ptr<Platform> platform = make_linux_platform();
  const CheckpointStore store(platform->files(), argv[1]);
  const auto ids = store.ids();
  if (!ids.ok()) {
    std::fprintf(stderr, "%s\n", ids.status().to_string().c_str());
    return 1;
  }
  int checked = 0;
  for (const std::uint64_t id : *ids) {
    const auto metadata = store.read(id);
    if (metadata.status().code() == ErrorCode::not_found) continue;
    const Status status = metadata.ok() ? store.verify(*metadata) : metadata.status();
    if (!status.ok()) {
      std::fprintf(stderr, "checkpoint %" PRIu64 ": %s\n", id, status.to_string().c_str());
      return 1;
    }
    std::uint64_t own = 0;
    for (const CheckpointFile& file : metadata->files) own += file.checkpoint == 0 ? file.bytes : 0;
    std::printf("%s{\"id\": %" PRIu64 ", \"own_bytes\": %" PRIu64 ", \"all_bytes\": %" PRIu64
                ", \"whole\": %s}",
                checked++ == 0 ? "[" : ", ", id, own, metadata->state_bytes(),
                own == metadata->state_bytes() ? "true" : "false");
  }
  std::printf(checked == 0 ? "[]\n" : "]\n");
  return checked == 0 ? 1 : 0;
}
