// The two-phase writer of files.
//
// A transaction is written as `.part-<subtask>-<number>.<run>.<attempt>.pending` (hidden, so that
// readers of the directory leave it out). Preparing syncs and closes it; its handle is "<hidden
// name>/<name>". Committing renames it to `part-<subtask>-<epoch>` and makes the name durable. When
// the hidden file of an earlier attempt is gone, that has happened already, also if the other one
// is gone too: whoever reads the files may move them away. Closing removes what was not prepared.
//
// The number is drawn, since two attempts may run for a moment side by side.
//
// Aborting removes hidden files that no handle names: of earlier attempts of this run and, when the
// state is that of another run (a process that died, and its successor began with its checkpoint),
// of all other runs. Those of this attempt or later ones are left alone.
//
// A visible file of an epoch above the restored one would come twice. Where the state that belonged
// to it is damaged (OperatorContext::superseded_epoch), it is set aside: hidden as `.<name>.
// superseded`, for a person to look at. Checkpoints that are made from then on have higher numbers,
// so that a worker which was cut off, and looks later, takes nothing of theirs away. Any other such
// file is of another job, or of a later time than the savepoint that somebody begins with: it is
// refused.
//
// Each subtask looks at the files of those subtasks whose number is the own one's modulo the
// parallelism, as pieces of state are dealt out.
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <set>
#include <utility>

#include <hummer/connectors.hpp>

#include "platform/platform.hpp"

namespace hummer {
namespace {

constexpr std::string_view pending_suffix = ".pending";

class TwoPhaseFileWriter final : public TwoPhaseWriter {
 public:
  explicit TwoPhaseFileWriter(std::string directory) : directory_(std::move(directory)) {}

  Status open(OperatorContext& context) override {
    context_ = &context;
    return named(files().create_directories(directory_));
  }

  Status abort_all_but(const std::vector<std::string>& handles) override {
    std::set<std::string_view> kept;
    for (const std::string& handle : handles) kept.insert(hidden_of(handle));
    const auto names = files().list_directory(directory_);
    if (!names.ok()) return named(names.status());
    for (const std::string& name : *names) {
      HUMMER_TRY(look_at_visible(name));
      if (!is_left_behind(name) || kept.contains(name)) continue;
      const Status removed = files().remove(directory_ + "/" + name);
      // Another subtask may have been faster.
      if (!removed.ok() && removed.code() != ErrorCode::not_found) return named(removed);
    }
    return {};
  }

  Answer write(std::string_view lines) override {
    if (file_ == nullptr) {
      hidden_ = hidden_name();
      auto opened = files().open_for_writing(directory_ + "/" + hidden_, WriteMode::truncate);
      if (!opened.ok()) return context_->fail(named(opened.status()));
      file_ = std::move(*opened);
    }
    if (Status status = file_->append(lines); !status.ok()) return context_->fail(named(status));
    context_->count_bytes(lines.size());
    return Answer::done;
  }

  Result<std::string> prepare(std::uint64_t epoch) override {
    if (file_ == nullptr) return std::string();
    HUMMER_TRY(named(file_->sync()));
    HUMMER_TRY(named(file_->close()));
    file_.reset();
    HUMMER_TRY(named(files().sync_directory(directory_)));
    char name[64];
    std::snprintf(name, sizeof name, "part-%05d-%010llu", context_->subtask(),
                  static_cast<unsigned long long>(epoch));
    return hidden_ + "/" + name;
  }

  Status commit(const std::string& handle) override {
    const std::size_t slash = handle.find('/');
    if (slash == std::string::npos || handle.find('/', slash + 1) != std::string::npos ||
        handle[0] != '.') {
      return {ErrorCode::corrupt_record, "'" + handle + "' is no handle of a file sink"};
    }
    const std::string from = directory_ + "/" + handle.substr(0, slash);
    const std::string to = directory_ + "/" + handle.substr(slash + 1);
    if (Status moved = files().rename(from, to); !moved.ok()) {
      const Name name = parse_hidden(handle.substr(0, slash));
      const bool own = name.run == context_->run() && name.attempt == context_->attempt();
      if (moved.code() != ErrorCode::not_found || (own && !files().stat(to).ok())) {
        return named(moved);
      }
    }
    return named(files().sync_directory(directory_));
  }

