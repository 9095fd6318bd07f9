// The writer of write_file(): lines into a file that appears under its name only
// when it is complete.
//
// It is written as `.<name>.<number>.hummer-part` in the same directory (hidden,
// so that a reader of the directory leaves it out), made durable and renamed at
// commit. One subtask: the file replaces an older one. Several: each makes its
// own part-NNNNN in the directory, which must hold nothing else; parts of an
// earlier job are not mixed with those of this one. Each subtask judges by what
// can't come from its own job, so that a quick subtask does not disturb a slow one.
//
// Limit: parts appear one by one, as their subtasks end; when a job fails after
// some of them ended, those parts stay.
#include <cstdio>
#include <utility>

#include <hummer/detail/connector_context.hpp>
#include <hummer/detail/connector_factories.hpp>

#include "connectors/file/sink_names.hpp"
#include "platform/platform.hpp"

namespace hummer {
namespace {

std::string part_name(int subtask) {
  char name[32];
  std::snprintf(name, sizeof name, "part-%05d", subtask);
  return name;
}

class FileWriter final : public TextWriter {
 public:
  explicit FileWriter(std::string path) : path_(std::move(path)) {}

  Status open(OperatorContext& context) override {
    context_ = &connector_context(context);
    HUMMER_TRY(files().must_be_on_disk(path_, written_to_object_stores));
    if (context.parallelism() == 1) {
      HUMMER_TRY(prepare_file());
    } else {
      HUMMER_TRY(prepare_directory());
    }
    const std::string number = std::to_string(context_->platform().random().next());
    temporary_ = directory_ + "/." + name_ + "." + number + ".hummer-part";
    auto opened = files().open_for_writing(temporary_, WriteMode::create_new);
    if (!opened.ok()) return named(opened.status());
    file_ = std::move(*opened);
    return {};
  }

  OperatorResult write(std::string_view lines) override {
    if (Status status = file_->append(lines); !status.ok()) return context_->fail(named(status));
    file_->expect_sync();
    context_->count_bytes(lines.size());
    return OperatorResult::done;
  }

  Status commit() override {
    HUMMER_TRY(named(file_->sync()));
    HUMMER_TRY(named(file_->close()));
    file_.reset();
    HUMMER_TRY(named(files().rename(temporary_, directory_ + "/" + name_)));
    temporary_.clear();
    return named(files().sync_directory(directory_));
  }

  // Without commit: the job has failed or was cancelled.
  void close() override {
    file_.reset();
    if (temporary_.empty()) return;
    // What can't be removed has a name that shows what it is.
    if (!files().remove(temporary_).ok()) return;
    temporary_.clear();
    if (made_directory_ && !files().remove(directory_).ok()) return;  // others are still in it
  }

 private:
  Files& files() { return context_->platform().files(); }
  Status named(const Status& status) const {
    return status.with_context("writing '" + path_ + "'");
  }

  Status prepare_file() {
    const auto there = files().stat(path_);
    if (there.ok() && there->is_directory) {
      return {ErrorCode::not_a_file, "'" + path_ +
                                         "' is a directory, and one writer makes one file: remove "
                                         "it, name a file in it, or raise the sink's parallelism"};
    }
    const std::size_t slash = path_.rfind('/');
    name_ = slash == std::string::npos ? path_ : path_.substr(slash + 1);
    directory_ = slash == std::string::npos ? "." : path_.substr(0, slash);
    if (slash == 0) directory_ = "/.";
    if (name_.empty()) {
      return {ErrorCode::invalid_argument, "'" + path_ + "' names no file to write to"};
    }
    return named(files().create_directories(directory_));
  }

  Status prepare_directory() {
    directory_ = path_;
    name_ = part_name(context_->subtask());
    const auto there = files().stat(path_);
    if (there.ok() && !there->is_directory) {
      return {ErrorCode::invalid_argument,
              "'" + path_ + "' is a file, and " + std::to_string(context_->parallelism()) +
                  " writers make a directory: remove it, or set the sink's parallelism to 1"};
    }
    made_directory_ = !there.ok();
    HUMMER_TRY(named(files().create_directories(path_)));
    const auto names = files().list_directory(path_);
    if (!names.ok()) return named(names.status());
    for (const std::string& name : *names) {
      if (name.starts_with('.') || (name != name_ && is_part_of_this_job(name))) continue;
      return {ErrorCode::invalid_argument, "the directory '" + path_ + "' is not empty (it has '" +
                                               name + "'): remove it or write to another one"};
    }
    return {};
  }

  bool is_part_of_this_job(const std::string& name) const {
    for (int subtask = 0; subtask < context_->parallelism(); ++subtask) {
      if (name == part_name(subtask)) return true;
    }
    return false;
  }

  std::string path_;
  ConnectorContext* context_ = nullptr;
  std::string directory_;
  std::string name_;
  std::string temporary_;  // empty: there is none
  std::unique_ptr<WritableFile> file_;
  bool made_directory_ = false;
};

class FileWriterFactory final : public TextWriterFactory {
 public:
  explicit FileWriterFactory(std::string path) : path_(std::move(path)) {}
  std::unique_ptr<TextWriter> make() const override { return std::make_unique<FileWriter>(path_); }

 private:
  std::string path_;
};

}  // namespace

std::shared_ptr<const TextWriterFactory> make_file_writer(std::string path) {
  return std::make_shared<FileWriterFactory>(std::move(path));
}

}  // namespace hummer
