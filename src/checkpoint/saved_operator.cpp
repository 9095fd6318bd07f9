#include <hummer/detail/state/saved_operator.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <hummer/detail/connector_context.hpp>
#include <hummer/detail/saved_layouts.hpp>

#include "checkpoint/snapshot_files.hpp"
#include "platform/platform.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer::detail {
namespace {

constexpr std::uint8_t version_of_function = 2;  // hummer/detail/operators/store_snapshot.hpp
constexpr std::uint8_t end_of_keys = 0;          // see KeyedStore

// Of an operator that has all keys and no job.
class OfflineContext final : public ConnectorContext {
 public:
  OfflineContext(Platform& platform, const CheckpointOperator& op)
      : ConnectorContext({.name = op.name,
                          .uid = op.uid,
                          .key_groups = static_cast<int>(std::max(op.key_groups, 1U)),
                          .restored = true}),
        platform_(platform) {}
  std::int64_t now() const override { return platform_.now(); }
  Timestamp wall_time_ms() const override { return platform_.wall_time_ms(); }
  void call_at(std::int64_t) override {}
  void wake() override {}
  Platform& platform() override { return platform_; }
  Executor& executor() override { not_there(); }
  WakeEvent& wake_event() override { not_there(); }

 private:
  [[noreturn]] static void not_there() {
    HUMMER_ASSERT(false && "no state asks for it");
    __builtin_unreachable();
  }
  Platform& platform_;
};

Status not_read(const std::string& why) {
  return {ErrorCode::invalid_argument, "its state can't be edited: " + why};
}

// What a piece has ahead of its keys.
struct PieceHead {
  std::uint8_t kind = 0;
  std::string bytes;  // behind the states: version, whole, watermark, broadcast state
};

}  // namespace

class SavedOperator::State {
 public:
  State(std::string path, std::string uid, Platform* platform)
      : path_(std::move(path)),
        uid_(std::move(uid)),
        own_platform_(platform == nullptr ? make_linux_platform() : nullptr),
        platform_(platform == nullptr ? *own_platform_ : *platform) {}

  Status load(const DeclaredStates& states, bool with_keys, KeyedStoreBase& store) {
    while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
    Result<CheckpointMetadata> metadata = CheckpointStore::read_at(files(), path_);
    if (!metadata.ok()) return metadata.status();
    metadata_ = std::move(*metadata);
    HUMMER_TRY(find_operator());
    for (const KeyedState* state : states.keyed) {
      described_.push_back({state->name(), state->describe_type()});
    }
    for (const CheckpointFile& file : metadata_.files) {
      if (file.checkpoint != 0 || file.builds_on != 0) {
        return not_read("'" + path_ + "' builds on other checkpoints: take a savepoint");
      }
    }
    for (const CheckpointFile& file : metadata_.files) {
      HUMMER_TRY(CheckpointStore::read_file(
          files(), path_, metadata_, file, [&](std::string_view uid, std::string_view piece) {
            return uid == uid_ ? load_piece(piece, file, with_keys, store) : Status();
          }));
    }
    if (!heads_.empty()) return {};
    return not_read("there is none in '" + path_ + "'");
  }

  Status write(const std::string& path, KeyedStoreBase& store) {
    if (files().stat(path).ok()) {
      return {ErrorCode::invalid_argument,
              "'" + path + "' exists: a savepoint needs a new directory"};
    }
    CheckpointMetadata metadata = metadata_;
    metadata.savepoint = true;
    HUMMER_TRY(CheckpointStore::begin_at(files(), path));
    std::string header;
    ByteWriter out(header);
    const Result<bool> frozen = store.freeze(false, out);
    if (!frozen.ok()) return frozen.status();
    header.resize(out.size());
    keys_written_ = false;
    for (CheckpointFile& file : metadata.files) {
      HUMMER_TRY(write_file(path, header, store, file));
    }
    HUMMER_ASSERT(keys_written_);
    return CheckpointStore::complete_at(files(), path, metadata);
  }

 private:
  Files& files() { return platform_.files(); }

  Status find_operator() {
    std::string uids;
    for (const CheckpointOperator& op : metadata_.operators) {
      uids += (uids.empty() ? "'" : ", '") + op.uid + "'";
      if (op.uid == uid_) operator_ = &op;
    }
    if (operator_ != nullptr) return {};
    return {ErrorCode::not_found,
            "no operator of '" + path_ + "' has the uid '" + uid_ + "'; those of it: " + uids};
  }