  void close() override {
    if (file_ == nullptr) return;
    file_.reset();
    (void)files().remove(directory_ + "/" + hidden_);
  }

 private:
  Files& files() { return context_->platform().files(); }
  Status named(const Status& status) const {
    return status.with_context("writing to '" + directory_ + "'");
  }

  std::string hidden_name() {
    char name[128];
    std::snprintf(name, sizeof name, ".part-%05d-%llu.%016llx.%u%s", context_->subtask(),
                  static_cast<unsigned long long>(context_->platform().random().next()),
                  static_cast<unsigned long long>(context_->run()), context_->attempt(),
                  pending_suffix.data());
    return name;
  }
  static std::string_view hidden_of(std::string_view handle) {
    return handle.substr(0, handle.find('/'));
  }

  Status look_at_visible(const std::string& name) {
    std::uint64_t subtask = 0;
    std::uint64_t epoch = 0;
    int length = 0;
    if (std::sscanf(name.c_str(), "part-%5" SCNu64 "-%10" SCNu64 "%n", &subtask, &epoch, &length) !=
            2 ||
        static_cast<std::size_t>(length) != name.size()) {
      return {};
    }
    const std::uint64_t restored = context_->epoch();
    if (!looks_after(subtask) || epoch <= restored) return {};
    if (epoch <= context_->superseded_epoch()) {
      const Status moved =
          files().rename(directory_ + "/" + name, directory_ + "/." + name + ".superseded");
      return moved.code() == ErrorCode::not_found ? Status() : named(moved);
    }
    return named({ErrorCode::invalid_configuration,
                  "'" + name + "' is there already, and the job begins " +
                      (restored == 0 ? std::string("at the beginning")
                                     : "with checkpoint " + std::to_string(restored)) +
                      ": name another directory, or move the files of later checkpoints away"});
  }

  // What a hidden file's name says.
  struct Name {
    bool valid = false;
    std::uint32_t subtask = 0;
    std::uint64_t run = 0;
    std::uint32_t attempt = 0;
  };
  static Name parse_hidden(std::string_view name) {
    constexpr std::string_view prefix = ".part-";
    Name parsed;
    if (!name.starts_with(prefix) || !name.ends_with(pending_suffix)) return parsed;
    name.remove_suffix(pending_suffix.size());
    const auto number = [&](std::size_t begin, auto& value, int base) {
      const auto found =
          std::from_chars(name.data() + begin, name.data() + name.size(), value, base);
      return found.ec == std::errc();
    };
    const std::size_t first = name.find('.', 1);
    const std::size_t last = name.rfind('.');
    parsed.valid = first < last && number(prefix.size(), parsed.subtask, 10) &&
                   number(first + 1, parsed.run, 16) && number(last + 1, parsed.attempt, 10);
    return parsed;
  }
  // Whether this subtask looks after the files of that one.
  bool looks_after(std::uint64_t subtask) const {
    return subtask % static_cast<std::uint64_t>(context_->parallelism()) ==
           static_cast<std::uint64_t>(context_->subtask());
  }

  bool is_left_behind(std::string_view name) const {
    const Name parsed = parse_hidden(name);
    if (!parsed.valid || !looks_after(parsed.subtask)) return false;
    return parsed.run == context_->run() ? parsed.attempt < context_->attempt()
                                         : context_->restored();
  }

  const std::string directory_;
  OperatorContext* context_ = nullptr;
  std::unique_ptr<WritableFile> file_;  // null: nothing written since the last prepare
  std::string hidden_;
};

class TwoPhaseFileWriterFactory final : public TwoPhaseWriterFactory {
 public:
  explicit TwoPhaseFileWriterFactory(std::string path) : path_(std::move(path)) {}
  std::unique_ptr<TwoPhaseWriter> make() const override {
    return std::make_unique<TwoPhaseFileWriter>(path_);
  }

 private:
  const std::string path_;
};

}  // namespace

std::shared_ptr<const TwoPhaseWriterFactory> make_two_phase_file_writer(std::string path) {
  return std::make_shared<TwoPhaseFileWriterFactory>(std::move(path));
}

}  // namespace hummer
