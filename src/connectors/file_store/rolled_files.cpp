// What RollingFiles makes visible, and what it finds of earlier attempts and of others.
#include <algorithm>
#include <utility>

#include "connectors/file/sink_names.hpp"
#include "connectors/file_store/rolling_files.hpp"

namespace hummer {
namespace {

constexpr const char* notes_folder = ".hummer";
constexpr std::size_t most_note_bytes = 64 << 20;
// Without checkpoints there are no epochs.
constexpr std::uint64_t first_epoch = 1;

std::string last_part_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

// ---- of earlier attempts, and of others ----

Status RollingFiles::take_over() {
  HUMMER_TRY(store_->prepare_directory(directory_));
  HUMMER_TRY(look_at_notes());
  HUMMER_TRY(finish_restored());
  if (context_->superseded_epoch() > restored_epoch_) {
    HUMMER_TRY(hide_superseded());
    note_.watermark = no_timestamp;
  }
  HUMMER_TRY(abort_left_behind());
  return put_note();
}

// Each subtask looks at the files of those subtasks whose number is the own one's modulo the
// parallelism, as pieces of state are dealt out.
bool RollingFiles::looks_after(int subtask) const {
  return subtask % context_->parallelism() == context_->subtask();
}

Status RollingFiles::look_at_notes() {
  const auto names = store_->notes(directory_, notes_folder);
  if (!names.ok()) return names.status();
  std::vector<NoteName> notes;
  for (const std::string& name : *names) {
    if (const auto parsed = parse_note_name(name)) notes.push_back(*parsed);
  }
  const bool is_first = std::none_of(notes.begin(), notes.end(),
                                     [&](const NoteName& note) { return note.sink == sink_; });
  const std::uint64_t restored = restored_epoch_;
  for (const NoteName& name : notes) {
    const bool is_own = lineage_.contains(name.sink);
    const bool may_be_refused =
        is_own ? looks_after(name.subtask) : is_first && restored == 0 && options_.refuse_existing;
    if (!may_be_refused) continue;
    const Result<SinkNote> note = note_of(name);
    if (!note.ok()) return note.status();
    if (name.sink == sink_ && name.subtask == context_->subtask()) {
      note_.committed = note->committed;
      note_.resumed = note->resumed;
      note_.watermark = note->watermark;
    }
    const std::uint64_t most = is_own ? std::max(restored, context_->superseded_epoch()) : 0;
    if (note->committed <= most) continue;
    const std::string says = " (says '" + note_path(name) + "')";
    if (!is_own) {
      return {ErrorCode::invalid_configuration,
              "another job has written there" + says +
                  ": name another directory, or set the option refuse_existing to false"};
    }
    return {ErrorCode::invalid_configuration,
            "there are files of checkpoint " + std::to_string(note->committed) + says +
                ", and the job begins " +
                (restored == 0 ? std::string("at the beginning")
                               : "with checkpoint " + std::to_string(restored)) +
                ": begin with the newest checkpoint, or name another directory"};
  }
  return {};
}

// Also a file that was open at the restored barrier, and has grown behind it: what it held there
// was copied.
Status RollingFiles::hide_superseded() {
  std::map<std::string, std::uint64_t> restored;
  for (const Finished& file : finished_) {
    if (!file.token.empty()) restored[last_part_of(file.path)] = file.bytes;
  }
  auto lister = store_->list(directory_, [] {});
  if (!lister.ok()) return lister.status();
  std::vector<StoredFile> files;
  for (;;) {
    const FileLister::Step step = (*lister)->next(files);
    if (step == FileLister::Step::failed) return (*lister)->failure();
    if (step == FileLister::Step::done) break;
  }
  for (const StoredFile& file : files) {
    const std::string name = last_part_of(file.path);
    const auto was_open = restored.find(name);
    if (was_open != restored.end()) {
      if (file.size_bytes == was_open->second) continue;
    } else {
      const auto parsed = parse_part(name);
      if (!parsed || !lineage_.contains(parsed->sink) || !looks_after(parsed->subtask)) continue;
      if (parsed->epoch < restored_epoch_) continue;
    }
    const std::string folder = file.path.substr(0, file.path.size() - name.size());
    const Status moved = store_->hide(file.path, folder + "." + name + ".superseded");
    if (!moved.ok() && moved.code() != ErrorCode::not_found) return moved;
  }
  return {};
}

Status RollingFiles::abort_left_behind() {
  const auto pending = store_->pending_uploads(directory_);
  if (!pending.ok()) return pending.status();
  std::set<std::string> kept;
  for (const Finished& file : finished_) kept.insert(last_part_of(file.path));
  for (const PendingUpload& upload : *pending) {
    const auto name = parse_part(upload.name);
    if (!name || !lineage_.contains(name->sink) || !looks_after(name->subtask)) continue;
    const bool is_earlier = name->sink != sink_ || name->attempt < context_->attempt();
    if (is_earlier && !kept.contains(upload.name)) HUMMER_TRY(store_->abort(upload.handle));
  }
  return {};
}

// They become visible with the restored checkpoint, whose commit comes again.
Status RollingFiles::finish_restored() {
  for (Finished& file : finished_) {
    if (file.token.empty()) continue;
    Result<std::string> handle = store_->finish_saved(file.token);
    if (!handle.ok()) return handle.status();
    file.handle = std::move(*handle);
  }
  return {};
}

// ---- notes ----

std::string RollingFiles::note_path(const NoteName& name) const {
  return directory_ + "/" + notes_folder + "/" + to_text(name);
}

Result<SinkNote> RollingFiles::note_of(const NoteName& name) {
  const Result<std::string> text = store_->get(note_path(name), most_note_bytes);
  if (text.status().code() == ErrorCode::not_found) return SinkNote();
  if (!text.ok()) return text.status();
  return parse_note(*text);
}

Status RollingFiles::put_note() {
  char run[24];
  std::snprintf(run, sizeof run, "%016llx", static_cast<unsigned long long>(context_->run()));
  const std::string about = "operator " + context_->name() + ", uid " + context_->uid() + ", run " +
                            run + "; keep this file as long as the job may go on";
  return store_->put(note_path({sink_, context_->subtask()}), to_text(note_, about));
}

// All subtasks have opened when one of this attempt's checkpoints is complete.
Status RollingFiles::find_notes() {
  if (notes_found_) return {};
  const auto names = store_->notes(directory_, notes_folder);
  if (!names.ok()) return names.status();
  for (int subtask = 0; subtask < context_->parallelism(); ++subtask) {
    const std::string name = to_text(NoteName{sink_, subtask});
    if (std::find(names->begin(), names->end(), name) != names->end()) continue;
    return {ErrorCode::invalid_configuration,
            "subtask " + std::to_string(subtask) + " of '" + context_->name() +
                "' writes into another directory of this name ('" + name +
                "' is missing): all workers must see the same one, such as a mounted one"};
  }
  notes_found_ = true;
  return {};
}

// ---- what becomes visible ----

Status RollingFiles::commit(std::uint64_t epoch) {
  if (epoch > restored_epoch_) HUMMER_TRY(named(find_notes()));
  const auto later = std::find_if(finished_.begin(), finished_.end(),
                                  [&](const Finished& file) { return file.epoch > epoch; });
  HUMMER_TRY(publish(static_cast<std::size_t>(later - finished_.begin()), epoch));
  const auto above = watermarks_.upper_bound(epoch);
  if (above == watermarks_.begin()) return {};
  const Timestamp watermark = std::prev(above)->second;
  watermarks_.erase(watermarks_.begin(), above);
  if (watermark <= note_.watermark && epoch != restored_epoch_) return {};
  return named(mark_complete(watermark));
}

Status RollingFiles::publish(std::size_t count, std::uint64_t epoch) {
  if (count == 0) return {};
  const SinkNote before = note_;
  note_.committed = std::max(note_.committed, checkpoints_ ? epoch : first_epoch);
  for (std::size_t i = 0; i < count; ++i) {
    if (!finished_[i].token.empty()) note_.resumed = std::max(note_.resumed, finished_[i].epoch);
  }
  if (note_.committed != before.committed || note_.resumed != before.resumed) {
    HUMMER_TRY(named(put_note()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    Status status = publish_one(finished_[i], before);
    if (status.ok()) continue;
    if (status.code() == ErrorCode::not_found) {
      // Or the next attempt would take it for one that was visible.
      note_.committed = before.committed;
      note_.resumed = before.resumed;
      HUMMER_TRY(named(put_note()));
    }
    return named(status);
  }
  finished_.erase(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(count));
  return {};
}

Status RollingFiles::publish_one(const Finished& file, const SinkNote& before) {
  const bool was_open = !file.token.empty();
  Status status = store_->publish(file.handle);
  if (status.code() == ErrorCode::not_found) {
    const auto says_so = [&](const SinkNote& note) {
      return (was_open ? note.resumed : note.committed) >= file.epoch;
    };
    bool was_visible = says_so(before);
    if (!was_visible && (file.name.sink != sink_ || file.name.subtask != context_->subtask())) {
      const Result<SinkNote> note = note_of({file.name.sink, file.name.subtask});
      if (!note.ok()) return note.status();
      was_visible = says_so(*note);
    }
    if (!was_visible) {
      return {ErrorCode::not_found,
              status.message() +
                  ", and nothing here says that it was visible: its records are lost. Give all "
                  "workers the same directory, and back what was taken away"};
    }
    status = {};
  }
  return status.ok() && was_open ? store_->abort(file.token) : status;
}

// ---- partitions that are complete ----

Status RollingFiles::mark_complete(Timestamp watermark) {
  note_.watermark = watermark;
  HUMMER_TRY(put_note());
  // Whoever comes last sees what all others have noted, also of partitions that it has no file in.
  std::map<std::string, Timestamp> partitions = note_.partitions;
  for (int subtask = 0; subtask < context_->parallelism(); ++subtask) {
    if (subtask == context_->subtask()) continue;
    const Result<SinkNote> note = note_of({sink_, subtask});
    if (!note.ok()) return note.status();
    watermark = std::min(watermark, note->watermark);
    partitions.insert(note->partitions.begin(), note->partitions.end());
  }
  for (const auto& [path, ends_at] : partitions) {
    if (ends_at > watermark) continue;
    const std::string folder = path.empty() ? directory_ : directory_ + "/" + path;
    HUMMER_TRY(store_->put(folder + "/_SUCCESS", {}));
    note_.partitions.erase(path);
  }
  return {};
}

}  // namespace hummer
