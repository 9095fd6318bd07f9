// The two-phase writer of files.
//
// Several sinks and several jobs may write into one directory: each sink of each run has an id,
// made of context.run() and the operator's uid, which all its names hold, so that no two of them
// meet.
//
//   .sink-<id>-<subtask>                              the claim of a subtask, and its manifest
//   .part-<subtask>-<number>.<id>.<attempt>.pending   a transaction (hidden, so that readers of the
//                                                     directory leave it out)
//   part-<subtask>-<epoch>-<id>                       the same, committed
//
// Preparing syncs and closes the hidden file. The handle, "<hidden>/<visible>/<directory>", says
// all that committing needs, also to a job that goes on in another directory; <visible> is empty
// where nothing was written, and the handle tells a later run whose files it goes on from.
//
// Committing notes the epoch in the manifest, makes that durable, and only then renames the file,
// over nothing. So a hidden file that is gone has been committed if the visible one is there, or if
// the manifest says so: whoever reads the files may move them away. Else it is lost, which fails
// the job: a directory that each worker has for itself looks like that after a failure. Before the
// first commit of an attempt each subtask looks for the claims of all the others: all have opened
// by then, so one that is missing is in another directory of the same name.
//
// The number is drawn, since two attempts may run for a moment side by side. Closing removes what
// was not prepared.
//
// Aborting removes hidden files that no handle names: of earlier attempts of this run and, when the
// state is that of another run (a process that died, and its successor began with its checkpoint),
// of that one; if it lives on all the same, it fails for want of them. Files of other runs, of this
// attempt and of later ones are left alone.
//
// A visible file of an epoch above the restored one would come twice. Where the state that belonged
// to it is damaged (OperatorContext::superseded_epoch), it is set aside: hidden as `.<name>.
// superseded`, for a person to look at. Checkpoints that are made from then on have higher numbers,
// so that a worker which was cut off, and looks later, takes nothing of theirs away. Any other such
// file is of a later time than the savepoint that somebody begins with, or of another job that was
// here before this one: it is refused. A job that came later is none of this one's business.
//
// Each subtask looks at the files of those subtasks whose number is the own one's modulo the
// parallelism, as pieces of state are dealt out.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include <hummer/detail/connector_context.hpp>
#include <hummer/detail/connector_factories.hpp>
#include <hummer/detail/key_hash.hpp>

#include "connectors/file/sink_names.hpp"
#include "platform/platform.hpp"

namespace hummer {
namespace {

// More than one entry of a manifest, less than would take time to read.
constexpr std::uint64_t manifest_tail_bytes = 4096;

class TwoPhaseFileWriter final : public TwoPhaseWriter {
 public:
  TwoPhaseFileWriter(std::string directory, std::string head)
      : directory_(std::move(directory)), head_(std::move(head)) {}

  Status open(OperatorContext& context) override {
    context_ = &connector_context(context);
    id_ = sink_id(context.run(), context.uid());
    HUMMER_TRY(files().must_be_on_disk(directory_, written_to_object_stores));
    return named(files().create_directories(directory_));
  }

  Status abort_all_but(const std::vector<std::string>& handles) override {
    std::set<std::string> kept;
    std::set<std::uint64_t> lineage{id_};
    for (const std::string& handle : handles) {
      const std::optional<SinkHandle> parsed = parse_handle(handle, directory_);
      if (!parsed) return no_handle(handle);
      kept.insert(parsed->hidden);
      lineage.insert(parsed->of.id);
    }
    const auto names = files().list_directory(directory_);
    if (!names.ok()) return named(names.status());
    const bool is_first = std::none_of(names->begin(), names->end(), [&](const std::string& name) {
      return name.starts_with(claim_prefix(id_));
    });
    for (const std::string& name : *names) {
      HUMMER_TRY(look_at_visible(name, lineage, is_first));
      if (!is_left_behind(name, lineage) || kept.contains(name)) continue;
      const Status removed = files().remove(directory_ + "/" + name);
      // Another subtask may have been faster.
      if (!removed.ok() && removed.code() != ErrorCode::not_found) return named(removed);
    }
    return named(claim());
  }

