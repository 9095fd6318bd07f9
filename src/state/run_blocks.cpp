#include "state/run_blocks.hpp"

#include <utility>

#include "state/run_entries.hpp"

namespace hummer {
namespace {

// Of an entry in a snapshot.
struct SavedHead {
  std::uint64_t hash;
  std::uint32_t key_bytes;
  std::uint32_t value_bytes;
};
static_assert(sizeof(SavedHead) == 16);
constexpr std::uint32_t removed_mark = UINT32_MAX;

void write_spilled_entry(const SpilledEntry& entry, ByteWriter& out) {
  out.put_value(SavedHead{.hash = entry.hash,
                          .key_bytes = static_cast<std::uint32_t>(entry.key.size()),
                          .value_bytes = entry.removed
                                             ? removed_mark
                                             : static_cast<std::uint32_t>(entry.value.size())});
  out.put(entry.key.data(), entry.key.size());
  out.put(entry.value.data(), entry.value.size());
}

class BlocksOfRuns final : public SpilledBlocks {
 public:
  BlocksOfRuns(RunLayers layers, std::string name)
      : layers_(std::move(layers)), name_(std::move(name)) {}

  Result<bool> prepare() override { return opened_ || layers_.prepare(); }
  Result<std::string_view> next() override {
    if (!opened_) HUMMER_TRY(open());
    while (part_ == parts_.size()) {
      if (run_ < runs_.size() && block_ == runs_[run_]->block_count()) {
        runs_[run_++].reset();  // what nobody else has is off the disk
        block_ = 0;
      }
      if (run_ == runs_.size()) return std::string_view();
      Status status = runs_[run_]->read_blocks(block_, read_bytes_of_scan, space_, parts_);
      if (!status.ok()) return status.with_context(name_);
      block_ += parts_.size();
      part_ = 0;
    }
    return saved(*runs_[run_]);
  }

 private:
  Status open() {
    Result<std::vector<Run>> runs = layers_.take();
    if (!runs.ok()) return runs.status().with_context(name_);
    runs_ = std::move(*runs);
    opened_ = true;
    return {};
  }
  std::string_view saved(const SpilledRun& run) {
    const auto [begin, end] = parts_[part_++];
    ByteWriter out(block_space_);
    for (const char* at = space_.data() + begin; at < space_.data() + end;) {
      SpilledEntry entry;
      at = read_run_entry(at, run.keys_are_hashed(), entry);
      take_hash(run.keys_are_hashed(), entry);
      write_spilled_entry(entry, out);
    }
    return out.view();
  }

  RunLayers layers_;
  const std::string name_;
  bool opened_ = false;
  std::vector<Run> runs_;
  std::size_t run_ = 0;
  std::size_t block_ = 0;  // those before it are in `space_` or were
  std::string space_;
  std::string block_space_;
  std::vector<std::pair<std::size_t, std::size_t>> parts_;  // of the blocks in `space_`
  std::size_t part_ = 0;
};

}  // namespace

bool read_spilled_entry(std::string_view bytes, std::size_t& at, SpilledEntry& entry) {
  SavedHead head{};
  ByteReader in(bytes.substr(at));
  if (!in.get_value(head)) return false;
  entry.hash = head.hash;
  entry.removed = head.value_bytes == removed_mark;
  const std::size_t value_bytes = entry.removed ? 0 : head.value_bytes;
  const char* const key = in.take(head.key_bytes);
  const char* const value = key == nullptr ? nullptr : in.take(value_bytes);
  if (value == nullptr) return false;
  entry.key = {key, head.key_bytes};
  entry.value = {value, value_bytes};
  at = bytes.size() - in.left();
  return true;
}

std::unique_ptr<SpilledBlocks> blocks_of_runs(RunLayers layers, std::string name) {
  return std::make_unique<BlocksOfRuns>(std::move(layers), std::move(name));
}

}  // namespace hummer
