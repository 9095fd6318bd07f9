#include "connectors/file_store/file_discovery.hpp"

#include <algorithm>
#include <utility>

#include <hummer/detail/connector_context.hpp>

#include "connectors/file/decompress.hpp"
#include "platform/platform.hpp"

namespace hummer {
namespace {

constexpr std::uint8_t discovery_state_version = 1;
// Pages listed and files looked at in a call, at most.
constexpr int steps_per_call = 16;
constexpr std::string_view unfinished_suffixes[] = {".tmp", ".inprogress"};

class FileDiscoveryFactory final : public OperatorFactory {
 public:
  FileDiscoveryFactory(std::string path, FollowOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}
  std::unique_ptr<Operator> make() const override {
    return std::make_unique<FileDiscovery>(path_, options_);
  }

 private:
  const std::string path_;
  const FollowOptions options_;
};

void put_file(const StoredFile& file, ByteWriter& out) {
  out.put_text(file.path);
  out.put_value(file.size_bytes);
  out.put_value(file.modified_ms);
  out.put_text(file.version);
}

bool get_file(ByteReader& in, StoredFile& file) {
  std::string_view path, version;
  if (!in.get_text(path) || !in.get_value(file.size_bytes) || !in.get_value(file.modified_ms) ||
      !in.get_text(version)) {
    return false;
  }
  file.path = path;
  file.version = version;
  return true;
}

// Whoever lists again sees what has become of it.
bool is_gone_or_changed(const Status& status) {
  return status.code() == ErrorCode::not_found || status.code() == ErrorCode::file_changed;
}

}  // namespace

std::shared_ptr<const OperatorFactory> make_file_discovery(std::string path,
                                                           FollowOptions options) {
  return std::make_shared<FileDiscoveryFactory>(std::move(path), std::move(options));
}

FileDiscovery::FileDiscovery(std::string path, FollowOptions options)
    : path_(std::move(path)),
      pattern_(path_),
      options_(std::move(options)),
      seen_(options_.order, options_.remembered_files) {}

Status FileDiscovery::restore(ByteReader& in) {
  std::uint8_t version = 0, order = 0;
  std::string_view path;
  const bool valid = in.get_value(version) && version == discovery_state_version &&
                     in.get_text(path) && in.get_value(order) && get_file(in, current_) &&
                     in.get_value(unit_bytes_) && in.get_value(next_begin_);
  if (!valid) return {ErrorCode::corrupt_record, "the state of following '" + path_ + "'"};
  if (path != path_ || order != static_cast<std::uint8_t>(options_.order)) {
    return {ErrorCode::invalid_configuration,
            "the checkpoint is of a job that follows '" + std::string(path) + "', and this one '" +
                path_ + "', or takes files in another order: keep both, or give it another uid"};
  }
  if (!seen_.restore(in)) {
    return {ErrorCode::corrupt_record, "the files that following '" + path_ + "' has taken"};
  }
  checks_known_ = seen_.size() > 0;
  return {};
}

Status FileDiscovery::snapshot(ByteWriter& out) {
  const bool delta = context().may_write_delta() && seen_.can_be_delta();
  if (delta) context().wrote_delta();
  out.put_value(discovery_state_version);
  out.put_text(path_);
  out.put_value(static_cast<std::uint8_t>(options_.order));
  put_file(current_, out);
  out.put_value(unit_bytes_);
  out.put_value(next_begin_);
  seen_.snapshot(delta, out);
  return {};
}

Status FileDiscovery::open() {
  HUMMER_TRY(check(options_));
  Result<std::unique_ptr<FileStore>> store = options_.store->make(context());
  if (!store.ok()) return store.status();
  store_ = std::move(*store);
  left_out_.add(0);
  next_look_ = context().now();
  return {};
}

OperatorResult FileDiscovery::produce(Output& out) {
  if (out.full()) return OperatorResult::more;
  for (int step = 0; step < steps_per_call; ++step) {
    if (next_begin_ < current_.size_bytes) {
      emit_unit(out);
      return OperatorResult::more;
    }
    if (!due_.empty()) {
      const StoredFile next = std::move(due_.back());
      due_.pop_back();
      if (Status status = take(next); !status.ok()) return context().fail(std::move(status));
      continue;
    }
    if (ended_) return OperatorResult::done;
    if (const OperatorResult answer = look(); answer != OperatorResult::done) return answer;
  }
  return OperatorResult::more;  // others of the slot have their turn
}

// done: a step of it.
OperatorResult FileDiscovery::look() {
  if (lister_ == nullptr) {
    if (context().now() < next_look_) {
      context().call_at(next_look_);
      return OperatorResult::blocked;
    }
    if (Status status = begin_look(); !status.ok()) return context().fail(std::move(status));
  }
  switch (lister_->next(listed_)) {
    case FileLister::Step::more: return OperatorResult::done;
    case FileLister::Step::waiting:
      context().call_at(context().now() + milliseconds(options_.discovery_interval_ms));
      return OperatorResult::blocked;
    case FileLister::Step::failed:
      return context().fail(lister_->failure().with_context("following '" + path_ + "'"));
    case FileLister::Step::done: break;
  }
  lister_.reset();
  next_look_ = context().now() + milliseconds(options_.discovery_interval_ms);
  Status status = finish_look();
  return status.ok() ? OperatorResult::done : context().fail(std::move(status));
}

Status FileDiscovery::begin_look() {
  listed_.clear();
  if (!options_.end_marker.empty()) {
    const auto marker = store_->look_at(pattern_.directory() + "/" + options_.end_marker);
    if (!marker.ok() && marker.status().code() != ErrorCode::not_found) return marker.status();
    marker_was_there_ = marker.ok();
  }
  auto lister = store_->list(pattern_.directory(), [this] { context().wake(); });
  if (!lister.ok()) return lister.status().with_context("following '" + path_ + "'");
  lister_ = std::move(*lister);
  return {};
}

Status FileDiscovery::finish_look() {
  std::erase_if(listed_, [&](const StoredFile& file) { return !is_wanted(file); });
  if (std::exchange(checks_known_, false)) HUMMER_TRY(find_any_known());
  std::map<std::string, Unsettled> unsettled;
  for (const StoredFile& file : listed_) {
    switch (seen_.find(file)) {
      case SeenFiles::State::taken: break;
      case SeenFiles::State::changed: HUMMER_TRY(leave_out(file)); break;
      case SeenFiles::State::unknown:
        if (has_settled(file, unsettled)) due_.push_back(file);
        break;
    }
  }
  unsettled_ = std::move(unsettled);
  std::sort(due_.begin(), due_.end(),
            [&](const StoredFile& a, const StoredFile& b) { return seen_.comes_before(b, a); });
  ended_ = marker_was_there_ && unsettled_.empty();
  return {};
}

bool FileDiscovery::is_wanted(const StoredFile& file) const {
  const bool unfinished = std::any_of(
      std::begin(unfinished_suffixes), std::end(unfinished_suffixes),
      [&](std::string_view suffix) { return std::string_view(file.path).ends_with(suffix); });
  const bool is_marker =
      !options_.end_marker.empty() && file.path == pattern_.directory() + "/" + options_.end_marker;
  return !unfinished && !is_marker && file.modified_ms >= options_.modified_since_ms &&
         pattern_.matches(file.path);
}

// A directory that each machine has for itself looks like that after a restart elsewhere.
Status FileDiscovery::find_any_known() {
  if (options_.removed == FileTrouble::leave_out) return {};
  const bool any = std::any_of(listed_.begin(), listed_.end(), [&](const StoredFile& file) {
    return seen_.find(file) != SeenFiles::State::unknown;
  });
  if (any) return {};
  return {
      ErrorCode::not_found,
      "'" + path_ + "' has none of the " + std::to_string(seen_.size()) +
          " files that were read from it before: is it the directory of another machine, or not "
          "mounted? Where files are taken away once they are read, set the option removed to "
          "FileTrouble::leave_out"};
}

bool FileDiscovery::has_settled(const StoredFile& file,
                                std::map<std::string, Unsettled>& unsettled) const {
  if (options_.settle_ms == 0 || store_->files_appear_whole()) return true;
  const auto before = unsettled_.find(file.path);
  const bool is_same = before != unsettled_.end() && before->second.size_bytes == file.size_bytes &&
                       before->second.modified_ms == file.modified_ms;
  const std::int64_t since = is_same ? before->second.since : context().now();
  if (context().now() - since >= milliseconds(options_.settle_ms)) return true;
  unsettled[file.path] = {file.size_bytes, file.modified_ms, since};
  return false;
}

Status FileDiscovery::leave_out(const StoredFile& changed) {
  const std::string what = "'" + changed.path + "' has changed since it was taken: it has " +
                           std::to_string(changed.size_bytes) + " bytes, written at " +
                           std::to_string(changed.modified_ms) + " ms since 1970";
  if (options_.changed == FileTrouble::fail) {
    return {ErrorCode::file_changed,
            what + "; let writers rename finished files into '" + pattern_.directory() +
                "', raise settle_ms, or set the option changed to FileTrouble::leave_out"};
  }
  say_left_out(context(), what);
  left_out_.add();
  seen_.add(changed);
  return {};
}

Status FileDiscovery::take(const StoredFile& listed) {
  // Unless it is still what was listed, the next look sees to it.
  const auto look_again = [this]() -> Status {
    ended_ = false;
    return {};
  };
  Result<StoredFile> file = listed.version.empty() ? store_->look_at(listed.path) : listed;
  if (is_gone_or_changed(file.status())) return look_again();
  if (!file.ok()) return file.status();
  if (file->size_bytes != listed.size_bytes || file->modified_ms != listed.modified_ms) {
    return look_again();
  }
  const Result<bool> one_unit = is_one_unit(*file);
  if (is_gone_or_changed(one_unit.status())) return look_again();
  if (!one_unit.ok()) return one_unit.status();
  seen_.add(*file);
  context().expect_bytes(file->size_bytes);
  current_ = std::move(*file);
  unit_bytes_ = *one_unit ? current_.size_bytes : options_.file.split_size_bytes;
  next_begin_ = 0;
  return {};
}

Result<bool> FileDiscovery::is_one_unit(const StoredFile& file) {
  using Compression = FileSourceOptions::Compression;
  const FileSourceOptions& options = options_.file;
  if (options.quote != 0 || file.size_bytes <= options.split_size_bytes) return true;
  if (options.compression != Compression::automatic) {
    return options.compression != Compression::none;
  }
  const auto reader = store_->open(file, [] {});
  if (!reader.ok()) return reader.status();
  char first[compression_magic_bytes];
  const Result<std::size_t> got = (*reader)->read_at(0, first);
  if (!got.ok()) return got.status();
  return detect_compression({first, *got}) != CompressionFormat::none;
}

void FileDiscovery::emit_unit(Output& out) {
  FileUnit unit{current_.path,    current_.size_bytes, current_.modified_ms,
                current_.version, next_begin_,         current_.size_bytes};
  if (unit.end - unit.begin > unit_bytes_) unit.end = unit.begin + unit_bytes_;
  next_begin_ = unit.end;
  out.collector<FileUnit>()(std::move(unit));
}

Status FileDiscovery::close() {
  lister_.reset();
  store_.reset();
  return {};
}

}  // namespace hummer