  OperatorResult write(std::string_view lines) override {
    if (file_ == nullptr) {
      hidden_ = hidden_name(
          {context_->subtask(), context_->platform().random().next(), id_, context_->attempt()});
      auto opened = files().open_for_writing(directory_ + "/" + hidden_, WriteMode::truncate);
      if (!opened.ok()) return context_->fail(named(opened.status()));
      file_ = std::move(*opened);
      if (Status status = file_->append(head_); !status.ok()) return context_->fail(named(status));
    }
    if (Status status = file_->append(lines); !status.ok()) return context_->fail(named(status));
    file_->expect_sync();
    context_->count_bytes(lines.size());
    return OperatorResult::done;
  }

  Result<std::string> prepare(std::uint64_t epoch) override {
    const int subtask = context_->subtask();
    if (file_ == nullptr) {
      return to_text({.hidden = hidden_name({subtask, 0, id_, context_->attempt()}),
                      .visible = {},
                      .directory = directory_,
                      .of = {}});
    }
    HUMMER_TRY(named(file_->sync()));
    HUMMER_TRY(named(file_->close()));
    file_.reset();
    HUMMER_TRY(named(files().sync_directory(directory_)));
    return to_text({.hidden = hidden_,
                    .visible = visible_name({subtask, epoch, id_}),
                    .directory = directory_,
                    .of = {}});
  }