  Status load_piece(std::string_view piece, const CheckpointFile& file, bool with_keys,
                    KeyedStoreBase& store) {
    ByteReader in(piece);
    PieceHead head;
    std::vector<StateDescription> saved;
    if (!in.get_value(head.kind)) return not_read("a piece is empty");
    if (head.kind == piece_in_flight) return {};
    if ((head.kind & piece_is_delta) != 0) return not_read("it is a delta: take a savepoint");
    if (!decode_states(in, saved)) return not_read("a piece is cut short");
    const std::string_view rest = piece.substr(piece.size() - in.left());
    std::uint8_t version = 0;
    std::uint8_t delta = 0;
    std::uint8_t broadcast = 0;
    Timestamp watermark = 0;
    if (!in.get_value(version) || version != version_of_function || !in.get_value(delta) ||
        !in.get_value(watermark) || !in.get_value(broadcast)) {
      return not_read("it is that of no keyed function");
    }
    std::string_view text;
    for (int i = 0; i < 3 * broadcast; ++i) {
      if (!in.get_text(text)) return not_read("it is that of no keyed function");
    }
    head.bytes = rest.substr(0, rest.size() - in.left());
    add_broadcast(saved);
    heads_[{file.vertex, file.subtask}] = std::move(head);
    if (!with_keys) return {};
    HUMMER_TRY(check_states(saved, described_));
    const SavedLayouts layouts(saved, described_);
    if (!layouts.empty()) in.set_layouts(&layouts);
    OfflineContext context(platform_, *operator_);
    HUMMER_TRY(store.restore(in, context, {}, false));
    return in.left() == 0 ? Status() : not_read("a piece has bytes behind its keys");
  }

  // Stays as it is, so it is described as it was.
  void add_broadcast(const std::vector<StateDescription>& saved) {
    for (const StateDescription& state : saved) {
      const bool known = std::find(described_.begin(), described_.end(), state) != described_.end();
      if (!known && state.type.starts_with("broadcast<")) described_.push_back(state);
    }
  }

  // `file`: of the old savepoint; becomes that of the new one.
  Status write_file(const std::string& path, const std::string& header, KeyedStoreBase& store,
                    CheckpointFile& file) {
    SnapshotFileHead head;
    head.job = metadata_.job;
    head.checkpoint = metadata_.id;
    head.vertex = file.vertex;
    head.subtask = file.subtask;
    for (const CheckpointOperator& op : metadata_.operators) {
      if (op.vertex == file.vertex) head.parallelism = op.parallelism;
    }
    const CheckpointFile old = file;
    file.name = CheckpointStore::file_name(file.vertex, file.subtask);
    Result<SnapshotFileWriter> writer =
        SnapshotFileWriter::create(files(), path + "/" + file.name, head);
    if (!writer.ok()) return writer.status();
    std::optional<bool> ours;  // of the piece under way
    HUMMER_TRY(CheckpointStore::read_parts(
        files(), path_, metadata_, old, [&](const SnapshotPart& part) -> Status {
          if (!ours) {
            const bool in_flight =
                !part.bytes.empty() && static_cast<std::uint8_t>(part.bytes[0]) == piece_in_flight;
            ours = part.uid == uid_ && !in_flight;
          }
          const bool replaced = *ours;
          if (part.last) ours.reset();
          if (!replaced) return writer->add(part.uid, part.bytes, !part.last);
          if (!part.last) return {};
          return write_piece(heads_.at({old.vertex, old.subtask}), header, store, *writer);
        }));
    const Result<SnapshotFileSummary> summary = writer->finish();
    if (!summary.ok()) return summary.status();
    file.bytes = summary->bytes;
    file.hash = summary->hash;
    return {};
  }

  // The first subtask has all keys; whoever restores takes its own of them.
  Status write_piece(const PieceHead& head, const std::string& header, KeyedStoreBase& store,
                     SnapshotFileWriter& writer) {
    std::string bytes;
    {
      ByteWriter out(bytes);
      out.put_value(head.kind);
      encode_states(described_, out);
      out.put(head.bytes.data(), head.bytes.size());
      out.put(header.data(), header.size());
      if (keys_written_) out.put_value(end_of_keys);
      bytes.resize(out.size());
    }
    if (std::exchange(keys_written_, true)) return writer.add(uid_, bytes);
    HUMMER_TRY(writer.add(uid_, bytes, true));
    for (;;) {
      std::string step;
      ByteWriter out(step);
      const Result<bool> all = store.write_frozen(out, default_snapshot_step_bytes);
      if (!all.ok()) return all.status();
      HUMMER_TRY(writer.add(uid_, out.view(), !*all));
      if (*all) return {};
    }
  }

  std::string path_;
  const std::string uid_;
  const std::unique_ptr<Platform> own_platform_;
  Platform& platform_;
  CheckpointMetadata metadata_;
  const CheckpointOperator* operator_ = nullptr;
  std::vector<StateDescription> described_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, PieceHead> heads_;  // by vertex, subtask
  bool keys_written_ = false;
};

SavedOperator::SavedOperator(std::string path, std::string uid, Platform* platform)
    : state_(std::make_unique<State>(std::move(path), std::move(uid), platform)) {}
SavedOperator::~SavedOperator() = default;
Status SavedOperator::load(const DeclaredStates& states, bool with_keys, KeyedStoreBase& store) {
  return state_->load(states, with_keys, store);
}
Status SavedOperator::write(const std::string& path, KeyedStoreBase& store) {
  return state_->write(path, store);
}

}  // namespace hummer::detail
