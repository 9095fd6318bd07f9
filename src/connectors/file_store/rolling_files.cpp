#include "connectors/file_store/rolling_files.hpp"

#include <algorithm>
#include <utility>

#include "connectors/file/sink_names.hpp"
#include "platform/time.hpp"

namespace hummer {
namespace {

constexpr std::uint8_t rolling_state_version = 1;
constexpr std::size_t append_bytes = 64 << 10;
// Large appends cost a file system less than small ones; of many parts, or of small ones, they
// would take memory, or miss the size at which to roll.
constexpr std::size_t append_bytes_of_few = 256 << 10;
constexpr std::size_t few_parts = 4;
constexpr std::uint64_t least_rolled_bytes_of_few = 8 << 20;
constexpr std::size_t kept_text_bytes = 1 << 20;
// Of a part that no barrier has ended yet.
constexpr std::uint64_t no_epoch = UINT64_MAX;

void put_name(const PartName& name, ByteWriter& out) {
  out.put_value(static_cast<std::int32_t>(name.subtask));
  out.put_value(name.epoch);
  out.put_value(name.number);
  out.put_value(name.attempt);
  out.put_value(name.sink);
}

bool get_name(ByteReader& in, PartName& name) {
  std::int32_t subtask = 0;
  if (!in.get_value(subtask) || subtask < 0 || !in.get_value(name.epoch) ||
      !in.get_value(name.number) || !in.get_value(name.attempt) || !in.get_value(name.sink)) {
    return false;
  }
  name.subtask = subtask;
  return true;
}

Status check(const RollOptions& options) {
  const auto refuse = [](const std::string& what) -> Status {
    return {ErrorCode::invalid_configuration, "write_files: " + what};
  };
  if (options.roll_ms < 0 || options.idle_ms < 0) {
    return refuse("roll_ms and idle_ms must not be negative");
  }
  if (options.max_open_partitions == 0) return refuse("max_open_partitions must be 1 or more");
  if (options.store == nullptr) return refuse("store must not be null");
  const bool plain = std::none_of(options.suffix.begin(), options.suffix.end(), [](char c) {
    return c == '/' || static_cast<unsigned char>(c) < 0x20;
  });
  if (!options.suffix.empty() && (!plain || !options.suffix.starts_with('.'))) {
    return refuse("suffix must begin with '.', and have no '/'");
  }
  return check_compression_level(options.compression, options.compression_level);
}

}  // namespace

RollingFiles::RollingFiles(std::string directory, RollOptions options, bool checkpoints)
    : directory_(std::move(directory)),
      options_(std::move(options)),
      checkpoints_(checkpoints),
      suffix_(options_.suffix + std::string(compression_suffix(options_.compression))) {}

Status RollingFiles::named(const Status& status) const {
  return status.with_context("writing to '" + directory_ + "'");
}

// ---- state ----

// The pieces of all earlier subtasks come in turn: what falls to this one is its own to commit.
Status RollingFiles::restore(ByteReader& in) {
  std::uint8_t version = 0;
  std::uint64_t sink = 0, files = 0, partitions = 0;
  Timestamp watermark = no_timestamp;
  bool valid = in.get_value(version) && version == rolling_state_version && in.get_value(sink) &&
               in.get_value(watermark) && in.get_value(files);
  for (std::uint64_t i = 0; valid && i < files; ++i) {
    Finished file;
    std::string_view path, handle, token;
    valid = in.get_value(file.epoch) && get_name(in, file.name) && in.get_text(path) &&
            in.get_value(file.ends_at) && in.get_text(handle) && in.get_text(token) &&
            in.get_value(file.bytes);
    file.path = path;
    file.handle = handle;
    file.token = token;
    finished_.push_back(std::move(file));
  }
  valid = valid && in.get_value(partitions);
  for (std::uint64_t i = 0; valid && i < partitions; ++i) {
    Timestamp ends_at = 0;
    std::string_view path;
    valid = in.get_value(ends_at) && in.get_text(path);
    if (valid) note_.partitions.emplace(std::string(path), ends_at);
  }
  if (!valid) return {ErrorCode::corrupt_record, "the state of write_files cannot be decoded"};
  lineage_.insert(sink);
  restored_watermark_ = std::min(restored_watermark_, watermark);
  std::stable_sort(finished_.begin(), finished_.end(),
                   [](const Finished& a, const Finished& b) { return a.epoch < b.epoch; });
  return {};
}

// Behind a barrier, whose flush has saved what is open.
void RollingFiles::snapshot(ByteWriter& out) const {
  out.put_value(rolling_state_version);
  out.put_value(sink_);
  out.put_value(watermark_);
  out.put_value(static_cast<std::uint64_t>(finished_.size() + parts_.size()));
  const auto put = [&](const Finished& file) {
    out.put_value(file.epoch);
    put_name(file.name, out);
    out.put_text(file.path);
    out.put_value(file.ends_at);
    out.put_text(file.handle);
    out.put_text(file.token);
    out.put_value(file.bytes);
  };
  for (const Finished& file : finished_) put(file);
  for (const auto& [partition, part] : parts_) {
    put({last_barrier_, part->name, part->path, part->ends_at, /*handle*/ {}, part->token,
         part->written_bytes});
  }
  out.put_value(static_cast<std::uint64_t>(note_.partitions.size()));
  for (const auto& [path, ends_at] : note_.partitions) {
    out.put_value(ends_at);
    out.put_text(path);
  }
}

Status RollingFiles::open(OperatorContext& context) {
  context_ = &context;
  HUMMER_TRY(check(options_));
  Result<std::unique_ptr<FileStore>> store = options_.store->make(context);
  if (!store.ok()) return named(store.status());
  store_ = std::move(*store);
  sink_ = sink_id(context.run(), context.uid());
  restored_epoch_ = last_barrier_ = context.epoch();
  // A process may have died between its last commit and the marks behind it.
  if (options_.success_markers && !lineage_.empty()) {
    watermarks_[restored_epoch_] = restored_watermark_;
  }
  lineage_.insert(sink_);
  memory_.open(context.memory(), false);
  return named(take_over());
}

// ---- open parts ----

Result<OpenPart*> RollingFiles::part_of(std::string_view partition, Timestamp ends_at) {
  auto found = parts_.find(partition);
  if (found == parts_.end()) {
    HUMMER_TRY(make_room());
    HUMMER_TRY(begin_part(partition, ends_at));
    found = parts_.find(partition);
  }
  found->second->used_at = context_->now();
  return static_cast<OpenPart*>(found->second.get());
}

Status RollingFiles::begin_part(std::string_view partition, Timestamp ends_at) {
  HUMMER_TRY(named(check_partition_path(partition)));
  auto part = std::make_unique<Part>();
  part->partition = partition;
  part->name = {context_->subtask(), last_barrier_, parts_begun_++, context_->attempt(), sink_};
  const std::string name = to_text(part->name, suffix_);
  part->path = partition.empty() ? name : part->partition + "/" + name;
  part->ends_at = ends_at;
  part->opened_at = context_->now();
  auto upload = store_->begin_upload(directory_, part->path);
  if (!upload.ok()) return named(upload.status());
  part->upload = std::move(*upload);
  if (options_.compression != FileCompression::none) {
    auto compressor = make_part_compressor(options_.compression, options_.compression_level);
    if (!compressor.ok()) return named(compressor.status());
    part->compressor = std::move(*compressor);
  }
  const bool rolls_small =
      options_.roll_bytes != 0 && options_.roll_bytes < least_rolled_bytes_of_few;
  part->most_text_bytes =
      parts_.size() < few_parts && !rolls_small ? append_bytes_of_few : append_bytes;
  part->text = options_.head;
  part->used_at = part->opened_at;
  set_timer(due_at(*part));
  parts_.emplace(std::string(partition), std::move(part));
  return count_memory();
}

// The one that was not written to for longest goes.
Status RollingFiles::make_room() {
  if (parts_.size() < options_.max_open_partitions) return {};
  auto oldest = parts_.begin();
  for (auto part = parts_.begin(); part != parts_.end(); ++part) {
    if (part->second->used_at < oldest->second->used_at) oldest = part;
  }
  return roll(oldest);
}

Result<OpenPart*> RollingFiles::hand_over(OpenPart& open) {
  Part& part = static_cast<Part&>(open);
  part.used_at = context_->now();
  HUMMER_TRY(append(part, false));
  if (!is_full(part)) return &open;
  HUMMER_TRY(roll(parts_.find(part.partition)));
  return static_cast<OpenPart*>(nullptr);
}

bool RollingFiles::is_full(const Part& part) const {
  return (options_.roll_bytes != 0 && part.written_bytes >= options_.roll_bytes) ||
         (options_.roll_records != 0 && part.records >= options_.roll_records);
}

// `all`: also what would be a small append, and the compressor's last bytes.
Status RollingFiles::append(Part& part, bool all) {
  if (!part.text.empty()) part.token.clear();
  if (part.compressor == nullptr) {
    if (part.text.size() >= append_bytes || (all && !part.text.empty())) {
      HUMMER_TRY(named(part.upload->append(part.text)));
      part.written_bytes += part.text.size();
      context_->count_bytes(part.text.size());
      part.text.clear();
    }
  } else {
    HUMMER_TRY(named(part.compressor->add(part.text, part.packed)));
    part.text.clear();
    if (all) HUMMER_TRY(named(part.compressor->end(part.packed)));
    if (part.packed.size() >= append_bytes || (all && !part.packed.empty())) {
      HUMMER_TRY(named(part.upload->append(part.packed)));
      part.written_bytes += part.packed.size();
      context_->count_bytes(part.packed.size());
      part.packed.clear();
    }
  }
  // A huge record must not hold its memory for good.
  if (part.text.capacity() > kept_text_bytes) std::string().swap(part.text);
  if (part.packed.capacity() > kept_text_bytes) std::string().swap(part.packed);
  return {};
}

Status RollingFiles::save(Part& part) {
  HUMMER_TRY(append(part, true));
  if (!part.token.empty()) return {};
  Result<std::string> token = part.upload->save();
  if (!token.ok()) return named(token.status());
  part.token = std::move(*token);
  return {};
}

Status RollingFiles::roll(Parts::iterator at) {
  Part& part = *at->second;
  HUMMER_TRY(append(part, true));
  Result<std::string> handle = part.upload->finish();
  if (!handle.ok()) return named(handle.status());
  finished_.push_back(
      {no_epoch, part.name, part.path, part.ends_at, std::move(*handle), /*token*/ {}, 0});
  note_partition(part);
  parts_.erase(at);
  HUMMER_TRY(count_memory());
  return checkpoints_ ? Status() : publish(finished_.size(), 1);
}

// For its marker. What is not marked is not remembered.
void RollingFiles::note_partition(const Part& part) {
  if (options_.success_markers) note_.partitions.emplace(part.partition, part.ends_at);
}

Status RollingFiles::roll_all() {
  while (!parts_.empty()) HUMMER_TRY(roll(parts_.begin()));
  return {};
}

Status RollingFiles::count_memory() {
  std::size_t bytes = 0;
  for (const auto& [partition, part] : parts_) {
    bytes += part->most_text_bytes + part->packed.capacity();
    if (part->compressor != nullptr) bytes += append_bytes + part->compressor->memory_bytes();
  }
  return named(memory_.set(bytes));
}

// ---- time ----

std::int64_t RollingFiles::due_at(const Part& part) const {
  std::int64_t due = INT64_MAX;
  if (options_.roll_ms > 0) due = part.opened_at + milliseconds(options_.roll_ms);
  if (options_.idle_ms > 0) due = std::min(due, part.used_at + milliseconds(options_.idle_ms));
  return due;
}

void RollingFiles::set_timer(std::int64_t when) {
  if (when >= timer_at_) return;
  timer_at_ = when;
  context_->call_at(when);
}

Status RollingFiles::timer() {
  timer_at_ = INT64_MAX;
  std::int64_t next = INT64_MAX;
  for (auto part = parts_.begin(); part != parts_.end();) {
    const auto at = part++;
    const std::int64_t due = due_at(*at->second);
    if (due <= context_->now()) {
      HUMMER_TRY(roll(at));
    } else {
      next = std::min(next, due);
    }
  }
  if (next != INT64_MAX) set_timer(next);
  return {};
}

Status RollingFiles::watermark(Timestamp time) {
  watermark_ = std::max(watermark_, time);
  for (auto part = parts_.begin(); part != parts_.end();) {
    const auto at = part++;
    if (at->second->ends_at <= watermark_) HUMMER_TRY(roll(at));
  }
  return {};
}

// ---- barriers ----

// What came before a barrier belongs to its epoch. An input that has become inactive is no barrier.
Status RollingFiles::flush() {
  const std::uint64_t epoch = context_->epoch();
  if (epoch == last_barrier_) return {};
  if (options_.roll_at_checkpoints || !store_->can_save()) HUMMER_TRY(roll_all());
  for (auto& [partition, part] : parts_) {
    HUMMER_TRY(save(*part));
    note_partition(*part);
  }
  last_barrier_ = epoch;
  if (options_.success_markers) watermarks_[epoch] = watermark_;
  for (Finished& file : finished_) file.epoch = std::min(file.epoch, epoch);
  return {};
}

// Whatever checkpoint comes next holds the end.
Status RollingFiles::end() {
  HUMMER_TRY(roll_all());
  watermark_ = end_of_time;
  if (options_.success_markers) watermarks_[last_barrier_ + 1] = end_of_time;
  for (Finished& file : finished_) file.epoch = std::min(file.epoch, last_barrier_ + 1);
  return checkpoints_ || !options_.success_markers ? Status() : mark_complete(end_of_time);
}

void RollingFiles::close() {
  parts_.clear();
  store_.reset();
}

}  // namespace hummer