  Status commit(const std::string& handle) override {
    const std::optional<SinkHandle> parsed = parse_handle(handle, directory_);
    if (!parsed) return no_handle(handle);
    const bool is_own = parsed->of.id == id_ && parsed->of.attempt == context_->attempt();
    if (is_own) HUMMER_TRY(find_claims());
    if (parsed->visible.empty()) return {};
    return commit_file(*parsed).with_context("writing to '" + parsed->directory + "'");
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
  static Status no_handle(const std::string& handle) {
    return {ErrorCode::corrupt_record, "'" + handle + "' is no handle of a file sink"};
  }

  // ---- what becomes visible ----

  Status commit_file(const SinkHandle& handle) {
    const std::string from = handle.directory + "/" + handle.hidden;
    const std::string to = handle.directory + "/" + handle.visible;
    const std::optional<VisibleName> visible = parse_visible(handle.visible);
    if (!visible) return no_handle(to_text(handle));
    const std::string manifest =
        handle.directory + "/" + claim_name(handle.of.id, handle.of.subtask);
    if (const auto there = files().stat(from); !there.ok()) {
      if (there.status().code() != ErrorCode::not_found) return there.status();
      const Result<std::uint64_t> committed = committed_up_to(manifest);
      if (!committed.ok()) return committed.status();
      if (*committed >= visible->epoch) return files().sync_directory(handle.directory);
      return look_for_visible(handle, visible->id == 0);
    }
    HUMMER_TRY(note_committed(manifest, visible->epoch));
    const Status moved = visible->id == 0 ? files().rename(from, to) : files().rename_new(from, to);
    // An attempt that was cut off may commit at the same moment.
    if (moved.code() == ErrorCode::not_found) return look_for_visible(handle, visible->id == 0);
    HUMMER_TRY(moved);
    return files().sync_directory(handle.directory);
  }

  // The hidden file is gone. `of_earlier_version`: those kept no manifest.
  Status look_for_visible(const SinkHandle& handle, bool of_earlier_version) {
    const std::string to = handle.directory + "/" + handle.visible;
    if (of_earlier_version || files().stat(to).ok()) {
      return files().sync_directory(handle.directory);
    }
    return {ErrorCode::not_found,
            "'" + handle.hidden +
                "' is gone, and nothing here says that it was committed: its lines are lost. Give "
                "all workers the same directory, and back what was taken away"};
  }

  // ---- claims and manifests ----

  std::string claim_path(int subtask) const { return directory_ + "/" + claim_name(id_, subtask); }

  Status claim() {
    const std::string path = claim_path(context_->subtask());
    if (!files().stat(path).ok()) {
      auto opened = files().open_for_writing(path, WriteMode::append);
      if (!opened.ok()) return opened.status();
      HUMMER_TRY((*opened)->append(claim_text(context_->name(), context_->uid(), context_->run())));
      HUMMER_TRY((*opened)->sync());
      HUMMER_TRY((*opened)->close());
    }
    return files().sync_directory(directory_);
  }

  // Those of all subtasks, which have opened when one of this attempt's checkpoints is complete.
  Status find_claims() {
    for (; claims_found_ < context_->parallelism(); ++claims_found_) {
      const auto there = files().stat(claim_path(claims_found_));
      if (there.ok()) continue;
      if (there.status().code() != ErrorCode::not_found) return named(there.status());
      return named({ErrorCode::invalid_configuration,
                    "subtask " + std::to_string(claims_found_) + " of '" + context_->name() +
                        "' writes into another directory of this name ('" +
                        claim_name(id_, claims_found_) +
                        "' is missing): all workers must see the same one, such as a mounted one"});
    }
    return {};
  }

  // 0: none so far, or there is no manifest.
  Result<std::uint64_t> committed_up_to(const std::string& manifest) {
    auto opened = files().open_for_reading(manifest);
    if (opened.status().code() == ErrorCode::not_found) return std::uint64_t{0};
    if (!opened.ok()) return opened.status();
    const std::uint64_t size = (*opened)->size_bytes();
    const std::uint64_t begin = size - std::min(size, manifest_tail_bytes);
    std::string tail(size - begin, '\0');
    const Result<std::size_t> got = (*opened)->read_at(begin, tail);
    if (!got.ok()) return got.status();
    tail.resize(*got);
    return newest_committed(tail);
  }

  Status note_committed(const std::string& manifest, std::uint64_t epoch) {
    auto opened = files().open_for_writing(manifest, WriteMode::append);
    if (!opened.ok()) return opened.status();
    HUMMER_TRY((*opened)->append(committed_text(epoch)));
    HUMMER_TRY((*opened)->sync());
    return (*opened)->close();
  }

  // ---- what others have left ----

  Status look_at_visible(const std::string& name, const std::set<std::uint64_t>& lineage,
                         bool is_first) {
    const std::optional<VisibleName> visible = parse_visible(name);
    const std::uint64_t restored = context_->epoch();
    if (!visible || !looks_after(visible->subtask) || visible->epoch <= restored) return {};
    // An earlier version did not say whose they are.
    const bool is_own = visible->id == 0 || lineage.contains(visible->id);
    if (is_own && visible->epoch <= context_->superseded_epoch()) {
      const Status moved =
          files().rename_new(directory_ + "/" + name, directory_ + "/." + name + ".superseded");
      return moved.code() == ErrorCode::not_found ? Status() : named(moved);
    }
    if (!is_own && !is_first) return {};
    return named({ErrorCode::invalid_configuration,
                  "'" + name + "' is there already, and the job begins " +
                      (restored == 0 ? std::string("at the beginning")
                                     : "with checkpoint " + std::to_string(restored)) +
                      ": name another directory, or move the files of later checkpoints away"});
  }

  // Whether this subtask looks after the files of that one.
  bool looks_after(int subtask) const {
    return subtask % context_->parallelism() == context_->subtask();
  }

  bool is_left_behind(const std::string& name, const std::set<std::uint64_t>& lineage) const {
    const std::optional<HiddenName> hidden = parse_hidden(name);
    if (!hidden || !looks_after(hidden->subtask) || !lineage.contains(hidden->id)) return false;
    return hidden->id != id_ || hidden->attempt < context_->attempt();
  }

  const std::string directory_;
  const std::string head_;
  ConnectorContext* context_ = nullptr;
  std::uint64_t id_ = 0;
  int claims_found_ = 0;                // of the subtasks up to this one
  std::unique_ptr<WritableFile> file_;  // null: nothing written since the last prepare
  std::string hidden_;
};

class TwoPhaseFileWriterFactory final : public TwoPhaseWriterFactory {
 public:
  TwoPhaseFileWriterFactory(std::string path, std::string head)
      : path_(std::move(path)), head_(std::move(head)) {}
  std::unique_ptr<TwoPhaseWriter> make() const override {
    return std::make_unique<TwoPhaseFileWriter>(path_, head_);
  }

 private:
  const std::string path_;
  const std::string head_;
};

}  // namespace

std::shared_ptr<const TwoPhaseWriterFactory> make_two_phase_file_writer(std::string path,
                                                                        std::string head) {
  return std::make_shared<TwoPhaseFileWriterFactory>(std::move(path), std::move(head));
}

}  // namespace hummer
